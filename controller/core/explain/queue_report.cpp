#include "controller/core/explain/queue_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "controller/core/explain/pending_reason.h"
#include "controller/core/schedule/queue_order.h"
#include "controller/core/state/attempts/gang_request.h"
#include "controller/core/state/jobs/job_timing.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/queues.h"

namespace trainyard::controller {
namespace {

constexpr int kMaxUsers = 100;
constexpr double kMsPerHour = 3'600'000;

// Sums over all queues for one kind of slot.
struct KindSums {
  double usage_ms = 0;
  double shares = 0;
};

class QueueSums {
 public:
  explicit QueueSums(const ClusterView& view) : view_(view) {
    names_.insert(kDefaultQueue);
    for (const auto& [name, queue] : view.state.queues) names_.insert(name);
    for (const auto& [key, usage] : view.state.usages) {
      if (key.user.empty()) names_.insert(key.queue);
    }
    for (const auto& [job_class, jobs] : view.state.pending_classes) {
      names_.insert(job_class.queue);
      waiting_[{job_class.kind, job_class.queue}] += static_cast<int64_t>(jobs.size());
    }
    for (const std::string& name : names_) {
      for (const v1::DeviceKind kind : kDeviceKinds) AddToSums(kind, name);
    }
  }

  const std::set<std::string>& names() const { return names_; }

  v1::QueueState StateOf(const std::string& name) const {
    v1::QueueState state;
    *state.mutable_queue() = QueueNamed(view_.state, name);
    for (const v1::DeviceKind kind : kDeviceKinds) {
      v1::QueueSlots slots = SlotsOf(kind, name);
      const bool is_used =
          slots.held_slots() > 0 || slots.waiting_jobs() > 0 || slots.usage_hours() > 0;
      if (is_used) *state.add_slots() = std::move(slots);
    }
    return state;
  }

 private:
  double UsageMs(const UsageKey& key) const {
    const auto found = view_.state.usages.find(key);
    return found == view_.state.usages.end()
               ? 0
               : static_cast<double>(UsageAt(found->second, view_.now));
  }

  int64_t WaitingIn(v1::DeviceKind kind, const std::string& name) const {
    const auto found = waiting_.find({kind, name});
    return found == waiting_.end() ? 0 : found->second;
  }

  double Shares(const std::string& name) const { return SharesOf(QueueNamed(view_.state, name)); }

  bool TakesPart(v1::DeviceKind kind, const std::string& name) const {
    return UsageMs({kind, name, ""}) > 0 || WaitingIn(kind, name) > 0;
  }

  void AddToSums(v1::DeviceKind kind, const std::string& name) {
    if (!TakesPart(kind, name)) return;
    sums_[kind].usage_ms += UsageMs({kind, name, ""});
    sums_[kind].shares += Shares(name);
  }

  v1::QueueSlots SlotsOf(v1::DeviceKind kind, const std::string& name) const {
    v1::QueueSlots slots;
    slots.set_device(kind);
    slots.set_held_slots(HeldSlotsOf(view_.state, {kind, name, ""}));
    slots.set_waiting_jobs(WaitingIn(kind, name));
    const double usage_ms = UsageMs({kind, name, ""});
    slots.set_usage_hours(usage_ms / kMsPerHour);
    const auto sums = sums_.find(kind);
    if (sums != sums_.end() && sums->second.usage_ms > 0) {
      slots.set_usage_share(usage_ms / sums->second.usage_ms);
    }
    if (TakesPart(kind, name)) slots.set_fair_share(Shares(name) / sums->second.shares);
    AddUsers(kind, name, slots);
    return slots;
  }

  void AddUsers(v1::DeviceKind kind, const std::string& name, v1::QueueSlots& slots) const {
    std::vector<v1::QueueUser> users;
    for (auto found = view_.state.usages.upper_bound({kind, name, ""});
         found != view_.state.usages.end() && found->first.kind == kind &&
         found->first.queue == name;
         ++found) {
      v1::QueueUser& user = users.emplace_back();
      user.set_user(found->first.user);
      user.set_held_slots(found->second.held);
      user.set_usage_hours(UsageMs(found->first) / kMsPerHour);
    }
    std::ranges::stable_sort(users, std::ranges::greater(),
                             [](const v1::QueueUser& user) { return user.usage_hours(); });
    if (users.size() > kMaxUsers) users.resize(kMaxUsers);
    slots.mutable_users()->Assign(users.begin(), users.end());
  }

  const ClusterView& view_;
  std::set<std::string> names_;
  std::map<std::pair<v1::DeviceKind, std::string>, int64_t> waiting_;
  std::map<v1::DeviceKind, KindSums> sums_;
};

// `array`: the array of which the job is an element; nullptr for other jobs.
v1::QueuedJob Queued(const JobEntry& entry, const JobEntry* array, PendingExplainer& explainer) {
  const v1::Job& job = entry.job;
  const GangRequest request = GangRequestOf(job.spec());
  v1::QueuedJob queued;
  queued.set_job_id(job.id());
  queued.set_name(job.name());
  queued.set_user(job.user());
  queued.set_queue(QueueOf(job));
  queued.set_priority(job.priority());
  queued.set_device(request.kind);
  queued.set_nodes(request.max_nodes);
  if (request.elastic) queued.set_min_nodes(request.min_nodes);
  queued.set_slots_per_node(request.slots_per_node);
  queued.set_queued_since_ms(QueuedSince(job));
  *queued.mutable_reason() = explainer.Why(entry);
  if (array != nullptr) {
    queued.set_elements_to_come(array->job.array().elements() - array->job.array().created());
  }
  return queued;
}

}  // namespace

v1::ListQueuesResponse QueueReport(const ClusterView& view, int limit) {
  v1::ListQueuesResponse response;
  const QueueSums report(view);
  for (const std::string& name : report.names()) *response.add_queues() = report.StateOf(name);
  PendingExplainer explainer(view);
  for (const v1::DeviceKind kind : kDeviceKinds) {
    int listed = 0;
    for (const int64_t id : JobsInOrder(view.state, kind, view.now)) {
      if (++listed > limit) break;
      const JobEntry& entry = view.state.jobs.at(id);
      const JobEntry* array = FindEntry(view.state, entry.job.array_id());
      *response.add_jobs() = Queued(entry, array, explainer);
    }
  }
  response.set_waiting_jobs(static_cast<int64_t>(view.state.pending_jobs.size()));
  response.set_as_of_ms(view.now);
  return response;
}

v1::QueueState QueueStateOf(const ClusterView& view, const std::string& name) {
  return QueueSums(view).StateOf(name);
}

}  // namespace trainyard::controller
