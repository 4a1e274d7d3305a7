#include "cli/output/stable_json.h"

#include "gtest/gtest.h"
#include "trainyard/v1/event.pb.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::cli {
namespace {

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

TEST(StableJsonTest, NestedMessagesAndMapsToo) {
  v1::ListJobsResponse response;
  response.add_jobs()->add_attempts()->set_epoch(2);
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
  EXPECT_EQ(json["attempt_running"]["epoch"], 0);
  EXPECT_FALSE(json.contains("job_placed"));
}

}  // namespace
}  // namespace trainyard::cli
