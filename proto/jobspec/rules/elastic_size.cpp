#include "proto/jobspec/rules/elastic_size.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "proto/contract/run_config.h"
#include "proto/jobspec/fields/node_range.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/rules/run_rules.h"
#include "proto/support/job_kind.h"

namespace trainyard {
namespace {

using Problems = std::vector<SettingProblem>;

// Checks one number of nodes after another.
class SizeCheck {
 public:
  explicit SizeCheck(const v1::JobSpec& spec)
      : spec_(spec),
        trains_(RunsOurTrainer(spec)),
        has_layout_(ProgramRulesOf(spec).has_layout && !spec.auto_layout()),
        config_(RunConfigOf(spec)) {
    FillDerived(WorldSize(spec), config_);
  }

  Problems ProblemsOn(int nodes) {
    if (!has_layout_) return {};
    config_.resources.nodes = nodes;
    // A layout that does not divide the ranks is reported by FindLayoutProblems.
    config_.layout.dp = std::max<int64_t>(1, DataParallelOn(spec_, nodes));
    Problems problems =
        FindLayoutProblems(int64_t{nodes} * spec_.resources().slots_per_node(), config_);
    if (problems.empty() && trains_) problems = FindTrainingProblems(config_);
    return problems;
  }

  // Returns true if the values are within their limits, as the checks of a size require.
  bool CanCheck() const {
    return FindOutOfRange(config_).empty() && (!trains_ || FindMissing(config_).empty());
  }

  bool IsUsable(int nodes) { return ProblemsOn(nodes).empty(); }

 private:
  const v1::JobSpec& spec_;
  const bool trains_;
  const bool has_layout_;
  RunConfig config_;
};

}  // namespace

int LargestUsableNodes(const v1::JobSpec& spec, int most) {
  SizeCheck check(spec);
  for (int nodes = std::min(most, spec.resources().nodes()); nodes >= spec.min_nodes(); --nodes) {
    if (check.IsUsable(nodes)) return nodes;
  }
  return 0;
}

void NarrowNodes(v1::JobSpec& spec) {
  // Values outside the limits are left to the rules.
  const bool is_range = IsElastic(spec) && spec.min_nodes() >= 1 && !spec.layout().has_dp();
  SizeCheck check(spec);
  if (!is_range || !check.CanCheck()) return;
  const int largest = LargestUsableNodes(spec, spec.resources().nodes());
  if (largest == 0) return;
  int smallest = spec.min_nodes();
  while (smallest < largest && !check.IsUsable(smallest)) ++smallest;
  spec.mutable_resources()->set_nodes(largest);
  spec.set_min_nodes(smallest);
}

std::vector<SettingProblem> FindElasticProblems(const v1::JobSpec& spec) {
  if (!spec.has_min_nodes()) return {};
  const int most = spec.resources().nodes();
  if (spec.min_nodes() > most) {
    return {{kMinNodesKey, absl::StrCat("`", kMinNodesKey, "` is ", spec.min_nodes(), ", but `",
                                        kNodesKey, "` is ", most, "; write the range as `nodes: ",
                                        most, "..", spec.min_nodes(), "`")}};
  }
  if (!IsElastic(spec)) return {};
  const std::string nodes = absl::StrCat("`", kNodesKey, "` is ", NodesText(spec));
  if (spec.layout().has_dp() && !spec.auto_layout()) {
    return {{kNodesKey, absl::StrCat(nodes, ", but `layout.dp` ", spec.layout().dp(),
                                     " fits only one number of nodes; remove `layout.dp`, which "
                                     "follows from the number of nodes, or write one number")}};
  }
  if (ProgramOf(spec) == JobProgram::kCommand && !spec.torchrun_env()) {
    return {
        {kNodesKey, absl::StrCat(nodes,
                                 ", but with `torchrun_env: false` the program in `command` cannot "
                                 "read its number of ranks; remove `torchrun_env`, or write one "
                                 "number of nodes")}};
  }
  if (LargestUsableNodes(spec, most) > 0) return {};
  const Problems problems = SizeCheck(spec).ProblemsOn(most);
  return {{kNodesKey, absl::StrCat(nodes,
                                   ", but the layout and the batch fit none of these "
                                   "numbers of nodes. With ",
                                   most, ": ", problems.front().message)}};
}

}  // namespace trainyard
