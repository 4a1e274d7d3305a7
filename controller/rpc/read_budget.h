// Limits the memory of messages that were read from workers but are not stored yet.
#ifndef TRAINYARD_CONTROLLER_RPC_READ_BUDGET_H_
#define TRAINYARD_CONTROLLER_RPC_READ_BUDGET_H_

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>

namespace trainyard::controller {

// Thread-safe. Each stream may exceed the limit by one message, because a message's size is known
// only after it was read.
class ReadBudget {
 public:
  explicit ReadBudget(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  void Take(std::size_t bytes);
  void Release(std::size_t bytes);

  // Returns true if the budget has free capacity. Otherwise stores `resume`. As soon as there is
  // capacity, `resume` is called on the thread that released the capacity. For each waiter, only
  // the latest `resume` is stored.
  bool AcquireOrWait(const void* waiter, std::function<void()> resume);

 private:
  const std::size_t limit_bytes_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::size_t used_bytes_ = 0;
  std::map<const void*, std::function<void()>> waiting_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_RPC_READ_BUDGET_H_
