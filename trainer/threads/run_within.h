// A time limit for calls that have none.
#ifndef TRAINYARD_TRAINER_THREADS_RUN_WITHIN_H_
#define TRAINYARD_TRAINER_THREADS_RUN_WITHIN_H_

#include <chrono>
#include <functional>

namespace trainyard::trainer {

// Runs `work` on a thread of its own and waits for it. Throws what `work` throws. False when it has
// not returned within `limit`: it goes on beside the caller then, possibly until the process ends,
// and so must own everything that it uses.
bool RunWithin(std::chrono::milliseconds limit, std::function<void()> work);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_THREADS_RUN_WITHIN_H_
