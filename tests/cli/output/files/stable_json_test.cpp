#include "cli/output/files/stable_json.h"

#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "gtest/gtest.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/log_service.pb.h"
#include "trainyard/v1/metric_service.pb.h"
#include "trainyard/v1/node_service.pb.h"
#include "trainyard/v1/planner.pb.h"
#include "trainyard/v1/queue_service.pb.h"

namespace trainyard::cli {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

enum class Meaning { kInstant, kDuration };

// The meanings of fields in messages about nodes and hooks.
std::map<std::string, Meaning> NodeMeanings() {
  return {
      {"ClockSet.assumed_ms", Meaning::kDuration},
      {"ClockSet.boot_time_ms", Meaning::kInstant},
      {"ClockSet.step_ms", Meaning::kDuration},
      {"HealthFinding.since_ms", Meaning::kInstant},
      {"JobHealth.at_risk_since_ms", Meaning::kInstant},
      {"Note.time_ms", Meaning::kInstant},
      {"Prerequisite.checkpoint_time_ms", Meaning::kInstant},
      {"Prerequisite.ended_time_ms", Meaning::kInstant},
      {"StallEnded.since_ms", Meaning::kInstant},
      {"StallEnded.until_ms", Meaning::kInstant},
      {"TrainingTimeLost.until_ms", Meaning::kInstant},
      {"TrainingTimeLost.lost_ms", Meaning::kDuration},
      {"HookStatus.failing_since_ms", Meaning::kInstant},
      {"DeviceHistory.interval_ms", Meaning::kDuration},
      {"DeviceHistory.time_ms", Meaning::kInstant},
      {"GetNodeResponse.as_of_ms", Meaning::kInstant},
      {"Node.joined_time_ms", Meaning::kInstant},
      {"Node.last_heartbeat_ms", Meaning::kInstant},
      {"Node.released_time_ms", Meaning::kInstant},
      {"NodeAttempt.ended_time_ms", Meaning::kInstant},
      {"NodeAttempt.placed_time_ms", Meaning::kInstant},
      {"NodeChecks.checked_ms", Meaning::kInstant},
      {"NodeDrain.deadline_ms", Meaning::kInstant},
      {"NodeDrain.drained_ms", Meaning::kInstant},
      {"DatabaseReplica.lag_ms", Meaning::kDuration},
      {"DatabaseStatus.read_ms", Meaning::kInstant},
      {"Leadership.since_ms", Meaning::kInstant},
      {"StandbyController.seen_ms", Meaning::kInstant},
      {"NodeDrain.since_ms", Meaning::kInstant},
      {"NodeDraining.deadline_ms", Meaning::kInstant},
      {"NodeEvidence.time_ms", Meaning::kInstant},
      {"NodeHealth.failed_time_ms", Meaning::kInstant},
      {"NodeHealth.retry_not_before_ms", Meaning::kInstant},
      {"NodeHealth.since_ms", Meaning::kInstant},
      {"NodeQuarantine.checks_count_from_ms", Meaning::kInstant},
      {"NodeQuarantine.since_ms", Meaning::kInstant},
  };
}

// The meanings of fields in messages about queues and time limits.
std::map<std::string, Meaning> QueueMeanings() {
  return {
      {"JobExtended.by_ms", Meaning::kDuration},
      {"ListQueuesResponse.as_of_ms", Meaning::kInstant},
      {"GetArrayResponse.as_of_ms", Meaning::kInstant},
      {"GetTopologyResponse.as_of_ms", Meaning::kInstant},
      {"PendingReason.estimated_earliest_ms", Meaning::kInstant},
      {"PendingReason.estimated_latest_ms", Meaning::kInstant},
      {"PendingReason.estimated_start_ms", Meaning::kInstant},
      {"ListReservationsResponse.as_of_ms", Meaning::kInstant},
      {"NodeReservation.start_ms", Meaning::kInstant},
      {"NodeReservation.end_ms", Meaning::kInstant},
      {"PendingReason.promised_ms", Meaning::kInstant},
      {"PromiseChange.promised_ms", Meaning::kInstant},
      {"PromiseChange.time_ms", Meaning::kInstant},
      {"QueuedJob.queued_since_ms", Meaning::kInstant},
      {"TimeLimitUse.extended_ms", Meaning::kDuration},
      {"TimeLimitUse.remaining_ms", Meaning::kDuration},
      {"TimeLimitUse.used_ms", Meaning::kDuration},
  };
}

// The meanings of fields in messages about attempts and their events.
std::map<std::string, Meaning> AttemptMeanings() {
  return {
      {"Attempt.ended_time_ms", Meaning::kInstant},
      {"Attempt.placed_time_ms", Meaning::kInstant},
      {"Attempt.started_time_ms", Meaning::kInstant},
      {"Attempt.stopping_time_ms", Meaning::kInstant},
      {"Attempt.paused_before_ms", Meaning::kDuration},
      {"Attempt.paused_from_ms", Meaning::kInstant},
      {"AttemptHealed.heal_ms", Meaning::kDuration},
      {"AttemptEnded.retry_not_before_ms", Meaning::kInstant},
  };
}

// The meanings of fields in messages about the use of time.
std::map<std::string, Meaning> TimeUseMeanings() {
  return {
      {"TimeUse.checkpoint_ms", Meaning::kDuration},
      {"TimeUse.data_stall_ms", Meaning::kDuration},
      {"TimeUse.diverged_ms", Meaning::kDuration},
      {"TimeUse.diverged_until_ms", Meaning::kInstant},
      {"TimeUse.evaluation_ms", Meaning::kDuration},
      {"TimeUse.init_ms", Meaning::kDuration},
      {"TimeUse.load_ms", Meaning::kDuration},
      {"TimeUse.slow_ms", Meaning::kDuration},
      {"TimeUse.slow_until_ms", Meaning::kInstant},
      {"TimeUse.stalled_ms", Meaning::kDuration},
      {"TimeUse.stalled_since_ms", Meaning::kInstant},
      {"TimeUse.stalled_until_ms", Meaning::kInstant},
  };
}

// The meaning of every *_ms field in the controller's responses. The test
// EveryFieldOfMillisecondsIsPrintedByItsMeaning fails for each new field until it is added here.
const std::map<std::string, Meaning>& Meanings() {
  static const std::map<std::string, Meaning> meanings = [] {
    std::map<std::string, Meaning> all = {
        {"Alert.time_ms", Meaning::kInstant},
        {"Job.paused_from_ms", Meaning::kInstant},
        {"Job.paused_ms", Meaning::kDuration},
        {"Pause.time_ms", Meaning::kInstant},
        {"RankExited.corrected_ms", Meaning::kInstant},
        {"Checkpoint.time_ms", Meaning::kInstant},
        {"EarlierTime.until_ms", Meaning::kInstant},
        {"Event.time_ms", Meaning::kInstant},
        {"ExpertBalance.time_ms", Meaning::kInstant},
        {"GetExpertsResponse.as_of_ms", Meaning::kInstant},
        {"GetDataReportResponse.as_of_ms", Meaning::kInstant},
        {"GetDataReportResponse.time_ms", Meaning::kInstant},
        {"FlightRecord.entered_ms", Meaning::kInstant},
        {"FlightRecord.queued_ms", Meaning::kInstant},
        {"CheckNodesResponse.as_of_ms", Meaning::kInstant},
        {"StoreScrub.finished_ms", Meaning::kInstant},
        {"GetJobResponse.as_of_ms", Meaning::kInstant},
        {"Heal.began_ms", Meaning::kInstant},
        {"Heal.healed_ms", Meaning::kInstant},
        {"GetLossReportResponse.as_of_ms", Meaning::kInstant},
        {"GetSeriesResponse.as_of_ms", Meaning::kInstant},
        {"GetServerInfoResponse.as_of_ms", Meaning::kInstant},
        {"GetServerInfoResponse.started_time_ms", Meaning::kInstant},
        {"Job.ended_time_ms", Meaning::kInstant},
        {"Job.not_before_ms", Meaning::kInstant},
        {"Job.submitted_time_ms", Meaning::kInstant},
        {"LedgerSpan.begin_ms", Meaning::kInstant},
        {"LedgerSpan.end_ms", Meaning::kInstant},
        {"ListEventsResponse.as_of_ms", Meaning::kInstant},
        {"ListJobsResponse.as_of_ms", Meaning::kInstant},
        {"ListNodesResponse.as_of_ms", Meaning::kInstant},
        {"ListRanksResponse.as_of_ms", Meaning::kInstant},
        {"LogLine.time_ms", Meaning::kInstant},
        {"NodeSuspected.last_heartbeat_ms", Meaning::kInstant},
        {"PhaseSum.length_ms", Meaning::kDuration},
        {"PhaseSum.slot_ms", Meaning::kDuration},
        {"Prerequisite.ended_time_ms", Meaning::kInstant},
        {"Progress.time_ms", Meaning::kInstant},
        {"RankExited.time_ms", Meaning::kInstant},
        {"RankStarted.time_ms", Meaning::kInstant},
        {"RankStatus.last_progress_ms", Meaning::kInstant},
        {"Rollback.time_ms", Meaning::kInstant},
        {"Series.times_ms", Meaning::kInstant},
        {"StorageProblem.since_ms", Meaning::kInstant},
        {"TrainedSteps.length_ms", Meaning::kDuration},
        {"TrainedSteps.slot_ms", Meaning::kDuration},
        {"Verdict.time_ms", Meaning::kInstant},
    };
    all.merge(NodeMeanings());
    all.merge(QueueMeanings());
    all.merge(AttemptMeanings());
    all.merge(TimeUseMeanings());
    return all;
  }();
  return meanings;
}

void AddReachable(const Descriptor& type, std::set<const Descriptor*>& types) {
  if (type.full_name() == "google.protobuf.Duration" || !types.insert(&type).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    if (const Descriptor* inner = type.field(i)->message_type()) AddReachable(*inner, types);
  }
}

// Returns all response messages of the services that the CLI uses, and the messages inside them.
std::set<const Descriptor*> OutputMessages() {
  std::set<const Descriptor*> types;
  for (const Descriptor* any :
       {v1::GetJobResponse::descriptor(), v1::ReadLogsResponse::descriptor(),
        v1::Series::descriptor(), v1::ListNodesResponse::descriptor(),
        v1::ListQueuesResponse::descriptor()}) {
    const google::protobuf::FileDescriptor& file = *any->file();
    for (int i = 0; i < file.service_count(); ++i) {
      for (int j = 0; j < file.service(i)->method_count(); ++j) {
        AddReachable(*file.service(i)->method(j)->output_type(), types);
      }
    }
  }
  return types;
}

// Prints a message in which one field is set to 1,795,262,400,054 ms.
nlohmann::json PrintedWith(const FieldDescriptor& field) {
  constexpr int64_t kValue = 1795262400054;
  const std::unique_ptr<Message> message(google::protobuf::MessageFactory::generated_factory()
                                             ->GetPrototype(field.containing_type())
                                             ->New());
  if (field.is_repeated()) {
    message->GetReflection()->AddInt64(message.get(), &field, kValue);
  } else {
    message->GetReflection()->SetInt64(message.get(), &field, kValue);
  }
  return StableJson(*message);
}

void ExpectPrintedAs(Meaning meaning, const FieldDescriptor& field) {
  const std::string stem = field.name().substr(0, field.name().size() - 3);
  const bool duration = meaning == Meaning::kDuration;
  const std::string key = duration ? stem + "_seconds" : stem;
  const nlohmann::json printed = PrintedWith(field);
  EXPECT_FALSE(printed.contains(field.name())) << field.full_name();
  ASSERT_TRUE(printed.contains(key)) << field.full_name();
  const nlohmann::json value = field.is_repeated() ? printed[key][0] : printed[key];
  const nlohmann::json expected =
      duration ? nlohmann::json(1795262400.054) : nlohmann::json("2026-11-21T12:00:00.054Z");
  EXPECT_EQ(value, expected) << field.full_name();
}

TEST(StableJsonTest, EveryFieldOfMillisecondsIsPrintedByItsMeaning) {
  std::set<std::string> seen;
  for (const Descriptor* type : OutputMessages()) {
    for (int i = 0; i < type->field_count(); ++i) {
      const FieldDescriptor& field = *type->field(i);
      // The rule for *_ms does not cover fields with another unit or type.
      EXPECT_FALSE(absl::EndsWith(field.name(), "_us") || absl::EndsWith(field.name(), "_ns"))
          << field.full_name();
      if (!absl::EndsWith(field.name(), "_ms")) continue;
      EXPECT_EQ(field.cpp_type(), FieldDescriptor::CPPTYPE_INT64) << field.full_name();
      const std::string name = absl::StrCat(type->name(), ".", field.name());
      const auto meaning = Meanings().find(name);
      ASSERT_NE(meaning, Meanings().end()) << name << ": an instant or a duration?";
      ExpectPrintedAs(meaning->second, field);
      seen.insert(name);
    }
  }
  EXPECT_EQ(seen.size(), Meanings().size()) << "Meanings() names a field that is gone";
}

TEST(StableJsonTest, ADurationOfNothingIsZeroSeconds) {
  v1::TimeUse use;
  use.set_checkpoint_ms(54);
  const nlohmann::json json = StableJson(use);
  EXPECT_EQ(json["checkpoint_seconds"], 0.054);
  EXPECT_EQ(json["load_seconds"], 0.0);
  EXPECT_EQ(json["stalled_since"], nullptr);
}

TEST(StableJsonTest, NumbersThatAreNotKnownAreNull) {
  v1::Job job;
  job.mutable_progress()->set_step(3);
  job.add_attempts()->mutable_verdict()->set_rank(-1);
  const nlohmann::json json = StableJson(job);
  EXPECT_EQ(json["progress"]["step"], 3);
  for (const auto& [key, value] : json["progress"].items()) {
    EXPECT_TRUE(value.is_null() || key == "step" || key == "evaluations") << key;
  }
  EXPECT_EQ(json["restarts"], 0);  // A real zero.
  EXPECT_EQ(json["notes_written"], 0);
  EXPECT_EQ(json["cloned_from"], nullptr);
  EXPECT_EQ(json["resumed_from"], nullptr);
  EXPECT_EQ(json["attempts"][0]["last_step"], nullptr);
  EXPECT_EQ(json["attempts"][0]["verdict"]["rank"], nullptr);
  EXPECT_EQ(json["attempts"][0]["verdict"]["exit_code"], nullptr);
}

TEST(StableJsonTest, ADataJobOfUnknownRateHasNone) {
  v1::DataProgress data;
  data.set_documents(7);
  const nlohmann::json json = StableJson(data);
  EXPECT_EQ(json["documents"], 7);
  EXPECT_EQ(json["dropped_documents"], 0);
  EXPECT_EQ(json["stage"], nullptr);
  EXPECT_EQ(json["bytes_per_second"], nullptr);
}

TEST(StableJsonTest, AFreeSlotHasNoRank) {
  v1::SlotUse use;
  EXPECT_EQ(StableJson(use)["rank"], nullptr);
  use.set_job_id(4);
  EXPECT_EQ(StableJson(use)["rank"], 0);
}

TEST(StableJsonTest, AbsentFieldsAreThere) {
  const nlohmann::json job = StableJson(v1::Job());
  EXPECT_EQ(job["id"], 0);
  EXPECT_EQ(job["name"], "");
  EXPECT_EQ(job["state"], "unspecified");
  EXPECT_EQ(job["attempts"], nlohmann::json::array());
  EXPECT_EQ(job["progress"], nullptr);
  EXPECT_EQ(job["submitted_time"], nullptr);
  EXPECT_FALSE(job.contains("submitted_time_ms"));
}

TEST(StableJsonTest, AnOptionalFieldThatIsNotSetIsNull) {
  v1::PlanLayoutResponse plan;
  EXPECT_EQ(StableJson(plan)["mfu"], nullptr);
  EXPECT_EQ(StableJson(plan)["problem"], nullptr);
  plan.set_mfu(0);
  EXPECT_EQ(StableJson(plan)["mfu"], 0.0);
}

TEST(StableJsonTest, NestedMessagesAndMapsToo) {
  v1::ListJobsResponse response;
  response.add_jobs()->add_attempts()->set_number(2);
  (*response.mutable_pending())[7].set_message("m");
  const nlohmann::json json = StableJson(response);
  EXPECT_EQ(json["jobs"][0]["attempts"][0]["ended_time"], nullptr);
  EXPECT_EQ(json["pending"]["7"]["message"], "m");
  EXPECT_EQ(json["pending"]["7"]["advice"], "");
}

TEST(StableJsonTest, ASpecKeepsOnlyWhatIsSet) {
  v1::Job job;
  job.mutable_spec()->set_name("x");
  EXPECT_EQ(StableJson(job)["spec"], nlohmann::json({{"name", "x"}}));
}

TEST(StableJsonTest, AnEventHasOnlyItsKind) {
  v1::Event event;
  event.set_time_ms(1795262400000);
  event.mutable_attempt_running()->set_job_id(1);
  const nlohmann::json json = StableJson(event);
  EXPECT_EQ(json["time"], "2026-11-21T12:00:00.000Z");
  EXPECT_EQ(json["attempt_running"]["attempt"], 0);
  EXPECT_FALSE(json.contains("job_placed"));
}

}  // namespace
}  // namespace trainyard::cli
