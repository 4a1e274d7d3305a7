// Watches for orders to continue in place, on its own thread.
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
#include "trainer/parallel/interruption.h"

namespace trainyard::trainer {

// Interrupts the waits of the current generation as soon as an order for a later one appears. For
// use by one thread besides its own.
class OrderWatch {
 public:
  // path: the order file, which is replaced by renaming.
  explicit OrderWatch(std::string path);
  ~OrderWatch();
  OrderWatch(const OrderWatch&) = delete;
  OrderWatch& operator=(const OrderWatch&) = delete;

  // Interruption of the current generation, triggered by a later order. Valid as long as this
  // object.
  Interruption& interruption();

  // Waits for an order with a later generation, or one with `done`. Returns nullopt on gives_up()
  // or timeout. On success, adopts the order's generation, with a new interruption.
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
  // One per generation so far: an abandoned wait may still use an old one.
  std::vector<std::unique_ptr<Interruption>> interruptions_;
  std::thread thread_;  // Last member, because the thread uses all others.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_ORDER_WATCH_H_
