#include "cli/output/files/stable_json.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/output/terminal/readable.h"
#include "google/protobuf/descriptor.h"
#include "proto/json/enum_text.h"
#include "proto/json/message_json.h"
#include "proto/json/message_walk.h"
#include "proto/json/tree_sink.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"
#include "trainyard/v1/ledger.pb.h"
#include "trainyard/v1/metric_service.pb.h"
#include "trainyard/v1/node.pb.h"
#include "trainyard/v1/node_service.pb.h"
#include "trainyard/v1/report_service.pb.h"

namespace trainyard::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// Returns the value for a singular field that is not set.
nlohmann::json AbsentValue(const FieldDescriptor& field) {
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

// True for a job's spec, in which a missing key has a meaning.
bool IsJobSpec(const google::protobuf::Descriptor* type) {
  return type == v1::JobSpec::descriptor();
}

bool HoldsMilliseconds(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_INT64 && absl::EndsWith(field.name(), "_ms");
}

using FieldNumbers = std::map<const google::protobuf::Descriptor*, std::set<int>>;

bool Holds(const FieldNumbers& fields, const FieldDescriptor& field) {
  const auto found = fields.find(field.containing_type());
  return found != fields.end() && found->second.contains(field.number());
}

// True if a *_ms field is a duration. The other *_ms fields are points in time.
bool IsDuration(const FieldDescriptor& field) {
  using Use = v1::TimeUse;
  static const FieldNumbers durations = {
      {Use::descriptor(),
       {Use::kInitMsFieldNumber, Use::kLoadMsFieldNumber, Use::kDataStallMsFieldNumber,
        Use::kCheckpointMsFieldNumber, Use::kEvaluationMsFieldNumber, Use::kStalledMsFieldNumber,
        Use::kDivergedMsFieldNumber, Use::kSlowMsFieldNumber}},
      {v1::TrainingTimeLost::descriptor(), {v1::TrainingTimeLost::kLostMsFieldNumber}},
      {v1::AttemptHealed::descriptor(), {v1::AttemptHealed::kHealMsFieldNumber}},
      {v1::Attempt::descriptor(), {v1::Attempt::kPausedBeforeMsFieldNumber}},
      {v1::ClockSet::descriptor(),
       {v1::ClockSet::kStepMsFieldNumber, v1::ClockSet::kAssumedMsFieldNumber}},
      {v1::Job::descriptor(), {v1::Job::kPausedMsFieldNumber}},
      {v1::PhaseSum::descriptor(),
       {v1::PhaseSum::kLengthMsFieldNumber, v1::PhaseSum::kSlotMsFieldNumber}},
      {v1::DatabaseReplica::descriptor(), {v1::DatabaseReplica::kLagMsFieldNumber}},
      {v1::DeviceHistory::descriptor(), {v1::DeviceHistory::kIntervalMsFieldNumber}},
      {v1::JobExtended::descriptor(), {v1::JobExtended::kByMsFieldNumber}},
      {v1::TimeLimitUse::descriptor(),
       {v1::TimeLimitUse::kUsedMsFieldNumber, v1::TimeLimitUse::kExtendedMsFieldNumber,
        v1::TimeLimitUse::kRemainingMsFieldNumber}},
      {v1::TrainedSteps::descriptor(),
       {v1::TrainedSteps::kLengthMsFieldNumber, v1::TrainedSteps::kSlotMsFieldNumber}}};
  return Holds(durations, field);
}

// True for numbers whose 0 means "unknown" or "none", as the comments in the proto files state.
bool ZeroMeansAbsent(const FieldDescriptor& field) {
  using v1::Attempt, v1::Progress, v1::Verdict;
  static const FieldNumbers numbers = {
      {Progress::descriptor(),
       {Progress::kStepFieldNumber, Progress::kTotalStepsFieldNumber, Progress::kLossFieldNumber,
        Progress::kTokensPerSecondFieldNumber, Progress::kStepSecondsFieldNumber,
        Progress::kEtaSecondsFieldNumber, Progress::kValidationLossFieldNumber,
        Progress::kTokensFieldNumber, Progress::kTotalTokensFieldNumber,
        Progress::kLossStepFieldNumber}},
      {v1::DataProgress::descriptor(),
       {v1::DataProgress::kStageFieldNumber, v1::DataProgress::kStagesFieldNumber,
        v1::DataProgress::kBytesPerSecondFieldNumber, v1::DataProgress::kTokensFieldNumber}},
      {Attempt::descriptor(),
       {Attempt::kMasterPortFieldNumber, Attempt::kResumeStepFieldNumber,
        Attempt::kLastStepFieldNumber, Attempt::kFirstStepFieldNumber}},
      {Verdict::descriptor(), {Verdict::kExitCodeFieldNumber, Verdict::kSignalFieldNumber}},
      {v1::Job::descriptor(), {v1::Job::kClonedFromFieldNumber}},
      {v1::JobSubmitted::descriptor(), {v1::JobSubmitted::kClonedFromFieldNumber}},
      {v1::CheckpointOrigin::descriptor(), {v1::CheckpointOrigin::kStepFieldNumber}},
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

// For a duration, converts "checkpoint_ms" to "checkpoint_seconds". For other fields, removes
// "_ms".
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

// Receives the fields from MessageWalk. Adds absent fields and converts milliseconds.
class StableSink : public TreeSink {
 public:
  // True if the field is printed. A member of a oneof is printed only if it is set.
  bool Chooses(const Message& message, const FieldDescriptor& field, int) const {
    return field.real_containing_oneof() == nullptr ||
           message.GetReflection()->HasField(message, &field);
  }

  bool Replaces(const Message& message, const FieldDescriptor& field) {
    none_ = NoneOf(message, field);
    Key(KeyOf(field));
    if (field.is_repeated()) return HoldsMilliseconds(field) && PutTimes(message, field);
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    if (HoldsMilliseconds(field)) {
      Put(MillisecondsJson(field, reflection.GetInt64(message, &field)));
    } else if (!reflection.HasField(message, &field)) {
      PutAbsent(field);
    } else if (IsJobSpec(field.message_type())) {
      Put(MessageToJson(reflection.GetMessage(message, &field)));
    } else {
      return false;
    }
    return true;
  }

  void Integer(int64_t value) { PutNumber(value); }
  void Unsigned(uint64_t value) { PutNumber(value); }
  void Real(double value) {
    if (IsNone(value)) {
      Put(nullptr);
    } else {
      TreeSink::Real(value);
    }
  }

 private:
  // The numbers of a field that mean "none" and are printed as null.
  enum class None { kNoNumber, kZero, kNegative, kEveryNumber };

  static None NoneOf(const Message& message, const FieldDescriptor& field) {
    if (field.is_repeated()) return None::kNoNumber;
    if (ZeroMeansAbsent(field)) return None::kZero;
    // -1 means that no rank is to blame.
    if (field.containing_type() == v1::Verdict::descriptor() &&
        field.number() == v1::Verdict::kRankFieldNumber) {
      return None::kNegative;
    }
    // A free slot has no rank, so its rank numbers are meaningless.
    const auto* use = dynamic_cast<const v1::SlotUse*>(&message);
    return use != nullptr && use->job_id() == 0 ? None::kEveryNumber : None::kNoNumber;
  }

  template <typename Number>
  bool IsNone(Number value) const {
    return none_ == None::kEveryNumber || (none_ == None::kZero && value == 0) ||
           (none_ == None::kNegative && value < 0);
  }

  template <typename Number>
  void PutNumber(Number value) {
    Put(IsNone(value) ? nlohmann::json() : nlohmann::json(value));
  }

  void PutAbsent(const FieldDescriptor& field) {
    nlohmann::json value = AbsentValue(field);
    Put(value.is_number() && IsNone(0) ? nlohmann::json() : std::move(value));
  }

  bool PutTimes(const Message& message, const FieldDescriptor& field) {
    BeginArray();
    for (int i = 0; i < message.GetReflection()->FieldSize(message, &field); ++i) {
      Put(MillisecondsJson(field, message.GetReflection()->GetRepeatedInt64(message, &field, i)));
    }
    EndArray();
    return true;
  }

  None none_ = None::kNoNumber;
};

}  // namespace

nlohmann::json StableJson(const Message& message) {
  if (IsJobSpec(message.GetDescriptor())) return MessageToJson(message);
  StableSink sink;
  MessageWalk<StableSink>(sink).Write(message);
  return sink.Take();
}

}  // namespace trainyard::cli
