// A preemption takes slots only from jobs that are strictly lower in order, or from small jobs for
// a head that requests whole nodes. With the slots of the preempted jobs the head fits, node by
// node, and without any one of them it does not. No attempt is preempted at its beginning, and no
// job more often than allowed.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/jobs/job_timing.h"
#include "controller/core/state/nodes/host_capacity.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/queues.h"
#include "controller/core/verdict/verdict_facts.h"
#include "proto/support/job_kind.h"
#include "tests/simulation/checkers/checker.h"
#include "tests/simulation/checkers/reservation_model.h"
#include "tests/simulation/world/simulated_preemption.h"

namespace trainyard::simulation {
namespace {

using controller::GangShape;
using controller::JobEntry;

bool IsPreemption(const v1::Event& event) {
  return event.attempt_yielded().yield().cause() == v1::YIELD_CAUSE_PREEMPTED;
}

class PreemptionsAreJustChecker : public Checker {
 public:
  const char* Name() const override { return "preemptions are just"; }

  std::string Check(const Step& step) override {
    for (std::size_t i = step.first_new; i < step.log.size(); ++i) {
      const v1::Event& event = step.log[i];
      if (event.has_clock_set()) Shift(event.clock_set().step_ms());
      // The yields of one preemption follow one another.
      if (IsPreemption(event) && !FollowsSameHead(step, i)) {
        if (std::string wrong = CheckPreemption(step, i); !wrong.empty()) return wrong;
      }
      Apply(event, before_);
    }
    return "";
  }

 private:
  static int64_t HeadOf(const v1::Event& event) {
    return event.attempt_yielded().yield().for_job_id();
  }

  static bool FollowsSameHead(const Step& step, std::size_t i) {
    return i > step.first_new && IsPreemption(step.log[i - 1]) &&
           HeadOf(step.log[i - 1]) == HeadOf(step.log[i]);
  }

  std::string CheckPreemption(const Step& step, std::size_t first) {
    const Timestamp now = step.log[first].time_ms();
    const JobEntry* head = FindEntry(before_, HeadOf(step.log[first]));
    if (head == nullptr) return "the head is not in the state";
    if (!before_.pending_jobs.Contains(controller::QueueKeyOf(head->job))) {
      return absl::StrCat("job ", head->job.id(), " preempts, but does not wait");
    }
    if (now - controller::QueuedSince(head->job) < kSimulatedPreemption.wait_ms) {
      return absl::StrCat("job ", head->job.id(), " preempts without having waited");
    }
    std::set<int64_t> victims;
    for (std::size_t i = first;
         i < step.log.size() && IsPreemption(step.log[i]) && HeadOf(step.log[i]) == head->job.id();
         ++i) {
      const int64_t victim = step.log[i].attempt_yielded().job_id();
      victims.insert(victim);
      const int most = step.view.options.preemption.per_window;
      if (std::string wrong = CheckVictim(*head, victim, now, most); !wrong.empty()) return wrong;
    }
    return CheckSet(step, *head, now, victims);
  }

  // `most`: the maximum number of preemptions of a job within the window.
  std::string CheckVictim(const JobEntry& head, int64_t id, Timestamp now, int most) {
    const JobEntry& entry = before_.jobs.at(id);
    const v1::Attempt* live = LiveAttempt(entry);
    if (live == nullptr || live->state() != v1::ATTEMPT_STATE_RUNNING) {
      return absl::StrCat("job ", id, " was preempted, but does not run");
    }
    if (now - live->started_time_ms() < kSimulatedPreemption.run_ms) {
      return absl::StrCat("job ", id, " was preempted at the beginning of its attempt");
    }
    std::deque<Timestamp>& times = preempted_at_[id];
    while (!times.empty() && times.front() <= now - kSimulatedPreemption.window_ms) {
      times.pop_front();
    }
    if (static_cast<int>(times.size()) >= most) {
      return absl::StrCat("job ", id, " was preempted too often");
    }
    times.push_back(now);
    const auto level = [&](const v1::Job& job) {
      const v1::Queue queue = QueueNamed(before_, controller::QueueOf(job));
      return std::make_pair(queue.tier(), job.priority());
    };
    if (level(entry.job) < level(head.job)) return "";
    const GangShape shape = LeastShape(head);
    const bool small_for_whole_nodes = level(entry.job) == level(head.job) &&
                                       ProgramRulesOf(entry.job.spec()).stops_without_loss &&
                                       2 * live->ranks_size() <= shape.slots_per_node;
    if (small_for_whole_nodes) return "";
    return absl::StrCat("job ", id, " is not below job ", head.job.id());
  }

  // Checks that the head fits with the slots of all victims, and does not fit without any of them.
  std::string CheckSet(const Step& step, const JobEntry& head, Timestamp now,
                       const std::set<int64_t>& victims) const {
    // A controller that was restarted at the end of the step has no observations.
    if (step.view.observations.nodes.empty()) return "";
    const GangShape shape = LeastShape(head);
    const int fitting = CountFitting(step, head, now, victims);
    if (fitting < shape.nodes) {
      return absl::StrCat("job ", head.job.id(), " preempts, but then has only ", fitting, " of ",
                          shape.nodes, " nodes");
    }
    for (const int64_t id : victims) {
      std::set<int64_t> others = victims;
      others.erase(id);
      if (CountFitting(step, head, now, others) < shape.nodes) continue;
      return absl::StrCat("job ", id, " was preempted for job ", head.job.id(),
                          ", which fits without its slots");
    }
    return "";
  }

  // Counts the nodes that can have a node of the head's gang if the slots of `victims` are free.
  int CountFitting(const Step& step, const JobEntry& head, Timestamp now,
                   const std::set<int64_t>& victims) const {
    const GangShape shape = LeastShape(head);
    const std::set<std::string> to_avoid = controller::NodesToAvoid(head.job);
    return static_cast<int>(std::ranges::count_if(before_.nodes, [&](const auto& item) {
      const auto& [id, entry] = item;
      const auto observed = step.view.observations.nodes.find(id);
      const bool is_open = controller::TakesRanks(entry.node) && !entry.node.has_health() &&
                           observed != step.view.observations.nodes.end() &&
                           observed->second.takes_commands && !to_avoid.contains(id);
      return is_open && HoldsHead(entry, head.job.id(), shape, victims) &&
             ReservationAgainst(before_, head, entry.node.name(), now).empty();
    }));
  }

  static bool HoldsHead(const controller::NodeEntry& entry, int64_t head, const GangShape& shape,
                        const std::set<int64_t>& victims) {
    int slots = 0;
    controller::HostAmount host = controller::HostOf(entry.node);
    for (const v1::SlotUse& use : entry.node.slot_uses()) {
      const bool ends = use.job_id() == head || victims.contains(use.job_id());
      const bool is_free =
          use.job_id() == 0 || (ends && !entry.uncleared.contains(controller::HolderOf(use)));
      slots += is_free ? 1 : 0;
      if (!is_free) host = host - controller::HostRequestOf(use);
    }
    return slots >= shape.slots_per_node && host.Covers(shape.HostPerNode());
  }

  void Shift(int64_t step_ms) {
    for (auto& [id, times] : preempted_at_) {
      for (Timestamp& time : times) time += step_ms;
    }
  }

  // The state before the next event of the log.
  controller::ClusterState before_;
  std::map<int64_t, std::deque<Timestamp>> preempted_at_;
};

}  // namespace

std::unique_ptr<Checker> PreemptionsAreJust() {
  return std::make_unique<PreemptionsAreJustChecker>();
}

}  // namespace trainyard::simulation
