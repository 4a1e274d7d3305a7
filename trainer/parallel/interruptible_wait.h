// A wait for work of LibTorch that an abort ends.
#ifndef TRAINYARD_TRAINER_PARALLEL_INTERRUPTIBLE_WAIT_H_
#define TRAINYARD_TRAINER_PARALLEL_INTERRUPTIBLE_WAIT_H_

#include <atomic>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace trainyard::trainer {

// True once `work` has ended well; false when `aborted` was set while it went on. Throws the error
// that `work` ended with. Gloo does not always notice that its connections are closed: so the wait
// itself looks, every 200 ms, whether the group was aborted.
bool WaitUnlessAborted(c10d::Work& work, const std::atomic<bool>& aborted);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_PARALLEL_INTERRUPTIBLE_WAIT_H_
