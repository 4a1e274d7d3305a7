// A job behind a promised head of its queue starts only if the head's promised time does not move.
// The promises are computed here from the nodes, with and without the started jobs. A step is left
// out if expected ends of running jobs change in it, if a node is closed or reserved, or if another
// job that waits precedes the head, for example at a limit of its queue. Heads behind the first one
// are left out if a job requests CPU cores or memory, because the core then only estimates how many
// slots the heads before it take.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/schedule/expected_ends.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/schedule/queue_order.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/nodes/host_capacity.h"
#include "controller/core/state/slots/class_of_job.h"
#include "tests/simulation/checkers/checker.h"
#include "tests/simulation/checkers/head_plan_model.h"

namespace trainyard::simulation {
namespace {

using controller::GangShape;
using controller::kNever;

// Expected ends change a little with each report of a step.
constexpr int64_t kSlackMs = 1000;

// Returns true for events after which the head's promise may change for a reason other than the
// start of a job, if they follow the start in the same step.
bool MayMovePromise(const v1::Event& event) {
  switch (event.kind_case()) {
    case v1::Event::kJobSubmitted:
    case v1::Event::kAttemptRunning:
    case v1::Event::kRankStarted:
    case v1::Event::kLayoutChosen:
    case v1::Event::kCheckpointPublished:
    case v1::Event::kFactsReceived:
      return false;
    default:
      return true;
  }
}

// Returns true for events after which a node takes ranks again.
bool OpensNode(const v1::Event& event) {
  return event.has_node_returned() || event.has_node_healthy() || event.has_node_released();
}

// A pass counts the time to save after a time limit (the default stop_grace) for the jobs that it
// starts, and the expected end of a running job does not. If several jobs start in a step, the
// passes that started them are not known.
constexpr int64_t kGraceMs = 61'000;

class HeadsAreNotDelayedChecker : public Checker {
 public:
  const char* Name() const override { return "heads are not delayed"; }

  std::string Check(const Step& step) override {
    std::vector<Watch> watches;
    for (const int64_t head : std::exchange(heads_, HeadsOf(step))) watches.push_back({head});
    const Ends expected_before = std::exchange(expected_, ExpectedOf(step));
    placed_ends_.clear();
    stopping_ = StoppingJobs(step);
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      // All starts of a pass follow the order at its beginning. A step may have several passes, and
      // the starts of a pass may change the order for the next one.
      const bool begins_pass =
          event.has_job_placed() && (i == step.first_new || !step.log[i - 1].has_job_placed());
      if (begins_pass) {
        order_ = JobsInOrder(before_, v1::DEVICE_KIND_CPU, step.controller_now);
      }
      if (event.has_job_placed()) NoteEnd(event);
      for (Watch& watch : watches) Note(event, step.controller_now, watch);
      Apply(event, before_);
    }
    if (IsAnyNodeClosed(step) || !step.state.node_reservations.empty()) return "";
    if (HasChanged(expected_before)) return "";
    for (std::size_t i = 0; i < watches.size() && i < heads_.size(); ++i) {
      if (watches[i].head != heads_[i] || !IsNext(i)) return "";
      if (watches[i].started.empty() || !watches[i].is_clear) continue;
      const std::string wrong = Delay(step, i, watches[i].started);
      if (!wrong.empty()) return wrong;
    }
    return "";
  }

 private:
  // The expected ends of jobs.
  using Ends = std::map<int64_t, Timestamp>;

  // A promised head, and the jobs behind it that start in a step.
  struct Watch {
    int64_t head = 0;
    std::set<int64_t> started;
    // True if no other event of the step may move the promise.
    bool is_clear = true;
  };

  static std::vector<int64_t> HeadsOf(const Step& step) {
    std::vector<int64_t> ids;
    for (const auto& head : step.view.schedule.PromisedHeadsOf(step.state, v1::DEVICE_KIND_CPU)) {
      ids.push_back(head.job_id);
    }
    return ids;
  }

  static std::set<int64_t> StoppingJobs(const Step& step) {
    std::set<int64_t> jobs;
    for (const int64_t id : step.state.live_jobs) {
      if (LiveAttempt(step.state.jobs.at(id))->stopping_time_ms() != 0) jobs.insert(id);
    }
    return jobs;
  }

  // Notes the latest end of a started job, which the pass assumes.
  void NoteEnd(const v1::Event& placed) {
    const v1::Job& job = before_.jobs.at(placed.job_placed().job_id()).job;
    placed_ends_[job.id()] = std::min(LatestEnd(controller::ClassOf(job), placed.time_ms()),
                                      placed.time_ms() + controller::kUnknownRunMs);
  }

  // A job that precedes the head may delay it. If such a job starts after a job behind the head, in
  // a later pass of the step, the two delays cannot be told apart. A pass does not know yet that a
  // node returned in the same tick.
  void Note(const v1::Event& event, Timestamp now, Watch& watch) const {
    if (event.has_job_placed() && StartsBehind(watch.head, event, now)) {
      watch.started.insert(event.job_placed().job_id());
    } else if (!watch.started.empty() || event.has_attempt_yielded() || OpensNode(event)) {
      watch.is_clear = watch.is_clear && !MayMovePromise(event);
    }
  }

  // Returns a complaint if the started jobs delay the head at this position.
  std::string Delay(const Step& step, std::size_t position,
                    const std::set<int64_t>& started) const {
    Timestamp with = 0, without = 0;
    const bool is_exact = placed_ends_.size() == 1;
    if (position == 0) {
      with = FirstPromise(step, {});
      without = FirstPromise(step, started);
    } else {
      if (!is_exact || AnyRequestsHost(step)) return "";
      with = PlannedPromise(step, position, {});
      without = PlannedPromise(step, position, started);
    }
    // Later times are those of jobs without known ends.
    const bool is_known = without < step.controller_now + controller::kUnknownRunMs / 2;
    if (!is_known || with <= without + (is_exact ? kSlackMs : kGraceMs)) return "";
    return absl::StrCat("job ", *started.begin(), " delays job ", heads_[position], ", head ",
                        position + 1, ", by ", with - without, " ms");
  }

  // Returns true if the job was behind the head, both at the beginning of the pass and at its
  // placement, and had no slots of its own.
  bool StartsBehind(int64_t head, const v1::Event& event, Timestamp now) const {
    const int64_t job = event.job_placed().job_id();
    return job != head && !before_.reservations.contains(job) && IsBehind(order_, head, job) &&
           IsBehind(JobsInOrder(before_, v1::DEVICE_KIND_CPU, now), head, job);
  }

  static bool IsBehind(const std::vector<int64_t>& order, int64_t head, int64_t job) {
    return std::find(std::ranges::find(order, head), order.end(), job) != order.end();
  }

  // Returns true if a node that takes ranks is unhealthy, or cannot be reached after the step.
  static bool IsAnyNodeClosed(const Step& step) {
    return std::ranges::any_of(step.state.nodes, [&](const auto& item) {
      const auto observed = step.view.observations.nodes.find(item.first);
      const bool takes_commands =
          observed != step.view.observations.nodes.end() && observed->second.takes_commands;
      const v1::Node& node = item.second.node;
      return controller::TakesRanks(node) && (node.has_health() || !takes_commands);
    });
  }

  // Returns true if all jobs before the head at this position, in the order of the newest pass,
  // were placed or are heads.
  bool IsNext(std::size_t position) const {
    const auto heads_end = heads_.begin() + static_cast<std::ptrdiff_t>(position);
    return std::all_of(
        order_.begin(), std::ranges::find(order_, heads_[position]), [&](const int64_t id) {
          return placed_ends_.contains(id) || std::find(heads_.begin(), heads_end, id) != heads_end;
        });
  }

  static Ends ExpectedOf(const Step& step) {
    Ends ends;
    const auto expected = ExpectedEndsOf(step.state, step.view.observations, step.controller_now);
    for (const int64_t id : step.state.live_jobs) ends[id] = expected(id);
    return ends;
  }

  // Returns true if the expected end of a job that did not start in this step has changed.
  bool HasChanged(const Ends& before) const {
    return std::ranges::any_of(expected_, [&](const auto& item) {
      const auto found = before.find(item.first);
      const bool is_known = found != before.end();
      return !placed_ends_.contains(item.first) &&
             (!is_known || std::abs(found->second - item.second) > kSlackMs);
    });
  }

  // Returns the time at which the job frees its slots if it ends when it is expected to. An attempt
  // that was asked to stop ends at once: like all attempts at least a millisecond from now, because
  // the order of two ends decides which slots the plan gives to a head.
  Timestamp EndOf(int64_t job_id, Timestamp now, const std::set<int64_t>& without) const {
    if (job_id == 0 || without.contains(job_id)) return now;
    if (const auto placed = placed_ends_.find(job_id); placed != placed_ends_.end()) {
      return placed->second;
    }
    if (stopping_.contains(job_id)) return now + 1;
    const auto expected = expected_.find(job_id);
    return expected == expected_.end() ? kNever : std::max(now, expected->second);
  }

  static bool AnyRequestsHost(const Step& step) {
    return std::ranges::any_of(step.state.jobs, [](const auto& item) {
      return !controller::GangRequestOf(item.second.job.spec()).host.IsZero();
    });
  }

  // Returns the time at which the head at this position fits beside the heads before it. The slots
  // of the jobs in `without` count as free.
  Timestamp PlannedPromise(const Step& step, std::size_t position,
                           const std::set<int64_t>& without) const {
    const Timestamp now = step.controller_now;
    std::map<std::string, std::vector<ModelSlot>> nodes;
    for (const auto& [id, entry] : step.state.nodes) {
      if (!controller::TakesRanks(entry.node)) continue;
      for (const v1::SlotUse& use : entry.node.slot_uses()) {
        const bool is_uncleared = entry.uncleared.contains(controller::HolderOf(use));
        nodes[id].push_back(
            {use.job_id(), is_uncleared ? kNever : EndOf(use.job_id(), now, without)});
      }
    }
    HeadPlanModel plan(std::move(nodes), now);
    Timestamp time = kNever;
    for (std::size_t i = 0; i <= position; ++i) {
      const controller::JobEntry& head = step.state.jobs.at(heads_[i]);
      const Timestamp end =
          std::min(LatestEnd(controller::ClassOf(head.job), now), now + controller::kUnknownRunMs);
      time = plan.Plan({heads_[i], LeastShape(head), end - now});
      if (time >= now + controller::kUnknownRunMs / 2) return kNever;
    }
    return time;
  }

  // Returns the time at which the first head fits if running jobs end when they are expected to.
  // The slots of the jobs in `without` count as free.
  Timestamp FirstPromise(const Step& step, const std::set<int64_t>& without) const {
    const Timestamp now = step.controller_now;
    const auto end_of = [&](int64_t id) { return id == heads_[0] ? now : EndOf(id, now, without); };
    const GangShape shape = LeastShape(step.state.jobs.at(heads_[0]));
    std::vector<Timestamp> times;
    for (const auto& [id, entry] : step.state.nodes) {
      if (!controller::TakesRanks(entry.node)) continue;
      std::vector<Release> releases;
      for (const v1::SlotUse& use : entry.node.slot_uses()) {
        const bool is_uncleared = entry.uncleared.contains(controller::HolderOf(use));
        releases.push_back(
            {is_uncleared ? kNever : end_of(use.job_id()), controller::HostRequestOf(use)});
      }
      times.push_back(FitsAt(entry, shape, releases));
    }
    std::ranges::sort(times);
    if (std::ssize(times) < shape.nodes) return kNever;
    return times[static_cast<std::size_t>(shape.nodes - 1)];
  }

  // A slot that becomes free, with the request of its rank.
  struct Release {
    Timestamp time = 0;
    controller::HostAmount host;
  };

  // Returns the time at which a node of the gang fits on the node.
  static Timestamp FitsAt(const controller::NodeEntry& node, const GangShape& shape,
                          std::vector<Release>& releases) {
    std::ranges::sort(releases, {}, &Release::time);
    controller::HostAmount host = node.free_host;
    int slots = 0;
    for (const Release& release : releases) {
      host = host + release.host;
      if (++slots >= shape.slots_per_node && host.Covers(shape.HostPerNode())) return release.time;
    }
    return kNever;
  }

  // The state before the next event of the log.
  controller::ClusterState before_;
  std::vector<int64_t> order_;
  // The promised heads of the newest schedule, in order.
  std::vector<int64_t> heads_;
  // The jobs whose live attempts stop after the step.
  std::set<int64_t> stopping_;
  // The latest ends of the jobs that were placed in the step.
  Ends placed_ends_;
  // The expected ends of the live jobs after the step.
  Ends expected_;
};

}  // namespace

std::unique_ptr<Checker> HeadsAreNotDelayed() {
  return std::make_unique<HeadsAreNotDelayedChecker>();
}

}  // namespace trainyard::simulation
