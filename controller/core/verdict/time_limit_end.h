// Decides what happens when an attempt ends at the job's time limit.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_TIME_LIMIT_END_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_TIME_LIMIT_END_H_

#include <cstdint>
#include <optional>
#include <string>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// The maximum number of requeues of a job that reports neither checkpoints nor steps. Its progress
// is unknown, so the number of requeues needs another bound.
inline constexpr int kMostBlindRequeues = 100;

// Returns the event that stops the live attempt at the time limit: TimeLimitReached if the job then
// ends, AttemptYielded if it is queued again. Returns nullopt if the limit is not reached, or if
// the attempt cannot save now (CanYield).
std::optional<v1::Event> TimeLimitEvent(const JobEntry& entry, const Observations& observations,
                                        Timestamp now);

// Returns true if the ranks of the running attempt must be warned of the limit.
bool IsWarningDue(const JobEntry& entry, Timestamp now);

// Explains a verdict on a rank that the warning ended, because its program has no handler for the
// signal. The job is not restarted, because the warning would end the next attempt at once.
void ExplainWarning(const JobEntry& entry, v1::Verdict& verdict);

struct TimeLimitEnd {
  // True if the job ends at its time limit. If not, `refusal` is not set.
  bool ends_job = false;
  // The reason why the job is not queued again although its file asks for it. Empty if there is
  // none.
  std::string refusal;
};

// Decides on the end of the live attempt. The job also ends at its limit if the attempt failed, the
// job would restart (`restarts`) and no time is left. `last_step` is the last step of the attempt.
TimeLimitEnd EndAtTimeLimit(const JobEntry& entry, int64_t last_step, bool restarts, Timestamp now);

// Returns the verdict on a job that ended at its time limit, such as "ended by its time limit of
// 12 h".
v1::Verdict TimeLimitVerdict(const v1::Job& job, const std::string& refusal, Timestamp now);

// Returns, for example, "12 h" or "14 h (extended by 2 h)". The job must have a time limit.
std::string TimeLimitText(const v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_TIME_LIMIT_END_H_
