// Judges failed attempts and decides on restarts.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_FAILURE_POLICY_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_FAILURE_POLICY_H_

#include <optional>
#include <string>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns the verdict on the live attempt if one of its ranks has failed. Returns nullopt if no
// rank has failed, or while the exit or the alert that shows the cause may still arrive.
// The verdict is on the rank that failed first by corrected clocks (RankExited.corrected_ms). Ranks
// that lost a peer are considered last. If all failed ranks lost a peer, flight records may show
// the cause.
// A verdict is final: it does not change if an earlier failure becomes known later, because the
// gang stops in any case.
std::optional<v1::Verdict> JudgeExits(const ClusterState& state, const Observations& observations,
                                      const JobEntry& entry, Timestamp now);

// Returns the verdict on an attempt that had ranks on the lost node.
v1::Verdict NodeLostVerdict(const v1::Node& node, const std::string& evidence, Timestamp now);

v1::Verdict CompletedVerdict(int ranks, Timestamp now);
v1::Verdict StoppedVerdict(bool kill, Timestamp now);

// The maximum number of consecutive attempts that may exit with 75 ("try again") without being
// counted against the restart budget. Without this limit, a job whose program always exits with 75
// would never end.
inline constexpr int kUncountedTriesInARow = 10;

struct RestartDecision {
  // The earliest time of the next attempt. nullopt if the job does not restart.
  std::optional<Timestamp> not_before_ms;
  // True if the restart is not charged to the restart budget.
  bool uncounted = false;
  // The reason why the job does not restart. Empty if the verdict already states it.
  std::string refusal;
  // True if another attempt would end in the same way.
  bool in_vain = false;
};

// Decides whether the job restarts if its live attempt ends with this verdict. `last_step` is the
// highest step that the attempt reported.
RestartDecision DecideRestart(const JobEntry& entry, const v1::Verdict& verdict, int64_t last_step,
                              Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_FAILURE_POLICY_H_
