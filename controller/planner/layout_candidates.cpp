#include "controller/planner/layout_candidates.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "proto/model/model_size.h"
#include "proto/rules/attention_rules.h"
#include "proto/rules/fp8_products.h"
#include "proto/rules/planned_features.h"
#include "proto/rules/run_rules.h"

namespace trainyard::planner {
namespace {

// The maximum number of model chunks per pipeline stage. With more chunks, the pipeline bubble
// hardly shrinks further, but more data is transferred.
constexpr int64_t kMostChunks = 16;
// The limit for models with experts. This limit is lower, so that there are fewer layouts.
constexpr int64_t kMostChunksOfExperts = 4;

// Returns the run without its layout, except for the layout settings that the search does not
// vary.
RunConfig BlankLayout(const RunConfig& config) {
  RunConfig blank = config;
  LayoutConfig layout;
  // Without sequence parallelism, the rows of tensor-parallel ranks would be copies, which experts
  // would process several times.
  layout.sequence_parallel = config.layout.sequence_parallel || HasExperts(config.model);
  layout.cp_comm_type = config.layout.cp_comm_type;
  layout.moe_token_dispatcher_type = config.layout.moe_token_dispatcher_type;
  // Whole experts have fewer rules than divided experts and are visited first.
  layout.etp = HasExperts(config.model) ? 1 : 0;
  blank.layout = layout;
  // The data sections are cleared, because their rules do not depend on the layout. The attention
  // backends that a layout can use depend on one setting.
  blank.data = {};
  blank.data.reset_attention_mask = config.data.reset_attention_mask;
  blank.evaluation.sets.clear();
  return blank;
}

// Finds settings that trainyard-trainer does not support. Some of them depend on the layout.
std::vector<SettingProblem> FindTrainerLimits(const RunConfig& config) {
  std::vector<SettingProblem> problems = FindUntrainable(config);
  for (SettingProblem& problem : FindAttentionProblems(config)) {
    problems.push_back(std::move(problem));
  }
  return problems;
}

std::set<std::string> KeysOf(const std::vector<SettingProblem>& problems) {
  std::set<std::string> keys;
  for (const SettingProblem& problem : problems) keys.insert(problem.key);
  return keys;
}

class GroupWalk {
 public:
  GroupWalk(const RunConfig& config, const Cluster& cluster, const VisitGroup& visit,
            const VisitRefused& refused)
      : config_(BlankLayout(config)),
        cluster_(cluster),
        visit_(visit),
        refused_(refused),
        keeps_whole_experts_(HasWholeExperts(config.layout)),
        untrainable_(KeysOf(FindTrainerLimits(config_))) {}

  void Run() {
    const int64_t devices = cluster_.devices();
    for (const int64_t tp : DivisorsOf(devices)) {
      if (cluster_.per_node % tp != 0) {
        Refuse("tensor-parallel ranks would span several nodes");
        continue;
      }
      for (const int64_t cp : DivisorsOf(devices / tp)) {
        for (const int64_t pp : DivisorsOf(devices / tp / cp)) {
          if (ended_) return;
          LayoutConfig& layout = config_.layout;
          layout.tp = tp;
          layout.cp = cp;
          layout.pp = pp;
          layout.dp = devices / tp / cp / pp;
          VisitSchedules();
        }
      }
    }
  }

 private:
  void Refuse(const std::string& reason) { ended_ = refused_(reason, 1) == Walk::kEnd || ended_; }

  void VisitSchedules() {
    LayoutConfig& layout = config_.layout;
    const int64_t layers = config_.model.num_layers;
    const int64_t limit = HasExperts(config_.model) ? kMostChunksOfExperts : kMostChunks;
    const int64_t most = layout.pp == 1 ? 1 : std::min(layers / layout.pp, limit);
    for (int64_t chunks = 1; chunks <= std::max<int64_t>(most, 1) && !ended_; ++chunks) {
      layout.vpp = chunks;
      for (const bool zero_bubble : {false, true}) {
        const bool is_searched =
            layout.pp > 1 && !HasExperts(config_.model) && !HasFp8(config_.train);
        if (zero_bubble && !is_searched) continue;
        layout.zero_bubble = zero_bubble;
        VisitMicroBatches();
      }
    }
    layout.zero_bubble = false;
    layout.vpp = 1;
  }

  // If dp does not divide the batch, visits only micro-batch 1, so that the rule check reports the
  // problem once.
  void VisitMicroBatches() {
    LayoutConfig& layout = config_.layout;
    const int64_t batch = config_.train.global_batch;
    const std::vector<int64_t> sizes =
        batch % layout.dp == 0 ? DivisorsOf(batch / layout.dp) : std::vector<int64_t>{1};
    for (const int64_t size : sizes) {
      if (ended_) return;
      layout.micro_batch = size;
      const std::vector<SettingProblem> problems = FindTrainingProblems(config_);
      if (!problems.empty()) {
        Refuse("breaks a rule of " + problems.front().key);
        continue;
      }
      if (!VisitExpertSizes()) return;
    }
  }

  // Returns the numbers of groups of ranks over which experts can be distributed, largest first,
  // because larger numbers need less memory per rank.
  std::vector<int64_t> ExpertSizes(int64_t etp) const {
    const LayoutConfig& layout = config_.layout;
    const int64_t groups = layout.dp * (etp == 1 ? layout.tp * layout.cp : 1);
    std::vector<int64_t> sizes = DivisorsOf(std::gcd(groups, config_.model.num_experts));
    std::reverse(sizes.begin(), sizes.end());
    return sizes;
  }

  // Visits the possible sizes of ep. Returns false if larger micro-batches need not be visited: the
  // search has ended, or not even the largest ep fits. Dividing experts among tensor-parallel ranks
  // needs less memory, but each of these ranks then receives the rows of all these ranks. Such
  // layouts are visited only if whole experts do not fit.
  bool VisitExpertSizes() {
    if (!HasExperts(config_.model)) return VisitSizes({1}, config_.layout.etp) && !ended_;
    const int64_t tp = config_.layout.tp;
    if (VisitSizes(ExpertSizes(1), 1)) return !ended_;
    const bool may_divide = !ended_ && tp > 1 && !keeps_whole_experts_;
    return may_divide && VisitSizes(ExpertSizes(tp), tp) && !ended_;
  }

  // Visits the groups with these sizes of ep, until a group does not fit. Returns true if some
  // layout fits.
  bool VisitSizes(const std::vector<int64_t>& sizes, int64_t etp) {
    bool fits = false;
    for (const int64_t size : sizes) {
      RunConfig group = config_;
      group.layout.ep = size;
      group.layout.etp = etp;
      if (ended_) return fits;
      if (!KeepsRules(group)) continue;
      if (VisitGroupOf(group) != Walk::kContinue) return fits;
      fits = true;
    }
    return fits;
  }

  // Refuses a layout that breaks a rule for divided experts or that the trainer would refuse.
  // Limits that do not depend on the layout, such as the FP8 limit, do not count, because runs
  // beyond such limits can be planned.
  bool KeepsRules(const RunConfig& group) {
    if (group.layout.etp > 1) {
      const std::vector<SettingProblem> problems = FindFeatureProblems(group);
      if (!problems.empty()) {
        Refuse("breaks a rule of " + problems.front().key);
        return false;
      }
    }
    for (const SettingProblem& problem : FindTrainerLimits(group)) {
      if (untrainable_.contains(problem.key)) continue;
      Refuse("breaks a rule of " + problem.key);
      return false;
    }
    return true;
  }

  Walk VisitGroupOf(const RunConfig& group) {
    const Walk next = visit_(group);
    ended_ = ended_ || next == Walk::kEnd;
    return next;
  }

  RunConfig config_;
  const Cluster& cluster_;
  const VisitGroup& visit_;
  const VisitRefused& refused_;
  const bool keeps_whole_experts_;
  // Keys of settings that the trainer does not support in any layout.
  const std::set<std::string> untrainable_;
  bool ended_ = false;
};

}  // namespace

std::vector<int64_t> DivisorsOf(int64_t whole) {
  std::vector<int64_t> small, large;
  for (int64_t divisor = 1; divisor <= whole / divisor; ++divisor) {
    if (whole % divisor != 0) continue;
    small.push_back(divisor);
    if (divisor != whole / divisor) large.push_back(whole / divisor);
  }
  small.insert(small.end(), large.rbegin(), large.rend());
  return small;
}

void VisitGroups(const RunConfig& config, const Cluster& cluster, const VisitGroup& visit,
                 const VisitRefused& refused) {
  GroupWalk(config, cluster, visit, refused).Run();
}

std::vector<LayoutConfig> MembersOfGroup(const RunConfig& config) {
  const LayoutConfig& layout = config.layout;
  std::vector<LayoutConfig> members;
  const bool has_experts = HasExperts(config.model);
  const bool is_alone = layout.dp * layout.cp == 1;
  const int64_t most_sharded = is_alone ? 0 : has_experts ? 1 : 3;
  for (int64_t zero = has_experts ? most_sharded : 0; zero <= most_sharded; ++zero) {
    for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
      LayoutConfig member = layout;
      member.zero = zero;
      member.recompute = recompute;
      members.push_back(member);
    }
  }
  return members;
}

}  // namespace trainyard::planner
