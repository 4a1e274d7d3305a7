// Verdicts on failed attempts, and decisions on restarts.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_FAILURE_POLICY_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_FAILURE_POLICY_H_

#include <optional>
#include <string>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "proto/support/clock.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// A rank that lost a peer (exit code 69) is a consequence. When nothing else is known, the verdict
// waits this long for the fact of the rank that really failed.
inline constexpr int64_t kLostPeerWaitMs = 2000;

// The verdict that the exits of the live attempt call for; nothing while none is called for or the
// wait for the real culprit runs. The first failing rank is the culprit: by corrected clocks
// (RankExited.corrected_ms), ranks that lost a peer last. A verdict stands: a failure that arrives
// later with an earlier time is not judged again, since the gang is being stopped either way.
std::optional<v1::Verdict> JudgeExits(const ClusterState& state, const Observations& observations,
                                      const JobEntry& entry, Timestamp now);

// The verdict on an attempt that has lost its ranks on a node.
v1::Verdict NodeLostVerdict(const v1::Node& node, const std::string& evidence, Timestamp now);

v1::Verdict CompletedVerdict(int ranks, Timestamp now);
v1::Verdict StoppedVerdict(bool kill, Timestamp now);

// Tries in a row that end with "try again" (75) without counting against the restart budget. The
// limit ends a job whose program always exits so.
inline constexpr int kUncountedTriesInARow = 10;

struct RestartDecision {
  // Set when the job is to be tried again.
  std::optional<Timestamp> not_before_ms;
  // The restart does not count against the budget.
  bool uncounted = false;
  // Reason why the job is not tried again; empty when the verdict says it all.
  std::string refusal;
  // Another attempt would end in the same way.
  bool in_vain = false;
};

// Decides, at the end of the live attempt with this verdict, on a restart of the job. `last_step`:
// the highest step that the attempt has reported.
RestartDecision DecideRestart(const JobEntry& entry, const v1::Verdict& verdict, int64_t last_step,
                              Timestamp now);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_FAILURE_POLICY_H_
