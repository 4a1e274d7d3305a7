// Adds a time limit to calls without one.
#ifndef TRAINYARD_TRAINER_THREADS_RUN_WITHIN_H_
#define TRAINYARD_TRAINER_THREADS_RUN_WITHIN_H_

#include <chrono>
#include <functional>

namespace trainyard::trainer {

// Runs `work` on a new thread and waits for it. Throws what `work` throws. Returns false if `work`
// has not returned within `limit`. In that case, `work` continues in the background, possibly until
// the process exits, so it must own everything that it uses.
bool RunWithin(std::chrono::milliseconds limit, std::function<void()> work);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_THREADS_RUN_WITHIN_H_
