// Recovery in place: which failures a gang survives, which spare node takes the place of which, and
// when a heal has come to a step or is abandoned.
//
// A whole node is swapped for a spare node, so that a tensor-parallel group stays inside a node.
// The living ranks of a node that is swapped out are ended.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_HEAL_POLICY_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_HEAL_POLICY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "controller/core/observations/observations.h"
#include "controller/core/state/cluster_state.h"
#include "controller/core/support/core_options.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

// A controller that has just started waits this long for reports before it gives up a heal.
inline constexpr int64_t kHealReportsWaitMs = 5000;

// Consequence of the failure of a gang.
struct HealDecision {
  // Places that get a new member; empty: the gang does not go on in place.
  std::vector<v1::Seat> seats;
  // Node of place 0 from then on.
  std::string master_node_id;
  // Newest step that the gang has reported.
  int64_t step = 0;
  // Too early to tell: workers have not reported to this controller yet.
  bool awaits_reports = false;
};
HealDecision DecideHeal(const ClusterState& state, const Observations& observations,
                        const JobEntry& entry, const v1::Verdict& verdict, Timestamp now);

// True while the gang of the attempt has not made a step since its newest heal.
bool IsHealing(const v1::Attempt& attempt);

// The event that is due once each place has reported a step of the newest generation.
std::optional<v1::AttemptHealed> FindHealed(const Observations& observations, const JobEntry& entry,
                                            Timestamp now);

// Time within which a heal must complete a step: CoreOptions::heal_within_ms, and longer for a gang
// with long steps.
int64_t HealLimitMs(const Observations& observations, const CoreOptions& options,
                    const JobEntry& entry);

// The verdict on a heal that has taken longer than HealLimitMs: that of the failure before it.
std::optional<v1::Verdict> VerdictOnHeal(const Observations& observations,
                                         const CoreOptions& options, const JobEntry& entry,
                                         Timestamp now);

// The verdict on an attempt that fails by `verdict`. A rank that lost a peer while the gang healed
// failed over the failure that was to be healed.
v1::Verdict VerdictWithoutHeal(const v1::Attempt& attempt, const v1::Verdict& verdict);

// Spare nodes that could take a place now, by position.
std::vector<std::string> WholeSpares(const ClusterState& state, const Observations& observations,
                                     const JobEntry& entry);

// Places whose process has not had the gang's state yet: those of all heals since the newest one
// that came to a step.
std::vector<int> PlacesWithoutState(const v1::Attempt& attempt);

// "healing: rank 3 is replaced by the spare node c", while the gang heals.
std::optional<v1::PendingReason> WhyHealing(const ClusterState& state, const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_HEAL_POLICY_H_
