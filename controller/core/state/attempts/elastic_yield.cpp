#include "controller/core/state/attempts/elastic_yield.h"

#include <algorithm>

#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/gang_request.h"
#include "proto/jobspec/rules/elastic_size.h"

namespace trainyard::controller {

void KeepOtherNodes(const JobEntry& entry, const std::set<std::string>& given_up,
                    v1::Yield& yield) {
  yield.clear_kept_nodes();
  if (!GangRequestOf(entry.job.spec()).elastic) return;
  for (const std::string& node_id : GangNodes(*LiveAttempt(entry))) {
    if (!given_up.contains(node_id)) yield.add_kept_nodes(node_id);
  }
  if (LargestUsableNodes(entry.job.spec(), yield.kept_nodes_size()) == 0) yield.clear_kept_nodes();
}

bool KeepsNode(const v1::Attempt& attempt, const std::string& node_id) {
  return attempt.yield().kept_nodes().empty() ||
         std::ranges::count(attempt.yield().kept_nodes(), node_id) > 0;
}

bool ShrinksForOther(const JobEntry& entry) {
  const v1::Attempt* newest = NewestAttempt(entry);
  return newest != nullptr && newest->yield().cause() == v1::YIELD_CAUSE_PREEMPTED &&
         !newest->yield().kept_nodes().empty();
}

}  // namespace trainyard::controller
