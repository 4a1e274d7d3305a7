// A pool of equal slots, for example of a buffer.
#ifndef TRAINYARD_TRAINER_PARALLEL_SLOT_POOL_H_
#define TRAINYARD_TRAINER_PARALLEL_SLOT_POOL_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace trainyard::trainer {

// Thread-safe. Take returns the free slot with the smallest number. Pools that see the same calls
// in the same order therefore return the same slots.
class SlotPool {
 public:
  // Frees its slot at destruction. May outlive the caller of Take, because it owns the pool.
  class Lease {
   public:
    Lease(std::shared_ptr<SlotPool> pool, int64_t slot) : pool_(std::move(pool)), slot_(slot) {}
    ~Lease() { pool_->Free(slot_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    int64_t slot() const { return slot_; }

   private:
    const std::shared_ptr<SlotPool> pool_;
    const int64_t slot_;
  };

  explicit SlotPool(int64_t slots) : is_taken_(slots) {}

  // Returns null if no slot is free.
  static std::shared_ptr<Lease> Take(const std::shared_ptr<SlotPool>& pool);

 private:
  void Free(int64_t slot);

  std::mutex mutex_;
  std::vector<bool> is_taken_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_SLOT_POOL_H_
