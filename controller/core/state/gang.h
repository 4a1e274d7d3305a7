// Gang of an attempt: the members that occupy its places.
//
// A member is a process of the attempt, numbered by its position in Attempt.ranks: first the ranks
// of the gang, then the standbys of spare nodes. Facts, streams and slots are recorded by member. A
// place is a rank of the gang. A member keeps its number; a heal assigns places to standbys.
// Everything about training (progress, failures, verdicts) is recorded by place.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_GANG_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_GANG_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/core/state/cluster_state.h"
#include "proto/support/gang_size.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Value for a member without a place.
inline constexpr int kNoPlace = -1;

// Number of nodes that the gang was placed on, excluding spares.
int TrainingNodes(const v1::Attempt& attempt);

// Number of members placed as standbys.
int StandbyCount(const v1::Attempt& attempt);

// Generation of the gang: 1, plus one per heal.
int64_t GenerationOf(const v1::Attempt& attempt);

// Place of the member, or kNoPlace.
int PlaceOf(const v1::RankPlacement& member);

// Place of the member, or the place it had before it was replaced, or kNoPlace.
int LastPlaceOf(const v1::RankPlacement& member);

inline bool IsSeated(const v1::RankPlacement& member) { return PlaceOf(member) != kNoPlace; }

// True for a standby that has not had a place.
inline bool IsStandby(const v1::RankPlacement& member) {
  return member.standby() && !member.has_place();
}

// Member at the place. The gang must have the place.
const v1::RankPlacement& MemberAt(const v1::Attempt& attempt, int place);

// Members of the gang, by place.
std::vector<const v1::RankPlacement*> SeatedMembers(const v1::Attempt& attempt);

// Node ids of these members, in order, without repetitions.
std::vector<std::string> NodesOf(const std::vector<const v1::RankPlacement*>& members);

// Nodes waiting as spares: their members are unused standbys. Ordered by position.
std::vector<std::string> SpareNodes(const v1::Attempt& attempt);

// Nodes swapped out by heals. The attempt needs no process there any longer.
std::set<std::string> ReplacedNodes(const v1::Attempt& attempt);

// Number of `members`, such as JobEntry::started_ranks, that have a place.
int CountSeated(const v1::Attempt& attempt, const std::set<int>& members);
template <typename Value>
int CountSeated(const v1::Attempt& attempt, const std::map<int, Value>& members) {
  return static_cast<int>(std::ranges::count_if(
      members, [&](const auto& member) { return IsSeated(attempt.ranks(member.first)); }));
}

// True if the member of the newest attempt has a place. False for a number outside the attempt.
bool IsSeated(const JobEntry& entry, int member);

// True while a member with a place on this node has not reported its exit. `attempt` is the job's
// newest. The loss of a node with only standbys or replaced members does not affect the gang.
bool HasUnexitedRank(const JobEntry& entry, const v1::Attempt& attempt, const std::string& node_id);

// True if every rank of the newest attempt's gang exited with 0.
bool AllRanksSucceeded(const JobEntry& entry);

// True if all ranks exited with 0 without being asked to stop, and the attempt only waits for its
// nodes to confirm. Ranks asked to stop may exit with 0, too.
bool HasFinished(const JobEntry& entry);

// The member of the attempt, or nullptr if the state does not have it.
const v1::RankPlacement* FindMember(const ClusterState& state, const AttemptKey& attempt,
                                    int member);

// Place of `member` in this attempt (PlaceOf, LastPlaceOf), for workers' reports and telemetry. If
// the state does not have the attempt, or not its members, the member number is the place.
int PlaceIn(const ClusterState& state, const AttemptKey& attempt, int member);
int LastPlaceIn(const ClusterState& state, const AttemptKey& attempt, int member);

// "rank 3", or "rank 3 (member 9)" if the member's number differs from its place.
std::string RankText(const v1::RankPlacement& member);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_GANG_H_
