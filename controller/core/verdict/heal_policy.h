// Recovery in place: decides which failures a gang survives, which spare node replaces which node,
// and whether a heal has succeeded or is abandoned. A heal succeeds when the gang completes a step.
//
// A spare node replaces a whole node, so that a tensor-parallel group stays on one node. Ranks that
// still run on a replaced node are killed.
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

// After a restart, the controller waits this long for reports before it abandons a heal.
inline constexpr int64_t kHealReportsWaitMs = 5000;

// The decision about a failed gang.
struct HealDecision {
  // The places that are assigned to new members. Empty if the gang does not continue in place.
  std::vector<v1::Seat> seats;
  // The node of place 0 after the heal.
  std::string master_node_id;
  // The newest step that the gang reported.
  int64_t step = 0;
  // True if workers have not yet reported to this controller process, so that it is too early to
  // decide.
  bool awaits_reports = false;
};
HealDecision DecideHeal(const ClusterState& state, const Observations& observations,
                        const JobEntry& entry, const v1::Verdict& verdict, Timestamp now);

// Returns true if there was a heal and the gang has completed no step since the newest heal.
bool IsHealing(const v1::Attempt& attempt);

// Returns the event to append once every place has reported a step of the newest generation.
// Returns nullopt until then.
std::optional<v1::AttemptHealed> FindHealed(const Observations& observations, const JobEntry& entry,
                                            Timestamp now);

// Returns the maximum time that a heal may need to complete a step. This is
// CoreOptions::heal_within_ms, or longer for a gang with long steps.
int64_t HealLimitMs(const Observations& observations, const CoreOptions& options,
                    const JobEntry& entry);

// Returns a verdict if a heal has exceeded HealLimitMs. This verdict repeats the verdict on the
// failure that caused the heal.
std::optional<v1::Verdict> VerdictOnHeal(const Observations& observations,
                                         const CoreOptions& options, const JobEntry& entry,
                                         Timestamp now);

// Returns the verdict with which the attempt fails. If a rank lost a peer while the gang was
// healing, this is the verdict on the failure that caused the heal. Otherwise this is `verdict`.
v1::Verdict VerdictWithoutHeal(const v1::Attempt& attempt, const v1::Verdict& verdict);

// Returns the spare nodes that can take over places now, in the order of their positions.
std::vector<std::string> WholeSpares(const ClusterState& state, const Observations& observations,
                                     const JobEntry& entry);

// Returns the places whose process has not received the training state yet. These are the places
// that heals after the newest successful heal have assigned.
std::vector<int> PlacesWithoutState(const v1::Attempt& attempt);

// Returns the reason for a healing job, such as "healing: rank 3 is replaced by the spare node c".
// Returns nullopt if the gang is not healing.
std::optional<v1::PendingReason> WhyHealing(const ClusterState& state, const JobEntry& entry);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_HEAL_POLICY_H_
