// The gang of an attempt: the members that hold its places.
//
// Members are the processes of an attempt, numbered by their position in Attempt.ranks: the ranks
// of the gang first, then the standbys of spare nodes. Facts, streams and slots are those of
// members. Places are the ranks of the gang. A member keeps its number, and a heal gives places to
// standbys: whatever concerns training (progress, failures, verdicts) goes by place.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_GANG_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_GANG_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Value of a place for a member that holds none.
inline constexpr int kNoPlace = -1;

// Number of places: ranks of the gang. 0 for an old attempt, which is kept without its members.
int GangSize(const v1::Attempt& attempt);

// Number of nodes that the gang was placed on, without spares.
int TrainingNodes(const v1::Attempt& attempt);

// Number of members that were placed as standbys.
int StandbyCount(const v1::Attempt& attempt);

// Generation of the gang: 1, and one more with each heal.
int64_t GenerationOf(const v1::Attempt& attempt);

// Place of the member, or kNoPlace.
int PlaceOf(const v1::RankPlacement& member);

// Place that the member holds or held before it was replaced, or kNoPlace.
int LastPlaceOf(const v1::RankPlacement& member);

inline bool IsSeated(const v1::RankPlacement& member) { return PlaceOf(member) != kNoPlace; }

// True for a standby that no heal has used.
inline bool IsStandby(const v1::RankPlacement& member) {
  return member.standby() && !member.has_place();
}

// The member that holds the place, which the gang must have.
const v1::RankPlacement& MemberAt(const v1::Attempt& attempt, int place);

// The members of the gang, by place.
std::vector<const v1::RankPlacement*> SeatedMembers(const v1::Attempt& attempt);

// Ids of the nodes of these members, in order, each once.
std::vector<std::string> NodesOf(const std::vector<const v1::RankPlacement*>& members);

// Nodes that wait as spares: all their members are standbys that no heal has used. By position.
std::vector<std::string> SpareNodes(const v1::Attempt& attempt);

// Nodes that heals have swapped out: nothing of the attempt is wanted there any more.
std::set<std::string> ReplacedNodes(const v1::Attempt& attempt);

// Number of `members`, such as JobEntry::started_ranks, that hold a place.
int CountSeated(const v1::Attempt& attempt, const std::set<int>& members);
template <typename Value>
int CountSeated(const v1::Attempt& attempt, const std::map<int, Value>& members) {
  return static_cast<int>(std::ranges::count_if(
      members, [&](const auto& member) { return IsSeated(attempt.ranks(member.first)); }));
}

// True when the newest attempt's member has a place. A number that is no member of it has none.
bool IsSeated(const JobEntry& entry, int member);

// True while a member of this attempt, the job's newest, that holds a place on this node has not
// reported its exit. The loss of a node with standbys alone, or of one that was replaced, leaves
// the gang as it is.
bool HasUnexitedRank(const JobEntry& entry, const v1::Attempt& attempt, const std::string& node_id);

// True when every rank of the gang of the newest attempt has ended with 0.
bool AllRanksSucceeded(const JobEntry& entry);

// True for a gang whose ranks have all ended with 0 by themselves: it only waits for its nodes to
// confirm. Ranks that were asked to stop may end with 0, too.
bool HasFinished(const JobEntry& entry);

// The member of the attempt; nullptr when the state does not know it.
const v1::RankPlacement* FindMember(const ClusterState& state, const AttemptKey& attempt,
                                    int member);

// Places of a member as reports and telemetry of workers find them: that of `member` in this
// attempt of the job. A rank of an attempt that the state does not know, or keeps without members,
// is its own place.
int PlaceIn(const ClusterState& state, const AttemptKey& attempt, int member);
int LastPlaceIn(const ClusterState& state, const AttemptKey& attempt, int member);

// "rank 3", or "rank 3 (member 9)" for a place that a heal has given away.
std::string RankText(const v1::RankPlacement& member);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_GANG_H_
