#include "controller/core/explain/missing_ranks.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/support/text.h"
#include "controller/core/verdict/exit_text.h"

namespace trainyard::controller {
namespace {

// Returns an empty string if the rank takes part.
std::string WhyMissing(const ClusterState& state, const JobEntry& entry,
                       const v1::RankPlacement& member) {
  const auto exited = entry.exited_ranks.find(member.rank());
  if (exited != entry.exited_ranks.end()) {
    if (!ContinuesWithout(entry, exited->second)) return "";
    return WhatHappened(*LiveAttempt(entry), exited->second);
  }
  const auto node = state.nodes.find(member.node_id());
  const bool reports =
      node != state.nodes.end() && node->second.node.state() == v1::NODE_STATE_READY;
  return reports ? "" : "is on a node without a heartbeat";
}

}  // namespace

std::optional<v1::HealthFinding> WhyRanksAreMissing(const ClusterState& state,
                                                    const JobEntry& entry) {
  if (!FirstRankLeads(entry)) return std::nullopt;
  v1::HealthFinding finding;
  std::string why;
  for (const v1::RankPlacement* member : SeatedMembers(*LiveAttempt(entry))) {
    const std::string reason = PlaceOf(*member) == 0 ? "" : WhyMissing(state, entry, *member);
    if (reason.empty()) continue;
    finding.add_ranks(PlaceOf(*member));
    if (why.empty()) {
      why =
          absl::StrCat(RankText(*member), " on ", NodeName(state, member->node_id()), " ", reason);
    }
  }
  if (finding.ranks().empty()) return std::nullopt;
  finding.set_word(v1::HEALTH_WORD_SLOW);
  finding.set_message(
      absl::StrCat("the job continues without ", Counted(finding.ranks_size(), "rank"), ": ", why));
  finding.set_advice(
      absl::StrCat("the other ranks process the blocks of lost ranks; `trainyard "
                   "pause ",
                   entry.job.id(), "` and `trainyard resume ", entry.job.id(),
                   "` start all ranks again and keep the finished blocks"));
  return finding;
}

}  // namespace trainyard::controller
