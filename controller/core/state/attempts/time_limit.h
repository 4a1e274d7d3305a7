// The time limit of a job (`time_limit` of the job file) and the time that counts towards it.
//
// An attempt counts from its placement until it ends or is asked to stop. The sum begins again with
// each requeue at the limit. The time in the queue, pauses, and backoffs do not count, because no
// rank can train then. The time to save after a stop request does not count either, so a job that
// is paused just before its limit keeps the rest of the limit.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_TIME_LIMIT_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_TIME_LIMIT_H_

#include <cstdint>
#include <optional>

#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// The longest time limit, with all extensions. The limit of the field `time_limit` is the same.
inline constexpr int64_t kLongestTimeLimitMs = 365 * 86'400'000LL;

// Returns the time limit with its extensions, in milliseconds. Returns nullopt if the job has no
// time limit.
std::optional<int64_t> TimeLimitMs(const v1::Job& job);

// Returns the milliseconds that count towards the limit at `now`.
int64_t CountedMs(const v1::Job& job, Timestamp now);

// Returns the milliseconds until the time limit; 0 if the limit is reached. For a job without a
// running attempt, this is the time that the next attempt will have. Returns nullopt if the job has
// no time limit.
std::optional<int64_t> RemainingTime(const v1::Job& job, Timestamp now);

// Returns the milliseconds between the warning and the limit. Returns nullopt if the job asks for
// no warning.
std::optional<int64_t> WarningMs(const v1::JobSpec& spec);

// Returns the step that shows the job's progress between two requeues: the step of the newest
// checkpoint or, if the program reports no checkpoints, `last_step` (the last step of the newest
// attempt). Returns nullopt if the program reports neither.
std::optional<int64_t> ProgressStep(const v1::Job& job, int64_t last_step);

// Adds the time of the attempt that ends at `now`. Call before the attempt has the state ENDED.
void CountAttempt(Timestamp now, v1::Job& job);

// Begins the next period of the limit, because the job is queued again.
void BeginPeriod(v1::Job& job);

// Adds `by_ms` to the limit. A warning that came before the extension no longer counts if the job
// has more time left than the warning needs.
void ExtendTimeLimit(int64_t by_ms, Timestamp now, v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_TIME_LIMIT_H_
