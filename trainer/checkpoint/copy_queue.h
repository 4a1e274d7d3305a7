// Copies that a device performs concurrently with training.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_COPY_QUEUE_H_
#define TRAINYARD_TRAINER_CHECKPOINT_COPY_QUEUE_H_

#include <torch/types.h>

#include <cstdint>
#include <memory>

namespace trainyard::trainer {

// A point in the queue of copies.
enum class CopyMark {
  kBegun,     // The copies begin.
  kStaged,    // Everything to be staged is staged; direct copies to host memory begin.
  kReleased,  // Training may change the tensors.
  kCopied,    // All copies are complete.
  kEven,      // Copies queued so far. These two marks limit the number of queued copies.
  kOdd,
};

// Durations of the latest copies, in seconds; 0 if unknown.
struct CopyTimes {
  double staging = 0;    // From kBegun to kStaged.
  double direct = 0;     // From kStaged to kReleased.
  double staged = 0;     // From kReleased to kCopied.
  double to_update = 0;  // From kStaged until training work reached BlockTraining.
};

// A queue of copies, which the device performs one after the other. FollowTraining and
// BlockTraining must be called from the training thread, Await from any thread, all others from one
// thread at a time. Errors of the device are exceptions.
class CopyQueue {
 public:
  virtual ~CopyQueue() = default;

  // Copies queued later will include the results of all training work queued so far.
  virtual void FollowTraining() = 0;
  // Training work queued later will wait for the latest mark kReleased. The caller does not wait.
  virtual void BlockTraining() = 0;

  // Bytes of device memory that AllocateStaging may use without hindering training.
  virtual int64_t FreeStagingBytes() = 0;
  // Returns device memory for copies queued later; null if there is not enough.
  virtual char* AllocateStaging(int64_t bytes) = 0;
  // Waits until kCopied is reached and returns the memory to the device.
  virtual void FreeStaging(char* memory) = 0;

  virtual void Copy(char* to, const char* from, int64_t bytes) = 0;
  virtual void Mark(CopyMark mark) = 0;
  // Waits until the latest mark of this kind is reached.
  virtual void Await(CopyMark mark) = 0;
  // The times between those marks that are reached.
  virtual CopyTimes Times() = 0;
};

// Returns a queue for copies from this GPU. Throws TrainerError(kInternal) in a build without CUDA.
std::unique_ptr<CopyQueue> MakeCopyQueue(torch::Device gpu);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_COPY_QUEUE_H_
