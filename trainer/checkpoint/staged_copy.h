// Copies device memory to host memory while training continues and soon changes the device memory.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_STAGED_COPY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_STAGED_COPY_H_

#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "trainer/checkpoint/copy_queue.h"
#include "trainer/checkpoint/staging_plan.h"

namespace trainyard::trainer {

enum class CopyPace {
  kBesideTraining,  // Training continues, and soon changes the memory.
  kAtOnce,          // The caller waits for the copy.
};

struct CopyPiece {
  char* to = nullptr;          // Host memory.
  const char* from = nullptr;  // Device memory.
  int64_t bytes = 0;
};

// Pieces that are adjacent in device memory, and their place in the staging memory.
struct StagedRange {
  const char* from = nullptr;
  int64_t bytes = 0;
  int64_t place = 0;
};

// One copy of a list of pieces at a time. A step changes the copied memory in its update, and the
// copy may take longer than the passes before the update. The copy therefore stages the pieces that
// would be late (staging_plan.h). A thread queues the copies little by little, because a device may
// perform a small copy of training only after all copies that were queued before it. Wait may be
// called from any thread; all other methods only from the training thread.
class StagedCopy {
 public:
  explicit StagedCopy(std::unique_ptr<CopyQueue> queue) : queue_(std::move(queue)) {}
  // Waits until the copies are complete.
  ~StagedCopy();
  StagedCopy(const StagedCopy&) = delete;
  StagedCopy& operator=(const StagedCopy&) = delete;

  // Starts copying. The preceding copy must no longer be in use.
  void Begin(std::vector<CopyPiece> pieces, CopyPace pace = CopyPace::kBesideTraining);
  // False if BlockChanges would wait for the device. The device may wait for other ranks.
  bool CanBlockChanges() const;
  // Training work queued later will wait until it may change the copied memory. The caller waits
  // until the thread has queued the last direct copy. Throws the errors of the thread.
  void BlockChanges();
  // Waits until all copies are complete. Throws the errors of the thread.
  void Wait() const;
  // Time for which the device staged pieces of the preceding copy; 0 if unknown.
  double staging_seconds() const { return staging_seconds_; }

 private:
  struct StagingMemory {
    std::vector<StagedRange> ranges;
    char* begin = nullptr;  // Null: nothing is staged.
  };

  void Learn();
  void QueueCopies(const std::vector<CopyPiece>& pieces);
  StagingMemory QueueUntilReleased(const std::vector<CopyPiece>& pieces, size_t& direct);
  void QueueStaged(const std::vector<CopyPiece>& pieces, size_t direct,
                   const StagingMemory& staging);
  void Queue(const CopyPiece& piece);
  void EndBatch();

  const std::unique_ptr<CopyQueue> queue_;
  CopyPace pace_ = CopyPace::kBesideTraining;  // The pace of the latest copy.
  CopySpeed speed_;
  double staging_seconds_ = 0;
  int64_t direct_bytes_ = 0;  // Parts of the latest copy. Written by the thread.
  int64_t staged_bytes_ = 0;
  int64_t batch_bytes_ = 0;  // Size of the batch that the thread is queueing.
  int64_t batches_ = 0;      // Batches that the thread has queued.
  bool is_blocked_ = true;   // True once BlockChanges was called for the latest copy.
  std::promise<void> direct_queued_;
  std::shared_future<void> is_direct_queued_;
  std::promise<void> all_queued_;
  std::shared_future<void> is_all_queued_;  // Invalid before the first copy.
  std::thread thread_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_STAGED_COPY_H_
