#include "cli/output/stable_json.h"

#include <map>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/output/readable.h"
#include "google/protobuf/descriptor.h"
#include "proto/json/enum_text.h"
#include "proto/json/message_json.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/ledger.pb.h"
#include "trainyard/v1/metric_service.pb.h"
#include "trainyard/v1/node.pb.h"
#include "trainyard/v1/report_service.pb.h"

namespace trainyard::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

nlohmann::json AbsentValue(const FieldDescriptor& field) {
  if (field.is_map()) return nlohmann::json::object();
  if (field.is_repeated()) return nlohmann::json::array();
  if (field.has_presence()) return nullptr;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return "";
    case FieldDescriptor::CPPTYPE_BOOL:
      return false;
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return 0.0;
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumShortName(*field.default_value_enum());
    default:
      return 0;
  }
}

bool HoldsMilliseconds(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_INT64 && absl::EndsWith(field.name(), "_ms");
}

using FieldNumbers = std::map<const google::protobuf::Descriptor*, std::set<int>>;

bool Holds(const FieldNumbers& fields, const FieldDescriptor& field) {
  const auto found = fields.find(field.containing_type());
  return found != fields.end() && found->second.contains(field.number());
}

// True for the *_ms fields that are durations. All others are instants.
bool IsDuration(const FieldDescriptor& field) {
  using Use = v1::TimeUse;
  static const FieldNumbers durations = {
      {Use::descriptor(),
       {Use::kInitMsFieldNumber, Use::kLoadMsFieldNumber, Use::kDataStallMsFieldNumber,
        Use::kCheckpointMsFieldNumber, Use::kEvaluationMsFieldNumber}},
      {v1::AttemptHealed::descriptor(), {v1::AttemptHealed::kHealMsFieldNumber}},
      {v1::Attempt::descriptor(), {v1::Attempt::kPausedBeforeMsFieldNumber}},
      {v1::ClockSet::descriptor(),
       {v1::ClockSet::kStepMsFieldNumber, v1::ClockSet::kAssumedMsFieldNumber}},
      {v1::Job::descriptor(), {v1::Job::kPausedMsFieldNumber}},
      {v1::PhaseSum::descriptor(),
       {v1::PhaseSum::kLengthMsFieldNumber, v1::PhaseSum::kSlotMsFieldNumber}},
      {v1::TrainedSteps::descriptor(),
       {v1::TrainedSteps::kLengthMsFieldNumber, v1::TrainedSteps::kSlotMsFieldNumber}}};
  return Holds(durations, field);
}

// True for numbers whose 0 means "unknown" or "none", according to their comments in the proto
// files.
bool ZeroMeansAbsent(const FieldDescriptor& field) {
  using v1::Attempt, v1::Progress, v1::Verdict;
  static const FieldNumbers numbers = {
      {Progress::descriptor(),
       {Progress::kStepFieldNumber, Progress::kTotalStepsFieldNumber, Progress::kLossFieldNumber,
        Progress::kTokensPerSecondFieldNumber, Progress::kStepSecondsFieldNumber,
        Progress::kEtaSecondsFieldNumber, Progress::kValidationLossFieldNumber,
        Progress::kTokensFieldNumber, Progress::kTotalTokensFieldNumber}},
      {Attempt::descriptor(),
       {Attempt::kMasterPortFieldNumber, Attempt::kResumeStepFieldNumber,
        Attempt::kLastStepFieldNumber, Attempt::kFirstStepFieldNumber}},
      {Verdict::descriptor(), {Verdict::kExitCodeFieldNumber, Verdict::kSignalFieldNumber}},
      {v1::PendingReason::descriptor(), {v1::PendingReason::kQueuePositionFieldNumber}},
      {v1::LedgerSpan::descriptor(), {v1::LedgerSpan::kAttemptFieldNumber}},
      {v1::JobPlaced::descriptor(), {v1::JobPlaced::kResumeStepFieldNumber}},
      {v1::RankExited::descriptor(), {v1::RankExited::kSignalFieldNumber}},
      {v1::AttemptEnded::descriptor(), {v1::AttemptEnded::kLastStepFieldNumber}},
      {v1::NodeEvidence::descriptor(),
       {v1::NodeEvidence::kJobIdFieldNumber, v1::NodeEvidence::kAttemptFieldNumber,
        v1::NodeEvidence::kXidFieldNumber}},
      {v1::ReportGroup::descriptor(), {v1::ReportGroup::kJobIdFieldNumber}},
      {v1::Slot::descriptor(), {v1::Slot::kMemoryBytesFieldNumber}},
      {v1::Inventory::descriptor(),
       {v1::Inventory::kCpuCoresFieldNumber, v1::Inventory::kMemoryBytesFieldNumber}},
      {v1::SlotUse::descriptor(),
       {v1::SlotUse::kJobIdFieldNumber, v1::SlotUse::kAttemptFieldNumber}},
      {v1::Series::descriptor(), {v1::Series::kAttemptFieldNumber, v1::Series::kJobIdFieldNumber}}};
  return Holds(numbers, field);
}

// True if the number in a singular field means "none".
bool IsAbsent(const Message& message, const FieldDescriptor& field, const nlohmann::json& value) {
  if (ZeroMeansAbsent(field)) return value == 0;
  // -1: no rank is to blame.
  if (field.containing_type() == v1::Verdict::descriptor() &&
      field.number() == v1::Verdict::kRankFieldNumber) {
    return value < 0;
  }
  // A free slot has no rank.
  const auto* use = dynamic_cast<const v1::SlotUse*>(&message);
  return use != nullptr && use->job_id() == 0;
}

// Converts "checkpoint_ms" to "checkpoint_seconds" for a duration, else to the name without "_ms".
std::string KeyOf(const FieldDescriptor& field) {
  if (!HoldsMilliseconds(field)) return field.name();
  const std::string stem = field.name().substr(0, field.name().size() - 3);
  return IsDuration(field) ? absl::StrCat(stem, "_seconds") : stem;
}

nlohmann::json MillisecondsJson(const FieldDescriptor& field, int64_t value) {
  if (IsDuration(field)) return static_cast<double>(value) / 1000;
  if (value == 0) return nullptr;
  return IsoTime(value);
}

nlohmann::json PresentValue(const Message& message, const FieldDescriptor& field,
                            const nlohmann::json& base) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (field.is_repeated() && HoldsMilliseconds(field)) {
    nlohmann::json times = nlohmann::json::array();
    for (const nlohmann::json& time : base) {
      times.push_back(MillisecondsJson(field, time.get<int64_t>()));
    }
    return times;
  }
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return base;
  if (!field.is_repeated()) return StableJson(reflection.GetMessage(message, &field));
  if (field.is_map()) {
    nlohmann::json object = base;
    const FieldDescriptor& value = *field.message_type()->map_value();
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
      if (value.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) break;
      const nlohmann::json key =
          MessageToJson(entry).value("key", AbsentValue(*field.message_type()->map_key()));
      object[key.is_string() ? key.get<std::string>() : key.dump()] =
          StableJson(entry.GetReflection()->GetMessage(entry, &value));
    }
    return object;
  }
  nlohmann::json list = nlohmann::json::array();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    list.push_back(StableJson(reflection.GetRepeatedMessage(message, &field, i)));
  }
  return list;
}

// `base` is the field's value in MessageToJson, or nullptr if it has its default.
nlohmann::json ValueOf(const Message& message, const FieldDescriptor& field,
                       const nlohmann::json* base) {
  if (HoldsMilliseconds(field) && !field.is_repeated()) {
    return MillisecondsJson(field, base == nullptr ? 0 : base->get<int64_t>());
  }
  const nlohmann::json value =
      base == nullptr ? AbsentValue(field) : PresentValue(message, field, *base);
  return value.is_number() && IsAbsent(message, field, value) ? nlohmann::json() : value;
}

}  // namespace

nlohmann::json StableJson(const Message& message) {
  const nlohmann::json base = MessageToJson(message);
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  if (type.name() == "JobSpec" || !base.is_object()) return base;
  nlohmann::json object = nlohmann::json::object();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const bool one_of = field.real_containing_oneof() != nullptr;
    const auto present = base.find(field.name());
    if (present == base.end() && one_of) continue;  // Only the set member of a oneof.
    object[KeyOf(field)] = ValueOf(message, field, present == base.end() ? nullptr : &*present);
  }
  return object;
}

}  // namespace trainyard::cli
