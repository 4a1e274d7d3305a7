#include "controller/core/decide/queues.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/core/decide/references.h"
#include "controller/core/schedule/admission.h"
#include "controller/core/state/slots/class_of_job.h"
#include "controller/core/state/slots/queues.h"
#include "controller/core/support/principal_event.h"
#include "controller/core/support/text.h"
#include "google/protobuf/util/message_differencer.h"
#include "proto/json/enum_text.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"
#include "proto/text/utf8.h"
#include "re2/re2.h"

namespace trainyard::controller {
namespace {

absl::Status CheckRange(const std::string& what, int64_t value, int64_t least, int64_t most) {
  if (value >= least && value <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is ", value, "; it must be from ", least, " to ", most));
}

absl::Status CheckName(const std::string& name) {
  static const RE2 kName("[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?");
  if (RE2::FullMatch(name, kName)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "the queue name `", std::string(Utf8Prefix(name, 80)),
      "` is not valid; use lower-case letters, digits, `.`, `_` and `-`, at most 63 characters"));
}

std::string QuotaText(const v1::Queue& queue, const v1::SlotQuota& quota, const char* limit) {
  return absl::StrCat(limit, " of ", KindName(quota.device()), " slots in the queue ",
                      queue.name());
}

// Checks that no user holds more slots than the quota gives each user.
absl::Status CheckUsers(const ClusterState& state, const v1::Queue& queue,
                        const v1::SlotQuota& quota) {
  if (quota.max_slots_per_user() == 0) return absl::OkStatus();
  const UsageKey of_queue{quota.device(), queue.name(), ""};
  for (auto item = state.usages.upper_bound(of_queue); item != state.usages.end(); ++item) {
    const auto& [key, usage] = *item;
    if (key.kind != of_queue.kind || key.queue != of_queue.queue) break;
    const int64_t held = ClaimedSlotsOf(state, key);
    if (held <= quota.max_slots_per_user()) continue;
    return absl::FailedPreconditionError(
        absl::StrCat(key.user, " holds ", held, " ", KindName(key.kind), " slots in the queue ",
                     key.queue, ", so `max_slots_per_user` cannot be ", quota.max_slots_per_user(),
                     "; stop or pause some of these jobs first (trainyard ps)"));
  }
  return absl::OkStatus();
}

absl::Status CheckQuota(const ClusterState& state, const v1::Queue& queue,
                        const v1::SlotQuota& quota) {
  constexpr int kMost = 10'000'000;
  if (quota.device() == v1::DEVICE_KIND_UNSPECIFIED) {
    return absl::InvalidArgumentError(
        absl::StrCat("a quota of the queue ", queue.name(), " names no kind of slot"));
  }
  TRAINYARD_RETURN_IF_ERROR(
      CheckRange(QuotaText(queue, quota, "`nominal`"), quota.nominal(), 0, kMost));
  TRAINYARD_RETURN_IF_ERROR(
      CheckRange(QuotaText(queue, quota, "`max_slots`"), quota.max_slots(), 0, kMost));
  TRAINYARD_RETURN_IF_ERROR(CheckRange(QuotaText(queue, quota, "`max_slots_per_user`"),
                                       quota.max_slots_per_user(), 0, kMost));
  if (quota.max_slots() > 0 && quota.nominal() > quota.max_slots()) {
    return absl::InvalidArgumentError(
        absl::StrCat(QuotaText(queue, quota, "`nominal`"), " is ", quota.nominal(),
                     ", which is greater than `max_slots` ", quota.max_slots()));
  }
  const int64_t held = ClaimedSlotsOf(state, {quota.device(), queue.name(), ""});
  if (quota.max_slots() > 0 && held > quota.max_slots()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the queue ", queue.name(), " holds ", held, " ", KindName(quota.device()),
                     " slots, so `max_slots` cannot be ", quota.max_slots(),
                     "; stop or pause some of its jobs first (trainyard ps)"));
  }
  return CheckUsers(state, queue, quota);
}

absl::Status CheckQueue(const ClusterState& state, const v1::Queue& queue) {
  TRAINYARD_RETURN_IF_ERROR(CheckName(queue.name()));
  TRAINYARD_RETURN_IF_ERROR(CheckRange("`shares`", queue.shares(), 0, kMaxShares));
  TRAINYARD_RETURN_IF_ERROR(CheckRange("`tier`", queue.tier(), -kMaxTier, kMaxTier));
  std::set<v1::DeviceKind> kinds;
  for (const v1::SlotQuota& quota : queue.quotas()) {
    TRAINYARD_RETURN_IF_ERROR(CheckQuota(state, queue, quota));
    if (!kinds.insert(quota.device()).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the queue ", queue.name(), " has two quotas of ", KindName(quota.device()), " slots"));
    }
  }
  if (state.queues.size() < kMaxQueues || state.queues.contains(queue.name())) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      kMaxQueues, " queues exist already; delete some first (trainyard queue delete)"));
}

}  // namespace

absl::StatusOr<std::vector<v1::Event>> DecideSetQueue(const ClusterState& state,
                                                      const v1::SetQueueRequest& request,
                                                      const Principal& principal, Timestamp now) {
  v1::Queue queue = request.queue();
  TRAINYARD_RETURN_IF_ERROR(CheckQueue(state, queue));
  const auto known = state.queues.find(queue.name());
  const bool is_set = known != state.queues.end() &&
                      google::protobuf::util::MessageDifferencer::Equals(known->second, queue);
  if (is_set) return std::vector<v1::Event>();
  v1::Event event = EventBy(principal, now);
  *event.mutable_queue_set()->mutable_queue() = std::move(queue);
  return std::vector<v1::Event>{std::move(event)};
}

absl::StatusOr<std::vector<v1::Event>> DecideDeleteQueue(const ClusterState& state,
                                                         const v1::DeleteQueueRequest& request,
                                                         const Principal& principal,
                                                         Timestamp now) {
  const std::string& name = request.name();
  if (!state.queues.contains(name)) {
    if (name == kDefaultQueue) {
      return absl::FailedPreconditionError(
          "the queue `default` always exists and has no settings to delete");
    }
    return CheckQueueExists(state, name);
  }
  const auto in_it = std::ranges::find_if(state.jobs, [&](const auto& item) {
    return !HasEnded(item.second.job.state()) && QueueOf(item.second.job) == name;
  });
  if (in_it != state.jobs.end() && name != kDefaultQueue) {
    return absl::FailedPreconditionError(absl::StrCat(
        JobText(in_it->second.job), " is in the queue ", name,
        "; move its jobs first (trainyard queue move JOB --queue default), or stop them"));
  }
  v1::Event event = EventBy(principal, now);
  event.mutable_queue_deleted()->set_name(name);
  return std::vector<v1::Event>{std::move(event)};
}

absl::StatusOr<std::vector<v1::Event>> DecideMoveJob(const ClusterState& state,
                                                     const v1::MoveJobRequest& request,
                                                     const Principal& principal, Timestamp now) {
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t job_id, FindJob(state, request.job()));
  const JobEntry& entry = state.jobs.at(job_id);
  const v1::Job& job = entry.job;
  if (HasEnded(job.state())) return EndedAlready(job);
  if (request.queue().empty() && !request.has_priority()) {
    return absl::InvalidArgumentError("set a queue, a priority, or both");
  }
  const std::string queue = request.queue().empty() ? QueueOf(job) : request.queue();
  const int priority = request.has_priority() ? request.priority() : job.priority();
  TRAINYARD_RETURN_IF_ERROR(CheckQueueExists(state, queue));
  TRAINYARD_RETURN_IF_ERROR(CheckRange("`priority`", priority, -kMaxPriority, kMaxPriority));
  const bool has_slots = LiveAttempt(entry) != nullptr || state.reservations.contains(job_id);
  if (has_slots && queue != QueueOf(job)) {
    return absl::FailedPreconditionError(
        absl::StrCat(JobText(job), " has slots, which count for the queue ", QueueOf(job),
                     "; pause the job, move it, and resume it"));
  }
  if (queue != QueueOf(job)) {
    TRAINYARD_RETURN_IF_ERROR(CheckQueueHolds(state, queue, job.spec()));
  }
  if (queue == QueueOf(job) && priority == job.priority()) return std::vector<v1::Event>();
  v1::Event event = EventBy(principal, now);
  event.mutable_job_moved()->set_job_id(job_id);
  event.mutable_job_moved()->set_queue(queue);
  event.mutable_job_moved()->set_priority(priority);
  return std::vector<v1::Event>{std::move(event)};
}

}  // namespace trainyard::controller
