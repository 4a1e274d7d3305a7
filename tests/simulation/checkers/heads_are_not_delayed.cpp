// A job behind the head of its queue starts only if the head's promised time does not move. The
// promise is computed here from the nodes, with and without the started jobs. A step is left out if
// expected ends of running jobs change in it, if a node is closed or reserved, or if another job
// that waits precedes the head, for example at a limit of its queue.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/schedule/expected_ends.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/schedule/queue_order.h"
#include "controller/core/state/gang_request.h"
#include "controller/core/state/host_capacity.h"
#include "tests/simulation/checkers/checker.h"

namespace trainyard::simulation {
namespace {

using controller::GangShape;
using controller::kNever;

// Expected ends change a little with each report of a step.
constexpr int64_t kSlackMs = 1000;

// The promise of a pass counts the time to save after a time limit (the default stop_grace), the
// expected end of a running job does not.
constexpr int64_t kGraceMs = 61'000;

// Returns true for events after which the head's promise may change for a reason other than the
// start of a job, if they follow the start in the same step.
bool MayMovePromise(const v1::Event& event) {
  switch (event.kind_case()) {
    case v1::Event::kJobPlaced:
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

class HeadsAreNotDelayedChecker : public Checker {
 public:
  const char* Name() const override { return "heads are not delayed"; }

  std::string Check(const Step& step) override {
    const int64_t head_before = std::exchange(head_, HeadOf(step));
    const Ends expected_before = std::exchange(expected_, ExpectedOf(step));
    std::set<int64_t> placed, started;
    bool is_clear = true;
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      // All starts of a pass follow the order at its beginning. A step may have several passes, and
      // the starts of a pass may change the order for the next one.
      const bool begins_pass =
          event.has_job_placed() && (i == step.first_new || !step.log[i - 1].has_job_placed());
      if (begins_pass) {
        order_ = JobsInOrder(before_, v1::DEVICE_KIND_CPU, step.controller_now);
      }
      if (event.has_job_placed()) placed.insert(event.job_placed().job_id());
      if (event.has_job_placed() && StartsBehind(head_before, event, step.controller_now)) {
        started.insert(event.job_placed().job_id());
      } else if (!started.empty() || event.has_attempt_yielded()) {
        is_clear = is_clear && !MayMovePromise(event);
      }
      Apply(event, before_);
    }
    const bool same_head = head_before != 0 && head_before == head_;
    if (!same_head || started.empty() || !is_clear || IsAnyNodeClosed(step)) return "";
    if (!step.state.node_reservations.empty()) return "";
    if (HasChanged(expected_before, placed) || !IsFirst(placed)) return "";
    const Timestamp with = PromiseOf(step, {});
    const Timestamp without = PromiseOf(step, started);
    if (without == kNever || with <= without + kGraceMs) return "";
    return absl::StrCat("job ", *started.begin(), " delays job ", head_, " by ", with - without,
                        " ms");
  }

 private:
  // The expected ends of jobs.
  using Ends = std::map<int64_t, Timestamp>;

  static int64_t HeadOf(const Step& step) {
    const controller::QueueHead* head = step.view.schedule.HeadOf(v1::DEVICE_KIND_CPU);
    return head == nullptr ? 0 : head->job_id;
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

  // Returns true if all jobs before the head in the order of the newest pass were placed.
  bool IsFirst(const std::set<int64_t>& placed) const {
    return std::all_of(order_.begin(), std::ranges::find(order_, head_),
                       [&](const int64_t id) { return placed.contains(id); });
  }

  static Ends ExpectedOf(const Step& step) {
    Ends ends;
    const auto expected = ExpectedEndsOf(step.state, step.view.observations, step.controller_now);
    for (const int64_t id : step.state.live_jobs) ends[id] = expected(id);
    return ends;
  }

  // Returns true if the expected end of a job that did not start in this step has changed.
  bool HasChanged(const Ends& before, const std::set<int64_t>& started) const {
    return std::ranges::any_of(expected_, [&](const auto& item) {
      const auto found = before.find(item.first);
      const bool is_known = found != before.end();
      return !started.contains(item.first) &&
             (!is_known || std::abs(found->second - item.second) > kSlackMs);
    });
  }

  // Returns the time at which the head fits if running jobs end when they are expected to. The
  // slots of the jobs in `without` count as free.
  Timestamp PromiseOf(const Step& step, const std::set<int64_t>& without) const {
    const Timestamp now = step.controller_now;
    const auto end_of = [&](int64_t id) -> Timestamp {
      if (id == 0 || id == head_ || without.contains(id)) return now;
      const auto expected = expected_.find(id);
      return expected == expected_.end() ? kNever : std::max(now, expected->second);
    };
    const GangShape shape = LeastShape(step.state.jobs.at(head_));
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

  // The state before the next event of the log, and the head of the newest schedule; 0: none.
  controller::ClusterState before_;
  std::vector<int64_t> order_;
  int64_t head_ = 0;
  // The expected ends of the live jobs after the step.
  Ends expected_;
};

}  // namespace

std::unique_ptr<Checker> HeadsAreNotDelayed() {
  return std::make_unique<HeadsAreNotDelayedChecker>();
}

}  // namespace trainyard::simulation
