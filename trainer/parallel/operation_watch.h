// Ends a process whose GPU waits for a lost peer while its training thread waits for the GPU.
#ifndef TRAINYARD_TRAINER_PARALLEL_OPERATION_WATCH_H_
#define TRAINYARD_TRAINER_PARALLEL_OPERATION_WATCH_H_

#include <cuda_runtime_api.h>
#include <torch/types.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "trainer/parallel/cuda_event.h"
#include "trainer/parallel/exit_deadline.h"

namespace trainyard::trainer {

// The training thread itself polls when it waits for the members of a group. But it also launches
// kernels and frees memory: behind an operation that never ends the first blocks as soon as the
// queue of launches is full, the second at once, and both for ever. A thread of this class observes
// the operations instead; when none of them ends within the limit, the process leaves with
// kPeerLost. That is the second line: the limit must be longer than that of the training thread,
// whose exception says more and lets a save in flight end.
class OperationWatch {
 public:
  OperationWatch(torch::Device device, const std::string& group, std::chrono::seconds limit);
  ~OperationWatch();
  OperationWatch(const OperationWatch&) = delete;
  OperationWatch& operator=(const OperationWatch&) = delete;

  // Observes what was queued on the stream so far. For the training thread.
  void Add(cudaStream_t stream);

  // Ends the watch: the caller has noticed the loss.
  void Stop();

 private:
  using Event = std::unique_ptr<CudaEvent>;

  void Run();
  // Removes the operations that have ended. Puts the deadline off when there are any.
  void Advance();
  bool PopReached();
  Event TakeSpare();

  const torch::Device device_;
  const std::chrono::seconds limit_;
  ExitDeadline deadline_;  // Cannot be part of Run, whose calls of CUDA may block as well.
  std::mutex mutex_;
  std::deque<Event> running_;  // Oldest first; guarded by mutex_.
  std::deque<Event> spare_;    // Likewise.
  std::atomic<bool> stop_{false};
  std::thread thread_;  // The last member: it uses all others.
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_OPERATION_WATCH_H_
