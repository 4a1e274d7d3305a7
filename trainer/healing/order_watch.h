// Watches for orders to continue in place, on a separate thread.
#ifndef TRAINYARD_TRAINER_HEALING_ORDER_WATCH_H_
#define TRAINYARD_TRAINER_HEALING_ORDER_WATCH_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "trainer/healing/heal_order.h"
#include "trainer/parallel/interruption/interruption.h"

namespace trainyard::trainer {

// Interrupts the waits of the current generation as soon as an order for a later generation
// appears. Apart from the internal thread, only one thread may use an OrderWatch.
class OrderWatch {
 public:
  // `path` is the order file. A new order is renamed to this path.
  explicit OrderWatch(std::string path);
  ~OrderWatch();
  OrderWatch(const OrderWatch&) = delete;
  OrderWatch& operator=(const OrderWatch&) = delete;

  // Returns the interruption of the current generation. An order for a later generation triggers
  // it. Valid until this object is destroyed.
  Interruption& interruption();

  // Waits for an order that has a later generation or has `done` set. On success, adopts the
  // generation of the order and creates a new interruption for that generation. Returns nullopt on
  // timeout or if gives_up() returns true.
  std::optional<HealOrder> Await(std::optional<std::chrono::milliseconds> limit,
                                 const std::function<bool()>& gives_up);

 private:
  void Run();
  void Look();
  bool HasLater() const;

  const std::string path_;
  std::mutex mutex_;  // Guards the members below.
  std::condition_variable changed_;
  bool ending_ = false;
  int64_t generation_ = 1;
  std::optional<HealOrder> newest_;
  // One interruption per generation so far. Old interruptions are kept, because an abandoned wait
  // may still use them.
  std::vector<std::unique_ptr<Interruption>> interruptions_;
  std::thread thread_;  // The last member, because the thread uses all others.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_ORDER_WATCH_H_
