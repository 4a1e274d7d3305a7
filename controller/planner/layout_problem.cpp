#include "controller/planner/layout_problem.h"

#include "controller/planner/device_rates.h"
#include "proto/contract/limits.h"
#include "proto/layout/layout_text.h"
#include "proto/memory/memory_advice.h"
#include "proto/rules/fp8_products.h"

namespace trainyard::planner {
namespace {

LayoutProblem RulesProblem(const LayoutSearch& search, const Cluster& cluster) {
  std::string reasons;
  for (const auto& [reason, count] : search.lost) {
    reasons += (reasons.empty() ? "; rejected layouts: " : ", ") + std::to_string(count) + " (" +
               reason + ")";
  }
  return {"no layout of " + ClusterText(cluster) + " satisfies the rules of the job" + reasons,
          "change train.global_batch, the number of nodes, or the settings in these reasons",
          std::nullopt};
}

LayoutProblem TooManyLayouts(const LayoutSearch& search, const Cluster& cluster) {
  return {"the search stopped, because there are too many possible layouts. It tried " +
              std::to_string(search.tried) + " layouts of " + ClusterText(cluster),
          "choose a number of nodes and a train.global_batch with fewer divisors", std::nullopt};
}

std::string AdviceOn(const LargerCluster& larger) {
  if (!larger.fewest_nodes.has_value()) {
    return "no cluster of up to " + std::to_string(larger.looked_at) +
           " nodes of this kind is large enough; use devices with more memory, or reduce "
           "train.seq_length";
  }
  const std::string nodes = std::to_string(*larger.fewest_nodes);
  return "at least " + nodes + " such nodes are needed; set `resources.nodes` to " + nodes +
         ", or run `plan --nodes " + nodes + "`";
}

}  // namespace

std::string PrecisionProblem(const RunConfig& config, const Cluster& cluster) {
  if (HasFp8(config.train) && cluster.device->fp8_flops == 0) {
    return "the " + std::string(cluster.device->rating->name) +
           " has no FP8 arithmetic; choose another device, or set train.fp8=none";
  }
  if (PeakFlops(config.train.precision, *cluster.device) > 0) return "";
  const bool has_fp16 = PeakFlops(Precision::kFp16, *cluster.device) > 0;
  const std::string precision = SettingNameOf(config.train.precision);
  return "`train.precision` is " + precision + ", but the " +
         std::string(cluster.device->rating->name) + " has no " + precision +
         " arithmetic; choose another device, or set train.precision=" +
         (has_fp16 ? "fp16 or fp32" : "fp32");
}

LayoutProblem ProblemOf(const LayoutSearch& search, const RunConfig& config,
                        const Cluster& cluster) {
  if (search.is_too_large) return TooManyLayouts(search, cluster);
  if (!search.leanest.has_value()) return RulesProblem(search, cluster);
  const PlannedLayout& lean = *search.leanest;
  const double limit =
      static_cast<double>(cluster.device->rating->memory_bytes) - lean.memory.Reserve();
  LayoutProblem problem;
  const LargerCluster larger = FewestNodes(config, cluster, kMaxRanks / cluster.per_node);
  problem.fewest_nodes = larger.fewest_nodes;
  problem.message = "no layout fits into " + ClusterText(cluster) + ": " +
                    GigabytesText(lean.memory.Total() - limit) +
                    " of memory are missing on each GPU. The layout that needs the least memory, " +
                    LayoutText(lean.layout) + ", needs " + MemoryText(lean.memory) + ", but only " +
                    GigabytesText(limit) + " are available";
  problem.advice = AdviceOn(larger);
  return problem;
}

}  // namespace trainyard::planner
