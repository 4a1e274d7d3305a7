// An abortable wait for an operation of LibTorch.
#ifndef TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_INTERRUPTIBLE_WAIT_H_
#define TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_INTERRUPTIBLE_WAIT_H_

#include <atomic>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace trainyard::trainer {

// Returns true when `work` has completed, and false if `aborted` is set first. Throws the error of
// `work` if it fails. Checks `aborted` every 200 ms, because Gloo does not always notice a closed
// connection.
bool WaitUnlessAborted(c10d::Work& work, const std::atomic<bool>& aborted);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_INTERRUPTION_INTERRUPTIBLE_WAIT_H_
