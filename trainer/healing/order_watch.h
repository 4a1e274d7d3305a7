// Looks for orders to go on in place, on a thread of its own.
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

// Interrupts the present generation as soon as an order of a later one is there, wherever the rank
// waits. For one thread beside its own.
class OrderWatch {
 public:
  // path: of the order file, which is replaced by renaming.
  explicit OrderWatch(std::string path);
  ~OrderWatch();
  OrderWatch(const OrderWatch&) = delete;
  OrderWatch& operator=(const OrderWatch&) = delete;

  // Ends the waits of the present generation when a later order comes. It lives as long as this.
  Interruption& interruption();

  // Waits for an order of a later generation, or one that says that the gang is done, until
  // gives_up() or the limit is over: nullopt then. The present generation is that of the order from
  // now on, with an interruption of its own.
  std::optional<HealOrder> Await(std::optional<std::chrono::milliseconds> limit,
                                 const std::function<bool()>& gives_up);

 private:
  void Run();
  void Look();
  bool HasLater() const;

  const std::string path_;
  std::mutex mutex_;  // Guards what follows.
  std::condition_variable changed_;
  bool ending_ = false;
  int64_t generation_ = 1;
  std::optional<HealOrder> newest_;
  // Of each generation so far: a wait that was given up may still look at an old one.
  std::vector<std::unique_ptr<Interruption>> interruptions_;
  std::thread thread_;  // The last member: it uses all others.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_ORDER_WATCH_H_
