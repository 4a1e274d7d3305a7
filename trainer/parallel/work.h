// An operation that may still be running.
#ifndef TRAINYARD_TRAINER_PARALLEL_WORK_H_
#define TRAINYARD_TRAINER_PARALLEL_WORK_H_

#include <memory>
#include <utility>

#include "trainer/parallel/step_clock.h"

namespace trainyard::trainer {

// Keeps the tensors of the operation until it is waited for: they must not be read, written or
// handed back to the allocator before. To be waited for by the thread that began the operation,
// except when the group has failed.
class Work {
 public:
  class Completion {
   public:
    virtual ~Completion() = default;
    virtual void Wait() = 0;
    virtual void WaitOnHost() = 0;
    virtual bool IsDone() = 0;
  };

  Work() = default;  // One that is done.
  explicit Work(std::shared_ptr<Completion> completion) : completion_(std::move(completion)) {}

  // Work that is queued on the current stream from now on sees the result. A caller on a CPU waits.
  // A second call does nothing. Throws TrainerError(kPeerLost) when a member is gone.
  void Wait() {
    if (const auto completion = std::exchange(completion_, nullptr)) {
      const StepPartScope waiting(clock_, part_);
      completion->Wait();
    }
  }

  // The caller waits until the result is there, within the limit of the group. Throws likewise.
  void WaitOnHost() {
    if (const auto completion = std::exchange(completion_, nullptr)) completion->WaitOnHost();
  }

  // True when the result is there, so that a wait would not take time.
  bool IsDone() const { return completion_ == nullptr || completion_->IsDone(); }

  // A step's time counts a wait as `part`. clock: may be null.
  void CountWaits(StepClock* clock, StepPart part) {
    clock_ = clock;
    part_ = part;
  }

 private:
  std::shared_ptr<Completion> completion_;
  StepClock* clock_ = nullptr;
  StepPart part_ = StepPart::kCompute;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_WORK_H_
