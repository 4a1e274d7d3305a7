// A job that starts leaves the limits of its queue what others need of them: the slots that
// recovering jobs lack, and those of the first promised head. The pass that started the job is not
// known, so a start is wrong only if it is wrong in all states of the step before it.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/schedule/queue_order.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/queues.h"
#include "tests/simulation/checkers/checker.h"
#include "tests/simulation/checkers/held_slots.h"

namespace trainyard::simulation {
namespace {

using controller::ClusterState;
using controller::JobClass;

// A state of the step.
struct Moment {
  // The slots that jobs hold, and those that recovering jobs lack.
  HeldSlots claimed;
  std::map<std::string, v1::SlotQuota> quotas = {};
  std::set<int64_t> recovering = {};
  // The waiting jobs in order.
  std::vector<int64_t> order = {};
};

int64_t SlotsOf(const JobClass& job_class) {
  return int64_t{job_class.nodes} * job_class.slots_per_node;
}

Moment MomentOf(const ClusterState& state, Timestamp now) {
  Moment moment{.claimed = CountHeldSlots(state, v1::DEVICE_KIND_CPU),
                .order = JobsInOrder(state, v1::DEVICE_KIND_CPU, now)};
  for (const auto& [name, queue] : state.queues) {
    moment.quotas[name] = controller::QuotaOf(queue, v1::DEVICE_KIND_CPU);
  }
  for (const auto& [id, reservation] : state.reservations) {
    moment.recovering.insert(id);
    const JobClass job_class = controller::ClassOf(state.jobs.at(id).job);
    int64_t missing = SlotsOf(job_class);
    for (const auto& [node, slots] : reservation.slots) missing -= std::ssize(slots);
    if (job_class.kind != v1::DEVICE_KIND_CPU || missing <= 0) continue;
    moment.claimed[{job_class.queue, ""}] += missing;
    if (!job_class.user.empty()) moment.claimed[{job_class.queue, job_class.user}] += missing;
  }
  return moment;
}

// Returns what is left of the limit of the queue, or of that of the user in the queue.
int64_t RestOf(const Moment& moment, const std::string& queue, const std::string& user) {
  const auto quota = moment.quotas.find(queue);
  if (quota == moment.quotas.end()) return std::numeric_limits<int64_t>::max();
  const int limit = user.empty() ? quota->second.max_slots() : quota->second.max_slots_per_user();
  if (limit == 0) return std::numeric_limits<int64_t>::max();
  const auto claimed = moment.claimed.find({queue, user});
  return limit - (claimed == moment.claimed.end() ? 0 : claimed->second);
}

class LimitsAreLeftChecker : public Checker {
 public:
  const char* Name() const override { return "limits are left"; }

  std::string Check(const Step& step) override {
    const controller::QueueHead* head = step.view.schedule.HeadOf(v1::DEVICE_KIND_CPU);
    const int64_t head_before = std::exchange(head_, head == nullptr ? 0 : head->job_id);
    const auto first = step.log.begin() + static_cast<std::ptrdiff_t>(step.first_new);
    const bool any_starts = std::any_of(first, step.log.end(),
                                        [](const auto& event) { return event.has_job_placed(); });
    std::vector<Moment> moments;
    std::string wrong;
    for (auto event = first; event != step.log.end(); ++event) {
      if (any_starts) moments.push_back(MomentOf(before_, step.controller_now));
      const bool starts = event->has_job_placed() && wrong.empty();
      if (starts) wrong = CheckStart(*event, head_before, moments);
      Apply(*event, before_);
    }
    return wrong;
  }

 private:
  std::string CheckStart(const v1::Event& event, int64_t head_before,
                         const std::vector<Moment>& moments) const {
    const int64_t id = event.job_placed().job_id();
    const JobClass job_class = controller::ClassOf(before_.jobs.at(id).job);
    const bool recovers = std::ranges::any_of(
        moments, [&](const Moment& moment) { return moment.recovering.contains(id); });
    if (job_class.kind != v1::DEVICE_KIND_CPU || recovers) return "";
    const std::optional<JobClass> head = HeadBefore(id, head_before, moments);
    for (const std::string& user : {std::string(), job_class.user}) {
      int64_t needed = event.job_placed().ranks_size();
      const bool counts = head.has_value() && head->queue == job_class.queue &&
                          (user.empty() || head->user == user);
      if (counts) needed += SlotsOf(*head);
      int64_t most = std::numeric_limits<int64_t>::min();
      for (const Moment& moment : moments) {
        most = std::max(most, RestOf(moment, job_class.queue, user));
      }
      if (needed <= most) continue;
      return absl::StrCat("job ", id, " of ", job_class.user, " in the queue ", job_class.queue,
                          " starts, but it and the head need ", needed,
                          " slots, and the limit leaves ", most);
    }
    return "";
  }

  // Returns the class of the first promised head if it precedes the job, waits without slots of its
  // own, and is within the limits, in all states of the step.
  std::optional<JobClass> HeadBefore(int64_t id, int64_t head_before,
                                     const std::vector<Moment>& moments) const {
    const controller::JobEntry* head = FindEntry(before_, head_);
    if (head == nullptr || head_ != head_before || head_ == id) return std::nullopt;
    const JobClass job_class = controller::ClassOf(head->job);
    const bool counts = std::ranges::all_of(moments, [&](const Moment& moment) {
      const auto place = std::ranges::find(moment.order, head_);
      return !moment.recovering.contains(head_) &&
             std::find(place, moment.order.end(), id) != moment.order.end() &&
             RestOf(moment, job_class.queue, "") >= SlotsOf(job_class) &&
             (job_class.user.empty() ||
              RestOf(moment, job_class.queue, job_class.user) >= SlotsOf(job_class));
    });
    return counts ? std::optional(job_class) : std::nullopt;
  }

  // The state before the next event of the log.
  ClusterState before_;
  // The first promised head of the newest schedule; 0: none.
  int64_t head_ = 0;
};

}  // namespace

std::unique_ptr<Checker> LimitsAreLeft() { return std::make_unique<LimitsAreLeftChecker>(); }

}  // namespace trainyard::simulation
