#include "controller/core/state/attempts/gang.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/attempt_outcome.h"
#include "controller/core/support/invariant.h"
#include "proto/support/job_kind.h"

namespace trainyard::controller {

int StandbyCount(const v1::Attempt& attempt) { return attempt.ranks_size() - GangSize(attempt); }

int TrainingNodes(const v1::Attempt& attempt) {
  std::vector<const v1::RankPlacement*> ranks;
  const int places = GangSize(attempt);
  for (int i = 0; i < places; ++i) ranks.push_back(&attempt.ranks(i));
  return static_cast<int>(NodesOf(ranks).size());
}

int64_t GenerationOf(const v1::Attempt& attempt) { return 1 + attempt.heals_size(); }

int PlaceOf(const v1::RankPlacement& member) {
  return member.replaced() ? kNoPlace : LastPlaceOf(member);
}

int LastPlaceOf(const v1::RankPlacement& member) {
  if (member.has_place()) return member.place();
  return member.standby() ? kNoPlace : member.rank();
}

const v1::RankPlacement& MemberAt(const v1::Attempt& attempt, int place) {
  const bool is_place = 0 <= place && place < attempt.ranks_size();
  if (is_place && attempt.heals().empty()) return attempt.ranks(place);
  const auto found = std::ranges::find(attempt.ranks(), place, PlaceOf);
  if (found == attempt.ranks().end()) Require(false, absl::StrCat("no member has place ", place));
  return *found;
}

std::vector<const v1::RankPlacement*> SeatedMembers(const v1::Attempt& attempt) {
  std::vector<const v1::RankPlacement*> members(GangSize(attempt), nullptr);
  for (const v1::RankPlacement& member : attempt.ranks()) {
    if (IsSeated(member)) members.at(PlaceOf(member)) = &member;
  }
  return members;
}

std::vector<std::string> NodesOf(const std::vector<const v1::RankPlacement*>& members) {
  std::vector<std::string> nodes;
  for (const v1::RankPlacement* member : members) {
    if (nodes.empty() || nodes.back() != member->node_id()) nodes.push_back(member->node_id());
  }
  return nodes;
}

std::vector<std::string> SpareNodes(const v1::Attempt& attempt) {
  std::vector<const v1::RankPlacement*> standbys;
  for (int i = GangSize(attempt); i < attempt.ranks_size(); ++i) {
    if (IsStandby(attempt.ranks(i))) standbys.push_back(&attempt.ranks(i));
  }
  return NodesOf(standbys);
}

std::set<std::string> ReplacedNodes(const v1::Attempt& attempt) {
  std::set<std::string> nodes;
  if (attempt.heals().empty()) return nodes;
  for (const v1::RankPlacement& member : attempt.ranks()) {
    if (member.replaced()) nodes.insert(member.node_id());
  }
  return nodes;
}

int CountSeated(const v1::Attempt& attempt, const std::set<int>& members) {
  return static_cast<int>(std::ranges::count_if(
      members, [&](const int member) { return IsSeated(attempt.ranks(member)); }));
}

bool IsSeated(const JobEntry& entry, int member) {
  const v1::Attempt* newest = NewestAttempt(entry);
  return newest != nullptr && 0 <= member && member < newest->ranks_size() &&
         IsSeated(newest->ranks(member));
}

bool HasUnexitedRank(const JobEntry& entry, const v1::Attempt& attempt,
                     const std::string& node_id) {
  return std::ranges::any_of(attempt.ranks(), [&](const v1::RankPlacement& member) {
    return member.node_id() == node_id && IsSeated(member) &&
           !entry.exited_ranks.contains(member.rank());
  });
}

const v1::RankPlacement* FindMember(const ClusterState& state, const AttemptKey& attempt,
                                    int member) {
  const JobEntry* entry = FindEntry(state, attempt.job_id);
  if (entry == nullptr) return nullptr;
  // Search the newest attempt first, because almost all reports are about it.
  const auto& attempts = entry->job.attempts();
  const auto found = std::find_if(attempts.rbegin(), attempts.rend(),
                                  [&](const auto& one) { return one.number() == attempt.number; });
  if (found == attempts.rend() || member < 0 || member >= found->ranks_size()) return nullptr;
  return &found->ranks(member);
}

int PlaceIn(const ClusterState& state, const AttemptKey& attempt, int member) {
  const v1::RankPlacement* found = FindMember(state, attempt, member);
  return found == nullptr ? member : PlaceOf(*found);
}

int LastPlaceIn(const ClusterState& state, const AttemptKey& attempt, int member) {
  const v1::RankPlacement* found = FindMember(state, attempt, member);
  return found == nullptr ? member : LastPlaceOf(*found);
}

std::string RankText(const v1::RankPlacement& member) {
  const int place = LastPlaceOf(member);
  if (place == member.rank()) return absl::StrCat("rank ", place);
  return absl::StrCat("rank ", place, " (member ", member.rank(), ")");
}

bool FirstRankLeads(const JobEntry& entry) {
  return ProgramRulesOf(entry.job.spec()).first_rank_leads;
}

bool ContinuesWithout(const JobEntry& entry, const v1::RankExited& exited) {
  const v1::Attempt* newest = NewestAttempt(entry);
  if (newest == nullptr || !FirstRankLeads(entry) || exited.signal() == 0) return false;
  return IsSeated(entry, exited.rank()) && PlaceOf(newest->ranks(exited.rank())) != 0;
}

bool GangSucceeded(const JobEntry& entry) {
  const v1::Attempt* newest = NewestAttempt(entry);
  if (newest == nullptr || entry.exited_ranks.empty()) return false;
  const auto succeeded = [&](const v1::RankPlacement& member) {
    const auto exited = entry.exited_ranks.find(member.rank());
    return exited != entry.exited_ranks.end() && !IsFailure(exited->second);
  };
  if (FirstRankLeads(entry)) return succeeded(MemberAt(*newest, 0));
  return std::ranges::all_of(newest->ranks(), [&](const v1::RankPlacement& member) {
    return !IsSeated(member) || succeeded(member);
  });
}

bool HasFinished(const JobEntry& entry) {
  const v1::Attempt* live = LiveAttempt(entry);
  return live != nullptr && live->state() != v1::ATTEMPT_STATE_STOPPING && GangSucceeded(entry);
}

}  // namespace trainyard::controller
