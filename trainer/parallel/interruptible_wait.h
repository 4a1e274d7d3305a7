// An abortable wait for LibTorch work.
#ifndef TRAINYARD_TRAINER_PARALLEL_INTERRUPTIBLE_WAIT_H_
#define TRAINYARD_TRAINER_PARALLEL_INTERRUPTIBLE_WAIT_H_

#include <atomic>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace trainyard::trainer {

// Returns true when `work` has completed. Returns false if `aborted` is set earlier. Throws the
// error of `work` if it failed. Gloo does not always notice a closed connection, so `aborted` is
// checked every 200 ms.
bool WaitUnlessAborted(c10d::Work& work, const std::atomic<bool>& aborted);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_INTERRUPTIBLE_WAIT_H_
