#include "controller/core/apply/time_shift.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "controller/core/state/nodes/capacity.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

struct FieldMeaning {
  absl::string_view field;
  TimeField meaning;
};

// Every field of a snapshot that contains milliseconds. time_shift_test.cpp fails if a field is
// missing here.
constexpr FieldMeaning kFields[] = {
    {"ArchivedRequest.time_ms", TimeField::kMoment},
    {"Attempt.ended_time_ms", TimeField::kMoment},
    {"Attempt.paused_before_ms", TimeField::kDuration},
    {"Attempt.paused_from_ms", TimeField::kMoment},
    {"Attempt.placed_time_ms", TimeField::kMoment},
    {"Attempt.started_time_ms", TimeField::kMoment},
    {"Attempt.stopping_time_ms", TimeField::kMoment},
    // Shifted by ShiftCapacity.
    {"CapacityHistory.since_ms", TimeField::kForeign},
    {"CapacityHistory.slot_ms", TimeField::kDuration},
    {"CapacityHistory.until_ms", TimeField::kForeign},
    {"Checkpoint.time_ms", TimeField::kForeign},
    // Both fields of ClusterClock are set by TakeClockSet and Apply.
    {"ClusterClock.boot_time_ms", TimeField::kForeign},
    {"ClusterClock.newest_ms", TimeField::kForeign},
    {"EarlierTime.until_ms", TimeField::kMoment},
    {"Heal.began_ms", TimeField::kMoment},
    {"Heal.healed_ms", TimeField::kMoment},
    // Never stored.
    {"HealthFinding.since_ms", TimeField::kForeign},
    {"HistoryLoss.time_ms", TimeField::kMoment},
    {"JobHealth.at_risk_since_ms", TimeField::kForeign},  // Never stored.
    {"Job.ended_time_ms", TimeField::kMoment},
    {"Job.not_before_ms", TimeField::kMoment},
    {"Job.paused_from_ms", TimeField::kMoment},
    {"Job.paused_ms", TimeField::kDuration},
    {"Job.submitted_time_ms", TimeField::kMoment},
    {"JobSnapshot.first_failure_ms", TimeField::kMoment},
    {"JobSnapshot.restart_times_ms", TimeField::kMoment},
    {"Node.joined_time_ms", TimeField::kMoment},
    {"Node.last_heartbeat_ms", TimeField::kMoment},
    {"Node.released_time_ms", TimeField::kMoment},
    {"NodeDrain.deadline_ms", TimeField::kMoment},
    {"NodeDrain.drained_ms", TimeField::kMoment},
    {"NodeDrain.since_ms", TimeField::kMoment},
    {"NodeEvidence.time_ms", TimeField::kMoment},
    {"NodeHealth.failed_time_ms", TimeField::kMoment},
    {"NodeHealth.retry_not_before_ms", TimeField::kMoment},
    {"NodeHealth.since_ms", TimeField::kMoment},
    {"NodeQuarantine.checks_count_from_ms", TimeField::kMoment},
    {"NodeQuarantine.since_ms", TimeField::kMoment},
    // The user names a time of the calendar, which does not change when the clock is corrected.
    {"NodeReservation.end_ms", TimeField::kForeign},
    {"NodeReservation.start_ms", TimeField::kForeign},
    {"NodeSnapshot.removed_ms", TimeField::kMoment},
    {"Note.time_ms", TimeField::kMoment},
    {"Pause.time_ms", TimeField::kMoment},
    {"PhaseSum.length_ms", TimeField::kDuration},
    {"PhaseSum.slot_ms", TimeField::kDuration},
    {"Prerequisite.checkpoint_time_ms", TimeField::kMoment},
    {"Prerequisite.ended_time_ms", TimeField::kMoment},
    {"Progress.time_ms", TimeField::kForeign},
    {"RankExited.corrected_ms", TimeField::kMoment},
    {"RankExited.time_ms", TimeField::kForeign},
    {"Rollback.time_ms", TimeField::kMoment},
    {"SlotUsage.at_ms", TimeField::kMoment},
    {"SlotUsage.slot_ms", TimeField::kDuration},
    {"TimeLimitUse.extended_ms", TimeField::kDuration},
    {"TimeLimitUse.remaining_ms", TimeField::kDuration},
    {"TimeLimitUse.used_ms", TimeField::kDuration},
    {"TimeUse.checkpoint_ms", TimeField::kDuration},
    {"TimeUse.data_stall_ms", TimeField::kDuration},
    {"TimeUse.diverged_ms", TimeField::kDuration},
    {"TimeUse.diverged_until_ms", TimeField::kMoment},
    {"TimeUse.evaluation_ms", TimeField::kDuration},
    {"TimeUse.init_ms", TimeField::kDuration},
    {"TimeUse.load_ms", TimeField::kDuration},
    {"TimeUse.slow_ms", TimeField::kDuration},
    {"TimeUse.slow_until_ms", TimeField::kMoment},
    {"TimeUse.stalled_ms", TimeField::kDuration},
    {"TimeUse.stalled_since_ms", TimeField::kMoment},
    {"TimeUse.stalled_until_ms", TimeField::kMoment},
    {"TrainedSteps.length_ms", TimeField::kDuration},
    {"TrainedSteps.slot_ms", TimeField::kDuration},
    // Measured by the controller's clock, except in verdicts about nodes with a worker of an older
    // release.
    {"Verdict.time_ms", TimeField::kMoment},
};

// Adds to `found` the kMoment fields of `type`, and its message fields that contain such fields.
// Returns true if anything was added.
bool Collect(const Descriptor& type, std::set<const Descriptor*>& seen,
             std::set<const FieldDescriptor*>& found) {
  if (!seen.insert(&type).second) return false;
  bool any = false;
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const bool leads = field.message_type() == nullptr
                           ? TimeFieldOf(field) == TimeField::kMoment
                           : Collect(*field.message_type(), seen, found) ||
                                 std::ranges::any_of(found, [&](const FieldDescriptor* known) {
                                   return known->containing_type() == field.message_type();
                                 });
    if (!leads) continue;
    found.insert(&field);
    any = true;
  }
  return any;
}

const std::set<const FieldDescriptor*>& MovedFields() {
  static const std::set<const FieldDescriptor*> kFound = [] {
    std::set<const Descriptor*> seen;
    std::set<const FieldDescriptor*> found;
    Collect(*v1::Snapshot::descriptor(), seen, found);
    return found;
  }();
  return kFound;
}

Timestamp Shifted(int64_t step_ms, Timestamp time) { return time == 0 ? 0 : time + step_ms; }

void ShiftField(int64_t step_ms, const FieldDescriptor& field, Message& message) {
  const auto& reflection = *message.GetReflection();
  const bool is_message = field.message_type() != nullptr;
  if (!field.is_repeated()) {
    if (is_message) return ShiftTimes(step_ms, *reflection.MutableMessage(&message, &field));
    const Timestamp time = reflection.GetInt64(message, &field);
    return reflection.SetInt64(&message, &field, Shifted(step_ms, time));
  }
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    if (is_message) {
      ShiftTimes(step_ms, *reflection.MutableRepeatedMessage(&message, &field, i));
    } else {
      const Timestamp time = reflection.GetRepeatedInt64(message, &field, i);
      reflection.SetRepeatedInt64(&message, &field, i, Shifted(step_ms, time));
    }
  }
}

void ShiftJob(int64_t step_ms, JobEntry& entry) {
  ShiftTimes(step_ms, entry.job);
  for (Timestamp& time : entry.restart_times_ms) time = Shifted(step_ms, time);
  for (auto& [rank, exited] : entry.exited_ranks) ShiftTimes(step_ms, exited);
  entry.first_failure_ms = Shifted(step_ms, entry.first_failure_ms);
}

}  // namespace

TimeField TimeFieldOf(const FieldDescriptor& field) {
  const absl::string_view name = absl::StripPrefix(field.full_name(), "trainyard.v1.");
  const auto* found = std::ranges::find(kFields, name, &FieldMeaning::field);
  return found == std::end(kFields) ? TimeField::kNone : found->meaning;
}

void ShiftTimes(int64_t step_ms, Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    if (MovedFields().contains(field)) ShiftField(step_ms, *field, message);
  }
}

void TakeClockSet(const v1::ClockSet& set, ClusterState& state) {
  state.clock.set_boot_id(set.boot_id());
  state.clock.set_boot_time_ms(set.boot_time_ms());
  state.clock.set_doubt(set.doubt());
  const int64_t step_ms = set.step_ms();
  if (step_ms == 0) return;
  for (auto& [id, entry] : state.jobs) ShiftJob(step_ms, entry);
  for (auto& [id, entry] : state.nodes) ShiftTimes(step_ms, entry.node);
  for (auto& [id, removed] : state.removed_nodes) {
    removed.removed_ms = Shifted(step_ms, removed.removed_ms);
  }
  for (ArchivedRequest& request : state.archived_requests) {
    request.archived_ms = Shifted(step_ms, request.archived_ms);
  }
  for (v1::HistoryLoss& loss : state.losses) ShiftTimes(step_ms, loss);
  ShiftCapacity(step_ms, state.capacity);
  for (auto& [key, usage] : state.usages) usage.at = Shifted(step_ms, usage.at);
  std::set<std::pair<Timestamp, int64_t>> ended;
  for (const auto& [time, id] : state.ended_jobs) ended.insert({time + step_ms, id});
  state.ended_jobs = std::move(ended);
}

}  // namespace trainyard::controller
