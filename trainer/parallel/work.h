// A communication operation that may still be running.
#ifndef TRAINYARD_TRAINER_PARALLEL_WORK_H_
#define TRAINYARD_TRAINER_PARALLEL_WORK_H_

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "trainer/parallel/step_clock.h"

namespace trainyard::trainer {

// Keeps the operation's tensors alive until a wait has returned. Until then, the caller must not
// read, write or free these tensors. The thread that began the operation must wait for it, unless
// the group has failed.
class Work {
 public:
  class Completion {
   public:
    virtual ~Completion() = default;
    virtual void Wait() = 0;
    virtual void WaitOnHost() = 0;
    virtual bool IsDone() = 0;
    // Like Wait, but may return the summands instead of adding them.
    virtual std::vector<torch::Tensor> WaitForSummands() {
      Wait();
      return {};
    }
    // Waits for the part of the output that comes from `member`. Returns false if the parts do not
    // arrive one by one.
    virtual bool WaitForPart(int64_t member) {
      static_cast<void>(member);
      return false;
    }
  };

  Work() = default;  // A completed operation.
  explicit Work(std::shared_ptr<Completion> completion) : completion_(std::move(completion)) {}

  // Work that is queued on the current stream after this call will see the result. On a CPU, blocks
  // until the result is available. A second call does nothing. Throws TrainerError(kPeerLost) if a
  // member is lost.
  void Wait() {
    if (const auto completion = std::exchange(completion_, nullptr)) {
      const StepPartScope waiting(clock_, part_);
      completion->Wait();
    }
  }

  // Like Wait, but only the part of an all-gather's output that comes from `member` needs to be
  // available. Wait must be called before the tensors are freed.
  void WaitForPart(int64_t member) {
    if (completion_ == nullptr) return;
    bool has_parts = false;
    {
      const StepPartScope waiting(clock_, part_);
      has_parts = completion_->WaitForPart(member);
    }
    if (!has_parts) Wait();
  }

  // Like Wait, but a reduce-scatter may return the summands of the result, in the order in which
  // they must be added. The output is then not set. Otherwise, returns an empty list.
  std::vector<torch::Tensor> WaitForSummands() {
    const auto completion = std::exchange(completion_, nullptr);
    if (completion == nullptr) return {};
    const StepPartScope waiting(clock_, part_);
    return completion->WaitForSummands();
  }

  // Blocks until the result is available, but at most for the group's time limit. Throws the errors
  // of Wait.
  void WaitOnHost() {
    if (const auto completion = std::exchange(completion_, nullptr)) completion->WaitOnHost();
  }

  // True if the result is available. A wait then returns immediately.
  bool IsDone() const { return completion_ == nullptr || completion_->IsDone(); }

  // Adds later waits for this operation to `part` of a step's time. `clock` may be null.
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
