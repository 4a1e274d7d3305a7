// Tests the events caused by checkpoint records, alerts and other texts that ranks write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/core/decide/decide_worker.h"
#include "proto/contract/limits.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

ReceiveTelemetry CheckpointRecord(int64_t job_id, int64_t attempt_number, int64_t step) {
  ReceiveTelemetry request{job_id, attempt_number, 0, {}};
  request.record.mutable_checkpoint()->set_step(step);
  request.record.mutable_checkpoint()->set_path("/c/" + std::to_string(step));
  return request;
}

// Submits a one-slot job and fails its first attempt. Returns the job with its second attempt
// placed.
int64_t SubmitAndRestart(TestCluster& cluster) {
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  cluster.Pass(1500);
  return job;
}

TEST(WorkerTelemetryTest, CheckpointsArePublishedOnceAndDeleted) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  EXPECT_THAT(Kinds(cluster.Do(CheckpointRecord(job, 1, 10))), ElementsAre("CheckpointPublished"));
  EXPECT_THAT(cluster.Do(CheckpointRecord(job, 1, 10)), IsEmpty());
  EXPECT_THAT(Kinds(cluster.Do(CheckpointRecord(job, 1, 20))), ElementsAre("CheckpointPublished"));
  EXPECT_EQ(cluster.Attempt(job).last_step(), 20);
  ReceiveTelemetry removal = CheckpointRecord(job, 1, 10);
  removal.record.mutable_checkpoint()->set_deleted(true);
  EXPECT_THAT(Kinds(cluster.Do(removal)), ElementsAre("CheckpointDeleted"));
  EXPECT_THAT(cluster.Do(removal), IsEmpty());
  ASSERT_EQ(cluster.Job(job).checkpoints_size(), 1);
  EXPECT_EQ(cluster.Job(job).checkpoints(0).step(), 20);
  ASSERT_EQ(cluster.Job(job).deleted_checkpoints_size(), 1);
  EXPECT_EQ(cluster.Job(job).deleted_checkpoints(0).step(), 10);
  EXPECT_TRUE(cluster.Job(job).deleted_checkpoints(0).deleted());
}

TEST(WorkerTelemetryTest, TheNewestHundredDeletedCheckpointsStayListed) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  for (int step = 1; step <= 105; ++step) {
    ReceiveTelemetry record = CheckpointRecord(job, 1, step);
    cluster.Do(record);
    record.record.mutable_checkpoint()->set_deleted(true);
    cluster.Do(record);
  }
  ASSERT_EQ(cluster.Job(job).deleted_checkpoints_size(), 100);
  EXPECT_EQ(cluster.Job(job).deleted_checkpoints(0).step(), 6);
  cluster.Do(CheckpointRecord(job, 1, 50));
  EXPECT_EQ(cluster.Job(job).deleted_checkpoints_size(), 99) << "its directory exists again";
}

TEST(WorkerTelemetryTest, ACheckpointIsPublishedWithAllThatItsRecordSays) {
  TestCluster cluster;
  const int64_t job = SubmitAndRestart(cluster);
  ASSERT_EQ(cluster.Attempt(job).number(), 2);
  ReceiveTelemetry request = CheckpointRecord(job, 2, 10);
  request.record.set_time_ms(777);
  request.record.mutable_checkpoint()->set_bytes(4096);
  std::vector<v1::Event> events = cluster.Do(request);
  ASSERT_THAT(Kinds(events), ElementsAre("CheckpointPublished"));
  EXPECT_EQ(events[0].actor(), "rank 0");
  EXPECT_EQ(events[0].checkpoint_published().job_id(), job);
  const v1::Checkpoint published = events[0].checkpoint_published().checkpoint();
  EXPECT_EQ(published.step(), 10);
  EXPECT_EQ(published.attempt(), 2);
  EXPECT_EQ(published.path(), "/c/10");
  EXPECT_EQ(published.bytes(), 4096);
  EXPECT_EQ(published.time_ms(), 777);
  // The worker has reconnected and reports a checkpoint of an older attempt.
  request = CheckpointRecord(job, 2, 20);
  request.record.mutable_checkpoint()->set_attempt(1);
  events = cluster.Do(request);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].checkpoint_published().checkpoint().attempt(), 1);
  request.record.mutable_checkpoint()->set_deleted(true);
  events = cluster.Do(request);
  ASSERT_THAT(Kinds(events), ElementsAre("CheckpointDeleted"));
  EXPECT_EQ(events[0].checkpoint_deleted().job_id(), job);
  EXPECT_EQ(events[0].checkpoint_deleted().step(), 20);
  EXPECT_EQ(events[0].checkpoint_deleted().attempt(), 1);
}

TEST(WorkerTelemetryTest, ALaterAttemptDeletesTheCheckpointOfAnEarlierOneByItsPath) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.Do(CheckpointRecord(job, 1, 10));
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  cluster.Pass(1500);
  ASSERT_EQ(cluster.Attempt(job).number(), 2);
  ReceiveTelemetry removal = CheckpointRecord(job, 2, 10);
  removal.record.mutable_checkpoint()->set_deleted(true);
  const std::vector<v1::Event> events = cluster.Do(removal);
  ASSERT_THAT(Kinds(events), ElementsAre("CheckpointDeleted"));
  EXPECT_EQ(events[0].checkpoint_deleted().attempt(), 1);
}

TEST(WorkerTelemetryTest, ACheckpointIsOfNoLaterAttemptThanTheRankThatReportsIt) {
  TestCluster cluster;
  const int64_t job = SubmitAndRestart(cluster);
  ASSERT_EQ(cluster.Attempt(job).number(), 2);
  ReceiveTelemetry late = CheckpointRecord(job, 1, 10);
  for (const int64_t attempt : {-1, 2, 3}) {
    late.record.mutable_checkpoint()->set_attempt(attempt);
    EXPECT_THAT(cluster.Do(late), IsEmpty()) << attempt;
  }
  late.record.mutable_checkpoint()->set_attempt(1);
  EXPECT_THAT(Kinds(cluster.Do(late)), ElementsAre("CheckpointPublished"));
  late.record.mutable_checkpoint()->set_attempt(2);
  late.record.mutable_checkpoint()->set_deleted(true);
  EXPECT_THAT(cluster.Do(late), IsEmpty());
}

TEST(WorkerTelemetryTest, ACheckpointNeedsAPathOfBoundedLength) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  ReceiveTelemetry request = CheckpointRecord(job, 1, 10);
  for (const std::size_t length : {0, 4097}) {
    request.record.mutable_checkpoint()->set_path(std::string(length, 'x'));
    EXPECT_THAT(cluster.Do(request), IsEmpty()) << length;
  }
  request.record.mutable_checkpoint()->set_path(std::string(4096, 'x'));
  EXPECT_THAT(Kinds(cluster.Do(request)), ElementsAre("CheckpointPublished"));
}

TEST(WorkerTelemetryTest, TelemetryOfUnknownAttemptsIsNoEvent) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  EXPECT_THAT(cluster.Do(CheckpointRecord(job, 1, 10)), IsEmpty());
  cluster.RunJob(job);
  EXPECT_THAT(cluster.Do(CheckpointRecord(job, 2, 10)), IsEmpty());
  EXPECT_THAT(cluster.Do(CheckpointRecord(99, 1, 10)), IsEmpty());
  ReceiveTelemetry alert{job, 1, 0, {}};
  alert.record.mutable_alert()->set_code("nan_loss");
  alert.record.mutable_alert()->set_message(std::string(5000, 'x'));
  const std::vector<v1::Event> events = cluster.Do(alert);
  ASSERT_THAT(Kinds(events), ElementsAre("AlertRaised"));
  EXPECT_EQ(events[0].alert_raised().message().size(), 1024u);
}

TEST(WorkerTelemetryTest, AnAlertSaysWhereItCameFrom) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  cluster.Pass(1500);
  ReceiveTelemetry alert{job, 2, 3, {}};
  alert.record.mutable_alert()->set_step(40);
  alert.record.mutable_alert()->set_code("nan_loss");
  alert.record.mutable_alert()->set_message("the loss is not a number");
  const std::vector<v1::Event> events = cluster.Do(alert);
  ASSERT_THAT(Kinds(events), ElementsAre("AlertRaised"));
  EXPECT_EQ(events[0].time_ms(), cluster.now);
  EXPECT_EQ(events[0].actor(), "rank 3");
  const v1::AlertRaised& raised = events[0].alert_raised();
  EXPECT_EQ(raised.job_id(), job);
  EXPECT_EQ(raised.attempt(), 2);
  EXPECT_EQ(raised.step(), 40);
  EXPECT_EQ(raised.code(), "nan_loss");
  EXPECT_EQ(raised.message(), "the loss is not a number");
}

// If a text were cut inside a UTF-8 sequence,
// neither the event nor the event log could be read.
TEST(WorkerTelemetryTest, WhatIsCutCanStillBeReadBack) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  cluster.RunJob(job);
  std::string euros;
  for (int i = 0; i < 4000; ++i) euros += "\xE2\x82\xAC";
  std::vector<v1::Event> events;
  for (const std::string& text : {euros, "a" + euros, "ab" + euros}) {
    ReceiveTelemetry alert{job, 1, 0, {}};
    alert.record.mutable_alert()->set_code(text);
    alert.record.mutable_alert()->set_message(text);
    const std::vector<v1::Event> raised = cluster.Do(alert);
    events.insert(events.end(), raised.begin(), raised.end());
  }
  ReceiveFact exit{"a", {}};
  exit.fact.set_sequence(cluster.state.nodes.at("a").fact_sequence + 1);
  v1::RankExited& exited = *exit.fact.mutable_rank_exited();
  exited.set_job_id(job);
  exited.set_attempt(1);
  exited.set_exit_code(1);
  exited.set_log_tail("a" + euros);
  exited.set_spawn_error("ab" + euros);
  exited.set_stacks(euros);
  const std::vector<v1::Event> ended = cluster.Do(exit);
  ASSERT_THAT(Kinds(ended), ElementsAre("RankExited", "FactsReceived"));
  EXPECT_EQ(ended[0].rank_exited().stacks().size(), kMaxLogTailBytes - kMaxLogTailBytes % 3);
  events.insert(events.end(), ended.begin(), ended.end());
  ASSERT_GE(events.size(), 4u);
  for (const v1::Event& event : events) {
    EXPECT_TRUE(v1::Event().ParseFromString(event.SerializeAsString()));
  }
}

}  // namespace
}  // namespace trainyard::controller
