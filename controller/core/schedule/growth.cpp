#include "controller/core/schedule/growth.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/health/start_evidence.h"
#include "controller/core/observations/expected_end.h"
#include "controller/core/schedule/elastic_gang.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/schedule/open_nodes.h"
#include "controller/core/schedule/preemption.h"
#include "controller/core/state/attempts/elastic_yield.h"
#include "controller/core/state/attempts/gang.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/attempts/work_at_risk.h"
#include "controller/core/state/attempts/yield.h"
#include "controller/core/state/slots/class_of_job.h"
#include "proto/contract/phase.h"
#include "proto/jobspec/fields/node_range.h"
#include "proto/jobspec/rules/elastic_size.h"
#include "proto/support/job_kind.h"
#include "proto/text/duration_text.h"

namespace trainyard::controller {
namespace {

bool MayGrow(const JobEntry& entry, int64_t interval_ms, Timestamp now) {
  const v1::JobSpec& spec = entry.job.spec();
  const v1::Attempt& live = *LiveAttempt(entry);
  return IsElastic(spec) && entry.job.state() == v1::JOB_STATE_RUNNING &&
         live.layout().nodes() < spec.resources().nodes() &&
         now - live.placed_time_ms() >= interval_ms;
}

// A larger size of a job, and the time that it is predicted to save.
struct Growth {
  int64_t job_id = 0;
  int nodes = 0;
  int64_t gain_ms = 0;
};

class GrowthSearch {
 public:
  GrowthSearch(const ClusterState& state, const Observations& observations,
               const GrowthLimits& limits, Timestamp now)
      : state_(state), observations_(observations), limits_(limits), now_(now) {}

  // Returns the growth that saves most.
  std::optional<Growth> Best(std::vector<LayoutQuestion>& questions) {
    std::optional<Growth> best;
    for (const int64_t job_id : state_.live_jobs) {
      const JobEntry& entry = state_.jobs.at(job_id);
      if (LiveAttempt(entry)->yield().cause() == v1::YIELD_CAUSE_GROW) return std::nullopt;
      const bool may_grow = MayGrow(entry, limits_.interval_ms, now_) && CanYield(entry) &&
                            !AnyWaitsFor(entry.job.spec().resources().device());
      if (!may_grow) continue;
      const auto growth = GrowthOf(entry, questions);
      if (!growth.has_value()) continue;
      if (!best.has_value() || growth->gain_ms > best->gain_ms) best = growth;
    }
    return best;
  }

 private:
  bool AnyWaitsFor(v1::DeviceKind kind) const {
    const auto found = state_.pending_classes.lower_bound({.kind = kind});
    return found != state_.pending_classes.end() && found->first.kind == kind;
  }

  std::optional<Growth> GrowthOf(const JobEntry& entry,
                                 std::vector<LayoutQuestion>& questions) const {
    const v1::Attempt& live = *LiveAttempt(entry);
    const GangRequest request = GangRequestOf(entry.job.spec());
    const int now_nodes = TrainingNodes(live);
    const int own = static_cast<int>(GangNodes(live).size());
    const int most = std::min(NodesInQuota(QuotaPass(state_), entry, own),
                              CountOpenNodesFor(state_, limits_.nodes, entry, request.nodes));
    if (most <= now_nodes) return std::nullopt;
    const auto layout = LayoutOn(entry, most, questions);
    if (!layout.has_value() || layout->nodes() <= now_nodes) return std::nullopt;
    const std::optional<Timestamp> end = ExpectedEnd(entry, observations_, now_);
    if (!end.has_value()) return std::nullopt;
    const double part = 1 - TimeRatio(live, *layout);
    const auto gain_ms = static_cast<int64_t>(part * static_cast<double>(*end - now_));
    const auto cost_ms = static_cast<double>(GrowthCostMs(entry, observations_, now_));
    if (static_cast<double>(gain_ms) < kGainPerGrowthCost * cost_ms) return std::nullopt;
    return Growth{entry.job.id(), layout->nodes(), gain_ms};
  }

  std::optional<v1::GrantedLayout> LayoutOn(const JobEntry& entry, int most,
                                            std::vector<LayoutQuestion>& questions) const {
    const GangRequest request = GangRequestOf(entry.job.spec());
    if (!request.auto_layout) return WrittenLayoutOn(entry.job.spec(), most);
    const GangShape shape = request.ShapeOn(std::min(most, request.nodes));
    const std::vector<std::string> devices = DevicesForLayouts(state_, entry.job.spec(), shape);
    if (devices.empty()) return std::nullopt;
    // The job stays on its kind of device, if that kind has enough nodes.
    const auto same = std::ranges::find(devices, LiveAttempt(entry)->layout().device());
    LayoutQuestion question{entry.job.id(), shape, same == devices.end() ? devices.front() : *same};
    const v1::GrantedLayout* choice = FindChoice(entry, question);
    if (choice != nullptr) return *choice;
    questions.push_back(std::move(question));
    return std::nullopt;
  }

  // Returns the time of a step on the larger gang, relative to the present one.
  static double TimeRatio(const v1::Attempt& live, const v1::GrantedLayout& larger) {
    const double now_s = live.layout().step_seconds(), then_s = larger.step_seconds();
    if (now_s > 0 && then_s > 0) return then_s / now_s;
    return static_cast<double>(live.layout().nodes()) / larger.nodes();
  }

  const ClusterState& state_;
  const Observations& observations_;
  const GrowthLimits& limits_;
  const Timestamp now_;
};

}  // namespace

bool MayAnyGrow(const ClusterState& state, int64_t interval_ms, Timestamp now) {
  return std::ranges::any_of(state.live_jobs, [&](const int64_t job_id) {
    return MayGrow(state.jobs.at(job_id), interval_ms, now);
  });
}

int64_t GrowthCostMs(const JobEntry& entry, const Observations& observations, Timestamp now) {
  const v1::Attempt& live = *LiveAttempt(entry);
  const auto save_ms =
      LongestPhaseMs(observations, entry.job.id(), std::string(PhaseName(Phase::kCheckpoint)));
  const auto start_ms = LongestStartMs(entry.job);
  int64_t cost_ms =
      start_ms.has_value() && save_ms.has_value() ? *start_ms + *save_ms : RestartCostMs(entry.job);
  if (ProgramRulesOf(entry.job.spec()).stops_without_loss) return cost_ms;
  const auto progress = observations.progress.find(entry.job.id());
  const int64_t step = progress == observations.progress.end() ? 0 : progress->second.step();
  const WorkAtRisk work = WorkAtRiskOf(entry.job, live, step);
  return cost_ms + (work.since_ms == 0 ? 0 : now - work.since_ms);
}

std::vector<v1::Event> GrowthDue(const ClusterState& state, const Observations& observations,
                                 const GrowthLimits& limits, Timestamp now, Schedule& schedule) {
  const auto growth =
      GrowthSearch(state, observations, limits, now).Best(schedule.layout_questions);
  if (!growth.has_value()) return {};
  const JobEntry& entry = state.jobs.at(growth->job_id);
  v1::Yield yield;
  yield.set_cause(v1::YIELD_CAUSE_GROW);
  yield.set_reason(absl::StrCat("it can continue on ", growth->nodes, " instead of ",
                                TrainingNodes(*LiveAttempt(entry)), " nodes, which saves about ",
                                DurationText(growth->gain_ms)));
  KeepOtherNodes(entry, {}, yield);
  auto event = YieldEvent(entry, yield, now);
  if (!event.has_value()) return {};
  return {*std::move(event)};
}

}  // namespace trainyard::controller
