// Verdicts on failed attempts, and restart decisions.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_FAILURE_POLICY_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_FAILURE_POLICY_H_

#include <optional>
#include <string>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// A rank that lost a peer (exit code 69) failed as a consequence of another failure. If no other
// failure is known, the verdict waits this long for the exit of the rank that failed first.
inline constexpr int64_t kLostPeerWaitMs = 2000;

// Verdict due to the exits of the live attempt. nullopt if none is due, or while waiting for the
// exit of the actual culprit. The culprit is the first rank to fail by corrected clocks
// (RankExited.corrected_ms). Ranks that lost a peer come last; if all ranks did, flight records may
// name the culprit. A verdict is final: a failure that arrives later with an earlier time does not
// change it, because the gang stops in any case.
std::optional<v1::Verdict> JudgeExits(const ClusterState& state, const Observations& observations,
                                      const JobEntry& entry, Timestamp now);

// Verdict on an attempt that lost its ranks on a node.
v1::Verdict NodeLostVerdict(const v1::Node& node, const std::string& evidence, Timestamp now);

v1::Verdict CompletedVerdict(int ranks, Timestamp now);
v1::Verdict StoppedVerdict(bool kill, Timestamp now);

// Maximum number of consecutive attempts that may exit with "try again" (75) without counting
// against the restart budget. It ends a job whose program always exits with 75.
inline constexpr int kUncountedTriesInARow = 10;

struct RestartDecision {
  // Earliest time of the next attempt; nullopt if there is none.
  std::optional<Timestamp> not_before_ms;
  // The restart does not count against the restart budget.
  bool uncounted = false;
  // Reason why there is no further attempt; empty if the verdict already states it.
  std::string refusal;
  // Another attempt would end the same way.
  bool in_vain = false;
};

// Decides on a restart of the job when its live attempt ends with this verdict. `last_step`:
// highest step that the attempt reported.
RestartDecision DecideRestart(const JobEntry& entry, const v1::Verdict& verdict, int64_t last_step,
                              Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_FAILURE_POLICY_H_
