// Tests the fields of events caused by workers, and tests reports that do not fail an attempt.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/core/decide/decide_worker.h"
#include "proto/contract/limits.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// A job running on both slots of node "a".
class WorkerEventsTest : public testing::Test {
 protected:
  WorkerEventsTest() {
    cluster_.AddNode("a", 2);
    job_ = cluster_.Submit("job", 1, 2);
    cluster_.RunJob(job_);
  }

  // Returns the Hello of a new worker process on node "a" with an empty data directory.
  v1::Hello HelloWithoutData() const {
    v1::Hello hello = cluster_.HelloOf("a");
    hello.set_incarnation("2");
    return hello;
  }

  ReceiveFact ExitOfRank0() const {
    ReceiveFact exit{"a", {}};
    exit.fact.set_sequence(cluster_.state.nodes.at("a").fact_sequence + 1);
    exit.fact.mutable_rank_exited()->set_job_id(job_);
    exit.fact.mutable_rank_exited()->set_attempt(1);
    exit.fact.mutable_rank_exited()->set_exit_code(1);
    return exit;
  }

  ReceiveTelemetry Deletion(int64_t attempt, const std::string& path) const {
    ReceiveTelemetry removal{job_, attempt, 0, {}};
    removal.record.mutable_checkpoint()->set_step(10);
    removal.record.mutable_checkpoint()->set_path(path);
    removal.record.mutable_checkpoint()->set_deleted(true);
    return removal;
  }

  // Fails the current attempt and runs the next attempt.
  void RunNextAttempt() {
    cluster_.ExitAll(job_, 1);
    cluster_.ClearAll(job_);
    cluster_.Pass(1500);
    cluster_.StartAll(job_);
    ASSERT_EQ(cluster_.Attempt(job_).number(), 2);
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(WorkerEventsTest, EventsOfAFactNameTheNode) {
  const std::vector<v1::Event> events = cluster_.Do(ExitOfRank0());
  ASSERT_THAT(Kinds(events), ElementsAre("RankExited", "FactsReceived"));
  for (const v1::Event& event : events) {
    EXPECT_EQ(event.actor(), "node a");
    EXPECT_EQ(event.time_ms(), cluster_.now);
  }
}

TEST_F(WorkerEventsTest, AFailureForLostDataNamesTheNode) {
  const std::vector<v1::Event> events = cluster_.Do(AttachWorker{HelloWithoutData()});
  ASSERT_THAT(Kinds(events), ElementsAre("NodeJoined", "AttemptFailed", "NodeBlamed"));
  EXPECT_EQ(events[1].actor(), "node a");
  EXPECT_EQ(events[1].time_ms(), cluster_.now);
  EXPECT_EQ(events[1].attempt_failed().job_id(), job_);
  EXPECT_EQ(events[1].attempt_failed().attempt(), 1);
}

TEST_F(WorkerEventsTest, AnOlderAttemptThatStillRunsIsNoDataOfTheNewest) {
  RunNextAttempt();
  v1::Hello hello = HelloWithoutData();
  hello.add_attempts()->set_job_id(job_);
  hello.mutable_attempts(0)->set_attempt(1);
  EXPECT_THAT(Kinds(cluster_.Do(AttachWorker{hello})), Contains("AttemptFailed"));
}

TEST_F(WorkerEventsTest, AStoppingAttemptDoesNotFailForLostData) {
  cluster_.Stop(job_);
  EXPECT_THAT(Kinds(cluster_.Do(AttachWorker{HelloWithoutData()})), ElementsAre("NodeJoined"));
}

TEST_F(WorkerEventsTest, AStoppingAttemptDoesNotFailForANewNodeInThePlaceOfItsOwn) {
  v1::Hello hello = cluster_.HelloOf("a");
  hello.set_place("place");
  cluster_.Do(AttachWorker{hello});
  cluster_.Stop(job_);
  hello.set_node_id("b");
  const std::vector<v1::Event> events = cluster_.Do(AttachWorker{hello});
  ASSERT_THAT(Kinds(events), ElementsAre("NodeJoined", "NodeLost"));
  EXPECT_EQ(events[1].actor(), "controller");
  EXPECT_EQ(events[1].time_ms(), cluster_.now);
  EXPECT_EQ(events[1].node_lost().node_id(), "a");
  EXPECT_EQ(events[1].node_lost().reason(),
            "its worker lost the files of its data directory and therefore returned as the new "
            "node b");
}

TEST_F(WorkerEventsTest, ANodeWhoseRanksHaveNotStartedHasNoDataToLose) {
  cluster_.AddNode("b", 2);
  cluster_.Stop(job_);
  cluster_.ClearAll(job_);
  const int64_t wide = cluster_.Submit("wide", 2, 2);
  cluster_.Settle();
  ASSERT_EQ(cluster_.Placement(wide), "a:0 a:1 b:0 b:1");
  cluster_.StartRank(wide, 2);
  EXPECT_THAT(Kinds(cluster_.Do(AttachWorker{HelloWithoutData()})), ElementsAre("NodeJoined"));
}

TEST_F(WorkerEventsTest, TextsOfAnExitAreTruncated) {
  ReceiveFact exit = ExitOfRank0();
  v1::RankExited& exited = *exit.fact.mutable_rank_exited();
  const std::string line = "0123456789abcde\n";
  for (std::size_t size = 0; size <= kMaxLogTailBytes; size += line.size()) {
    exited.mutable_log_tail()->append(line);
  }
  exited.set_spawn_error(std::string(kMaxAlertBytes + 1, 's'));
  exited.set_limit_exceeded(std::string(kMaxAlertBytes + 1, 'l'));
  const std::vector<v1::Event> events = cluster_.Do(exit);
  ASSERT_THAT(Kinds(events), ElementsAre("RankExited", "FactsReceived"));
  const v1::RankExited& recorded = events[0].rank_exited();
  EXPECT_EQ(recorded.log_tail(), exited.log_tail().substr(line.size())) << "whole lines remain";
  EXPECT_EQ(recorded.spawn_error(), std::string(kMaxAlertBytes, 's'));
  EXPECT_EQ(recorded.limit_exceeded(), std::string(kMaxAlertBytes, 'l'));
}

TEST_F(WorkerEventsTest, AnExitHasNoCorrectedTimeUnlessTheClockOfItsNodeIsKnown) {
  ReceiveFact exit = ExitOfRank0();
  exit.fact.mutable_rank_exited()->set_time_ms(cluster_.now);
  exit.ran_ms = cluster_.now;
  const std::vector<v1::Event> events = cluster_.Do(exit);
  ASSERT_THAT(Kinds(events), ElementsAre("RankExited", "FactsReceived"));
  EXPECT_EQ(events[0].rank_exited().corrected_ms(), 0);
}

TEST_F(WorkerEventsTest, AnExitStatesWhetherTheRankWasAskedToStop) {
  ReceiveFact exit = ExitOfRank0();
  exit.fact.mutable_rank_exited()->set_time_ms(cluster_.now);
  // Only the controller sets this field.
  exit.fact.mutable_rank_exited()->set_stop_requested(true);
  EXPECT_FALSE(cluster_.Do(exit)[0].rank_exited().stop_requested());
}

TEST_F(WorkerEventsTest, AnExitBeforeTheStopRequestIsNoConsequenceOfIt) {
  ReceiveFact exit = ExitOfRank0();
  exit.fact.mutable_rank_exited()->set_time_ms(cluster_.now);
  cluster_.now += 10;
  cluster_.Stop(job_);
  EXPECT_FALSE(cluster_.Do(exit)[0].rank_exited().stop_requested());
}

TEST_F(WorkerEventsTest, ACheckpointKeepsTheMetricOfItsRecord) {
  ReceiveTelemetry published{job_, 1, 0, {}};
  v1::CheckpointRecord& record = *published.record.mutable_checkpoint();
  record.set_step(10);
  record.set_path("/c/10");
  record.set_metric("val");
  record.set_metric_value(2.5);
  const std::vector<v1::Event> events = cluster_.Do(published);
  ASSERT_THAT(Kinds(events), ElementsAre("CheckpointPublished"));
  EXPECT_EQ(events[0].checkpoint_published().checkpoint().metric(), "val");
  EXPECT_EQ(events[0].checkpoint_published().checkpoint().metric_value(), 2.5);
}

TEST_F(WorkerEventsTest, ADeletedCheckpointIsFoundByItsAttemptOrItsPath) {
  ReceiveTelemetry published = Deletion(1, "/c/10");
  published.record.mutable_checkpoint()->set_deleted(false);
  cluster_.Do(published);
  RunNextAttempt();
  EXPECT_THAT(cluster_.Do(Deletion(2, "/elsewhere/10")), IsEmpty()) << "another checkpoint";
  EXPECT_THAT(Kinds(cluster_.Do(Deletion(1, "/elsewhere/10"))), ElementsAre("CheckpointDeleted"))
      << "its directory was moved";
}

TEST_F(WorkerEventsTest, TelemetryWithoutAnAttemptIsNoEvent) {
  for (const int64_t attempt : {-1, 0}) {
    ReceiveTelemetry alert{job_, attempt, 0, {}};
    alert.record.mutable_alert()->set_code("nan_loss");
    EXPECT_THAT(cluster_.Do(alert), IsEmpty()) << attempt;
  }
}

}  // namespace
}  // namespace trainyard::controller
