#include "controller/planner/layout_search.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

#include "controller/planner/layout_candidates.h"
#include "proto/model/model_size.h"

namespace trainyard::planner {
namespace {

constexpr char kNeedsMemory[] = "needs more memory than the device has";
constexpr char kSlower[] = "is slower";

// kMostPareto limits how many layouts after the best one are considered for the Pareto list.
// Layouts that take longer than kSlowestPareto times the best step time are not considered.
constexpr int64_t kMostPareto = 10000;
constexpr double kSlowestPareto = 1.5;

// Limits of a search. Without them, a search for a cluster size with many divisors could take
// minutes instead of seconds: 405B on 16,384 GPUs has 300,000 layouts. FewestNodes has a larger
// limit, because FewestNodes predicts only memory.
constexpr int64_t kMostTried = 500'000;
constexpr int64_t kMostVisited = 1'000'000;

struct Candidate {
  LayoutConfig layout;
  double seconds = 0;
};

// Sorts faster layouts first. If two are equally fast, prefers less sharding (fewer transfers),
// then the simpler schedule.
bool IsBefore(const Candidate& left, const Candidate& right) {
  const auto key = [](const Candidate& candidate) {
    const LayoutConfig& layout = candidate.layout;
    return std::make_tuple(candidate.seconds, layout.zero, layout.zero_bubble, layout.vpp,
                           static_cast<int>(layout.recompute), layout.tp, layout.pp,
                           layout.micro_batch);
  };
  return key(left) < key(right);
}

Cluster WithAllRoutes(Cluster cluster) {
  if (cluster.tree == nullptr) return cluster;
  auto tree = std::make_shared<NetworkTree>(*cluster.tree);
  tree->PrepareAll();
  cluster.tree = std::move(tree);
  return cluster;
}

class Search {
 public:
  Search(const RunConfig& config, const Cluster& cluster)
      : config_(config), cluster_(WithAllRoutes(cluster)) {}

  LayoutSearch Run() {
    VisitGroups(
        config_, cluster_, [this](const RunConfig& group) { return AddGroup(group); },
        [this](const std::string& reason, int64_t count) { return Lose(reason, count); });
    if (IsTooLarge()) {
      LayoutSearch refused;
      refused.is_too_large = true;
      refused.tried = result_.tried;
      return refused;
    }
    std::sort(candidates_.begin(), candidates_.end(), IsBefore);
    Choose();
    return std::move(result_);
  }

 private:
  bool IsTooLarge() const { return result_.tried > kMostTried; }

  Walk Lose(const std::string& reason, int64_t count) {
    result_.tried += count;
    result_.lost[reason] += count;
    return IsTooLarge() ? Walk::kEnd : Walk::kContinue;
  }

  // If no layout of a group fits, the group with a larger micro-batch is skipped, because such a
  // group needs more memory.
  Walk AddGroup(const RunConfig& group) {
    const std::vector<LayoutConfig> members = MembersOfGroup(group);
    if (!SomeMemberFits(group, members)) {
      const Walk next = Lose(kNeedsMemory, static_cast<int64_t>(members.size()));
      return next == Walk::kEnd ? next : Walk::kSkipLargerBatches;
    }
    const PlannedPass& pass = PassOf(group);
    const std::vector<StageLoad>& loads = LoadsOf(group);
    RunConfig member = group;
    for (const LayoutConfig& layout : members) {
      member.layout = layout;
      const StepTime step = SecondsOfStep(member, pass, loads, cluster_, TrainyardProfile());
      candidates_.push_back({layout, step.Total()});
    }
    result_.tried += static_cast<int64_t>(members.size());
    return IsTooLarge() ? Walk::kEnd : Walk::kContinue;
  }

  // Returns true if the layout with the least memory fits. This layout uses ZeRO 3 or ZeRO 1. ZeRO
  // 3 also needs memory for whole blocks, so it may need more memory than ZeRO 1.
  bool SomeMemberFits(const RunConfig& group, const std::vector<LayoutConfig>& members) {
    RunConfig member = group;
    member.layout.recompute = Recompute::kFull;
    for (const int64_t zero : {members.back().zero, std::min<int64_t>(members.back().zero, 1)}) {
      member.layout.zero = zero;
      PlannedLayout lean;
      lean.memory = PeakMemory(member, lean.memory_stage);
      if (FitsInto(lean.memory, *cluster_.device)) return true;
      lean.layout = member.layout;
      std::optional<PlannedLayout>& leanest = result_.leanest;
      if (!leanest || lean.memory.Total() < leanest->memory.Total()) leanest = lean;
    }
    return false;
  }

  const PlannedPass& PassOf(const RunConfig& group) {
    const LayoutConfig& layout = group.layout;
    const auto key =
        std::make_tuple(layout.tp, layout.cp, layout.ep, layout.etp, layout.micro_batch);
    const auto found = passes_.find(key);
    if (found != passes_.end()) return found->second;
    return passes_[key] = PlanPass(group, cluster_, TrainyardProfile());
  }

  const std::vector<StageLoad>& LoadsOf(const RunConfig& group) {
    const auto key = std::make_pair(group.layout.pp, group.layout.vpp);
    const auto found = loads_.find(key);
    if (found != loads_.end()) return found->second;
    return loads_[key] = LoadsOfStages(group, /*balances_head=*/true);
  }

  PlannedLayout Planned(const LayoutConfig& layout) {
    RunConfig member = config_;
    member.layout = layout;
    PlannedLayout planned{.layout = layout};
    planned.memory = PeakMemory(member, planned.memory_stage);
    planned.step =
        SecondsOfStep(member, PassOf(member), LoadsOf(member), cluster_, TrainyardProfile());
    return planned;
  }

  // Tries the candidates, fastest first, until one fits. All candidates after the best candidate
  // are counted as slower, even if they do not fit. Some of these enter the Pareto list.
  void Choose() {
    int64_t looked_at = 0;
    for (size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& candidate = candidates_[i];
      if (result_.best.has_value()) {
        const bool is_near = candidate.seconds <= kSlowestPareto * result_.best->step.Total();
        if (++looked_at > kMostPareto || !is_near) {
          Count(kSlower, candidates_.size() - i);
          return;
        }
        Count(kSlower, 1);
      }
      const PlannedLayout planned = Planned(candidate.layout);
      if (!FitsInto(planned.memory, *cluster_.device)) {
        if (!result_.best.has_value()) Count(kNeedsMemory, 1);
        continue;
      }
      if (!result_.best.has_value()) result_.best = planned;
      std::vector<PlannedLayout>& pareto = result_.pareto;
      if (pareto.empty() || planned.memory.Total() < pareto.back().memory.Total()) {
        pareto.push_back(planned);
      }
    }
  }

  void Count(const char* reason, size_t count) {
    result_.lost[reason] += static_cast<int64_t>(count);
  }

  const RunConfig& config_;
  const Cluster cluster_;
  std::map<std::tuple<int64_t, int64_t, int64_t, int64_t, int64_t>, PlannedPass> passes_;
  std::map<std::pair<int64_t, int64_t>, std::vector<StageLoad>> loads_;
  std::vector<Candidate> candidates_;
  LayoutSearch result_;
};

// Returns the number of nodes on which the training state alone would fit if it were divided among
// all devices.
int64_t NodesOfState(const RunConfig& config, const Cluster& cluster) {
  const auto parameters = static_cast<double>(ParameterCount(config.model));
  double bytes = 16;  // Master weights, gradients and two moments.
  if (config.train.precision == Precision::kFp16) bytes += 2;  // Weights besides their masters.
  if (config.optimizer.exp_avg_dtype == Precision::kBf16) bytes -= 2;
  if (config.optimizer.exp_avg_sq_dtype == Precision::kBf16) bytes -= 2;
  const double of_node = static_cast<double>(cluster.device->rating->memory_bytes) *
                         static_cast<double>(cluster.per_node);
  return static_cast<int64_t>(parameters * bytes / of_node);
}

// Searches for a cluster on which some layout fits. Predicts no times.
class ClusterSearch {
 public:
  explicit ClusterSearch(const RunConfig& config) : config_(config) {}

  bool IsSpent() const { return visited_ > kMostVisited; }

  bool SomeLayoutFits(const Cluster& cluster) {
    fits_ = false;
    VisitGroups(
        config_, cluster, [&](const RunConfig& group) { return Visit(group, cluster); },
        [this](const std::string&, int64_t) { return Next(); });
    return fits_;
  }

 private:
  Walk Next() { return ++visited_ > kMostVisited ? Walk::kEnd : Walk::kContinue; }

  Walk Visit(const RunConfig& group, const Cluster& cluster) {
    if (Next() == Walk::kEnd) return Walk::kEnd;
    const bool needs_more = group.layout.vpp > 1 || group.layout.zero_bubble;
    if (needs_more) return Walk::kSkipLargerBatches;
    const int64_t most_sharded = MembersOfGroup(group).back().zero;
    RunConfig member = group;
    member.layout.recompute = Recompute::kFull;
    for (const int64_t zero : {most_sharded, std::min<int64_t>(most_sharded, 1)}) {
      member.layout.zero = zero;
      int64_t stage = 0;
      fits_ = fits_ || FitsInto(PeakMemory(member, stage), *cluster.device);
    }
    // A larger micro-batch never needs less memory.
    return fits_ ? Walk::kEnd : Walk::kSkipLargerBatches;
  }

  const RunConfig& config_;
  int64_t visited_ = 0;
  bool fits_ = false;
};

// Checks every stage, because a middle stage may need the most memory, for example if the first
// stage has dense layers and the other stages have experts.
MemoryPrediction LargestOfStages(const RunConfig& config, int64_t& stage) {
  MemoryPrediction largest;
  for (const StageLoad& load : LoadsOfStages(config, /*balances_head=*/true)) {
    const MemoryPrediction memory = PredictStageMemory(config, load.stage);
    if (memory.Total() <= largest.Total()) continue;
    largest = memory;
    stage = load.stage;
  }
  return largest;
}

}  // namespace

// Checks only the first and the last stage. Middle stages need less memory than the first, because
// they store fewer micro-batches, have at most as many layers, and have no embedding table.
MemoryPrediction PeakMemory(const RunConfig& config, int64_t& stage) {
  if (HasExperts(config.model)) return LargestOfStages(config, stage);
  const int64_t last = config.layout.pp - 1;
  const MemoryPrediction first = PredictStageMemory(config, 0);
  stage = 0;
  if (last == 0) return first;
  const MemoryPrediction end = PredictStageMemory(config, last);
  if (end.Total() <= first.Total()) return first;
  stage = last;
  return end;
}

bool FitsInto(const MemoryPrediction& memory, const DeviceSpec& device) {
  return memory.Required() <= static_cast<double>(device.rating->memory_bytes);
}

LayoutSearch SearchLayouts(const RunConfig& config, const Cluster& cluster) {
  return Search(config, cluster).Run();
}

PlannedLayout PlanGivenLayout(const RunConfig& config, const Cluster& cluster) {
  PlannedLayout planned{.layout = config.layout};
  planned.memory = PeakMemory(config, planned.memory_stage);
  planned.step = PredictStep(config, cluster);
  return planned;
}

LargerCluster FewestNodes(const RunConfig& config, const Cluster& cluster, int64_t most_nodes) {
  ClusterSearch search(config);
  Cluster larger = cluster;
  larger.tree = nullptr;  // Its nodes are not known.
  const int64_t least = std::max<int64_t>(NodesOfState(config, cluster), 1);
  larger.nodes = std::max(cluster.nodes + 1, least);
  for (; larger.nodes <= most_nodes && !search.IsSpent(); ++larger.nodes) {
    if (search.SomeLayoutFits(larger)) return {larger.nodes, larger.nodes};
  }
  // When the search budget runs out, the last cluster is only partly searched and does not count as
  // tried.
  return {std::nullopt, search.IsSpent() ? larger.nodes - 2 : most_nodes};
}

}  // namespace trainyard::planner
