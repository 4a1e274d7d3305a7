// An abortable wait for LibTorch work.
#ifndef TRAINYARD_TRAINER_PARALLEL_INTERRUPTIBLE_WAIT_H_
#define TRAINYARD_TRAINER_PARALLEL_INTERRUPTIBLE_WAIT_H_

#include <atomic>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace trainyard::trainer {

// Returns true once `work` has completed, false if `aborted` was set before. Throws the error of
// `work`. Gloo does not always notice closed connections, so the wait checks `aborted` every 200
// ms.
bool WaitUnlessAborted(c10d::Work& work, const std::atomic<bool>& aborted);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_INTERRUPTIBLE_WAIT_H_
