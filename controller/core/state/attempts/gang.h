// The gang of an attempt: the members that occupy its places.
//
// A member is a process of the attempt. Its number is its position in Attempt.ranks: first the
// ranks of the gang, then the standbys of spare nodes. A place is a rank of the gang. Heals assign
// places to standbys, but the number of a member never changes. Facts, streams and slots are
// recorded by member. Everything about training (progress, failures, verdicts) is recorded by
// place.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_GANG_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_GANG_H_

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

// The place of a member that has no place.
inline constexpr int kNoPlace = -1;

// Returns the number of nodes on which the gang was placed, without spares.
int TrainingNodes(const v1::Attempt& attempt);

// Returns the number of members that were placed as standbys.
int StandbyCount(const v1::Attempt& attempt);

// Returns the generation of the gang: 1 plus the number of heals.
int64_t GenerationOf(const v1::Attempt& attempt);

// Returns the place of the member, or kNoPlace.
int PlaceOf(const v1::RankPlacement& member);

// Returns the place of the member or, if the member was replaced, its last place. Returns kNoPlace
// if the member never had a place.
int LastPlaceOf(const v1::RankPlacement& member);

inline bool IsSeated(const v1::RankPlacement& member) { return PlaceOf(member) != kNoPlace; }

// Returns true for a standby that has never had a place.
inline bool IsStandby(const v1::RankPlacement& member) {
  return member.standby() && !member.has_place();
}

// Returns the member at the place. The gang must have the place.
const v1::RankPlacement& MemberAt(const v1::Attempt& attempt, int place);

// Returns the members of the gang, ordered by place.
std::vector<const v1::RankPlacement*> SeatedMembers(const v1::Attempt& attempt);

// Returns the node ids of these members, in order and without duplicates.
std::vector<std::string> NodesOf(const std::vector<const v1::RankPlacement*>& members);

// Returns the unused spare nodes, whose members are all standbys without a place. Ordered by
// position.
std::vector<std::string> SpareNodes(const v1::Attempt& attempt);

// Returns the nodes that heals have replaced. The attempt no longer needs a process on such nodes.
std::set<std::string> ReplacedNodes(const v1::Attempt& attempt);

// Returns the number of `members` (such as JobEntry::started_ranks) that have a place.
int CountSeated(const v1::Attempt& attempt, const std::set<int>& members);
template <typename Value>
int CountSeated(const v1::Attempt& attempt, const std::map<int, Value>& members) {
  return static_cast<int>(std::ranges::count_if(
      members, [&](const auto& member) { return IsSeated(attempt.ranks(member.first)); }));
}

// Returns true if the member of the newest attempt has a place. Returns false if the attempt has no
// member with this number.
bool IsSeated(const JobEntry& entry, int member);

// Returns true if a member with a place on this node has not reported its exit. `attempt` must be
// the job's newest attempt. The loss of a node that has only standbys or replaced members does not
// affect the gang.
bool HasUnexitedRank(const JobEntry& entry, const v1::Attempt& attempt, const std::string& node_id);

// Returns true if rank 0 of the job's program leads the other ranks (ProgramRules).
bool FirstRankLeads(const JobEntry& entry);

// Returns true if the gang continues without the rank that failed: rank 0 leads the gang, and
// another rank was killed.
bool ContinuesWithout(const JobEntry& entry, const v1::RankExited& exited);

// Returns true if every rank of the newest attempt's gang exited with 0. If rank 0 leads the gang,
// its exit decides.
bool GangSucceeded(const JobEntry& entry);

// Returns true if the gang succeeded without a stop request, so that the attempt only waits
// for its nodes' confirmation. An attempt with a stop request does not count, because its ranks may
// exit with 0 before the run ends.
bool HasFinished(const JobEntry& entry);

// Returns the member of the attempt, or nullptr if the state does not have it.
const v1::RankPlacement* FindMember(const ClusterState& state, const AttemptKey& attempt,
                                    int member);

// These functions return the place of `member` in this attempt (PlaceOf, LastPlaceOf), for workers'
// reports and telemetry. If the state does not have the attempt or its members, they return the
// member number as the place.
int PlaceIn(const ClusterState& state, const AttemptKey& attempt, int member);
int LastPlaceIn(const ClusterState& state, const AttemptKey& attempt, int member);

// Returns "rank 3", or "rank 3 (member 9)" if the member's number differs from its place.
std::string RankText(const v1::RankPlacement& member);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_ATTEMPTS_GANG_H_
