#include "controller/planner/layout_problem.h"

#include "controller/planner/pass_seconds.h"
#include "proto/contract/layout_text.h"
#include "proto/contract/limits.h"
#include "proto/contract/memory_advice.h"

namespace trainyard::planner {
namespace {

LayoutProblem RulesProblem(const LayoutSearch& search, const Cluster& cluster) {
  std::string reasons;
  for (const auto& [reason, count] : search.lost) {
    reasons += (reasons.empty() ? ": " : ", ") + std::to_string(count) + " " + reason;
  }
  return {"no layout of " + ClusterText(cluster) + " keeps the rules of the job" + reasons,
          "change train.global_batch, or the number of nodes", std::nullopt};
}

std::string AdviceOn(const std::optional<int64_t>& fewest_nodes) {
  if (!fewest_nodes.has_value()) {
    return "no number of such nodes would do; use devices with more memory, or make "
           "train.seq_length smaller";
  }
  const std::string nodes = std::to_string(*fewest_nodes);
  return "the smallest cluster of such nodes that would do has " + nodes + ": resources.nodes " +
         nodes + ", or `plan --nodes " + nodes + "`";
}

}  // namespace

std::string PrecisionProblem(const RunConfig& config, const Cluster& cluster) {
  if (PeakFlops(config.train.precision, *cluster.device) > 0) return "";
  return "`train.precision` bf16: the " + std::string(cluster.device->rating->name) +
         " has no bf16 arithmetic; choose another device, or train.precision=fp32";
}

LayoutProblem ProblemOf(const LayoutSearch& search, const RunConfig& config,
                        const Cluster& cluster) {
  if (!search.leanest.has_value()) return RulesProblem(search, cluster);
  const PlannedLayout& lean = *search.leanest;
  const double limit =
      static_cast<double>(cluster.device->rating->memory_bytes) / (1 + kMemoryMargin);
  LayoutProblem problem;
  problem.fewest_nodes = FewestNodes(config, cluster, kMaxRanks / cluster.per_node);
  problem.message = "no layout fits into " + ClusterText(cluster) + ": " +
                    GigabytesText(lean.memory.Total() - limit) +
                    " are missing on each GPU; the layout that needs least, " +
                    LayoutText(lean.layout) + ", needs " + MemoryText(lean.memory) + ", and " +
                    GigabytesText(limit) + " can be planned with";
  problem.advice = AdviceOn(problem.fewest_nodes);
  return problem;
}

}  // namespace trainyard::planner
