#include "controller/core/decide/lost_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "controller/core/observations/observe.h"
#include "controller/core/state/apply.h"
#include "controller/core/state/snapshot.h"
#include "controller/core/state/stream_fence.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

v1::LogMark Mark(uint64_t term, uint64_t sequence, int64_t job_id) {
  v1::LogMark mark;
  mark.set_term(term);
  mark.set_sequence(sequence);
  mark.set_job_id(job_id);
  return mark;
}

ReportLostEvents LossOf(const v1::LogMark& mark) { return {mark, "node b", 10}; }

v1::AttemptReport& AddReport(int64_t job_id, int64_t attempt, v1::Hello& hello) {
  v1::AttemptReport& report = *hello.add_attempts();
  report.set_job_id(job_id);
  report.set_attempt(attempt);
  report.add_ranks()->set_running(true);
  return report;
}

TEST(LostHistoryTest, NumbersJumpBeyondTheMarkAndALossIsRecordedOnce) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t job = cluster.Submit("job", 1, 1);
  const v1::LogMark mark = Mark(7, 25, 40);
  const std::vector<v1::Event> events = cluster.Do(LossOf(mark));
  ASSERT_THAT(Kinds(events), ElementsAre("EventsLost"));
  EXPECT_EQ(events[0].time_ms(), cluster.now);
  EXPECT_EQ(events[0].events_lost().seen_by(), "node b");
  EXPECT_EQ(events[0].events_lost().last_sequence(), 10u);
  EXPECT_TRUE(IsRecorded(cluster.state, mark));
  EXPECT_THAT(cluster.Do(LossOf(Mark(7, 30, 45))), IsEmpty()) << "the same loss";
  EXPECT_THAT(Kinds(cluster.Do(LossOf(Mark(8, 5, 1)))), ElementsAre("EventsLost"))
      << "another loss";
  EXPECT_GT(cluster.Submit("next", 1, 1), 40);
  cluster.RunJob(job);
  // 15 events were lost at least, and each may have been a start.
  EXPECT_GT(cluster.Attempt(job).number(), 15);
}

TEST(LostHistoryTest, ALossCoversItsTermUpToTheJobNumbersThatItSkipped) {
  TestCluster cluster;
  cluster.Do(LossOf(Mark(1, 25, 40)));
  const int64_t next = cluster.state.restored_jobs_below;
  EXPECT_TRUE(IsRecorded(cluster.state, Mark(1, 30, next - 1)));
  EXPECT_FALSE(IsRecorded(cluster.state, Mark(1, 30, next))) << "a job after the loss";
}

// An older release may have lost more events since.
TEST(LostHistoryTest, WithoutATermALossCoversItsEventsOnly) {
  TestCluster cluster;
  cluster.Do(LossOf(Mark(0, 25, 40)));
  EXPECT_TRUE(IsRecorded(cluster.state, Mark(0, 25, 40)));
  EXPECT_FALSE(IsRecorded(cluster.state, Mark(0, 26, 40)));
}

TEST(LostHistoryTest, AMarkWithAHigherJobNumberSkipsMore) {
  TestCluster cluster;
  cluster.Do(LossOf(Mark(7, 25, 40)));
  cluster.Do(LossOf(Mark(7, 26, 500'000)));
  EXPECT_GT(cluster.state.next_job_id, 500'000);
}

TEST(LostHistoryTest, AWorkerCannotUseUpTheNumbers) {
  const TestCluster cluster;
  for (const int64_t job_id : {0, 1'000'000}) {
    EXPECT_TRUE(CheckLogMark(cluster.state, Mark(1, 1, job_id)).ok()) << job_id;
  }
  for (const int64_t job_id :
       {int64_t{-1}, int64_t{2'000'000'000}, std::numeric_limits<int64_t>::max()}) {
    EXPECT_EQ(CheckLogMark(cluster.state, Mark(1, 1, job_id)).code(),
              absl::StatusCode::kInvalidArgument)
        << job_id;
  }
  TestCluster other;
  other.Do(LossOf(Mark(9, std::numeric_limits<uint64_t>::max(), 5)));
  EXPECT_LE(other.state.restored_attempt, 1'100'000'000);
}

TEST(LostHistoryTest, AWorkerIsRefusedUntilTheLossThatItKnowsIsRecorded) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  v1::Hello hello = cluster.HelloOf("a");
  *hello.mutable_log_mark() = Mark(7, 25, 40);
  EXPECT_EQ(cluster.Try(AttachWorker{hello, true}).code(), absl::StatusCode::kUnavailable);
  cluster.Do(LossOf(hello.log_mark()));
  EXPECT_TRUE(cluster.Try(AttachWorker{hello, true}).ok());
}

// Job `running` runs attempt 1 in this log; in truth its attempt 2, and another job, run on "a".
class UnmanagedTest : public testing::Test {
 protected:
  UnmanagedTest() {
    cluster_.AddNode("a", 2);
    cluster_.AddNode("b", 2);
    cluster_.RunJob(running_ = cluster_.Submit("job", 1, 2));
    cluster_.Do(LossOf(Mark(7, 99, running_ + 1)));
    hello_ = cluster_.HelloOf("a");
  }

  TestCluster cluster_;
  int64_t running_ = 0;
  v1::Hello hello_;
};

TEST_F(UnmanagedTest, AnUnknownAttemptOfAKnownJobGoesOnAndItsJobIsPaused) {
  ASSERT_EQ(cluster_.Placement(running_), "a:0 a:1");
  AddReport(running_, 2, hello_);
  EXPECT_THAT(Kinds(cluster_.Do(AttachWorker{hello_})), ElementsAre("NodeCordoned", "JobPaused"));
  EXPECT_EQ(cluster_.StateOf(running_), v1::JOB_STATE_PAUSING);
  EXPECT_THAT(cluster_.Job(running_).pause().reason(),
              AllOf(HasSubstr("attempt 2"), HasSubstr("node a"), HasSubstr("trainyard resume")));
  EXPECT_THAT(cluster_.state.nodes.at("a").node.cordon_reason(), HasSubstr("attempt 2 of job 1"));
  // Attempt 1 is stopped, which stops no newer one.
  cluster_.ForgetReport("a", running_);
  ObserveAttached(hello_, cluster_.now, cluster_.state, cluster_.observations);
  EXPECT_THAT(cluster_.Commands(), ElementsAre("stop a 1/1 60000"));
  cluster_.ClearAll(running_);
  EXPECT_EQ(cluster_.StateOf(running_), v1::JOB_STATE_PAUSED);
  EXPECT_THAT(cluster_.Commands(), IsEmpty());
}

TEST_F(UnmanagedTest, AQueuedJobThatRunsInTruthIsHeld) {
  const int64_t queued = 1;
  TestCluster cluster;
  cluster.AddNode("a", 1);
  ASSERT_EQ(cluster.Submit("queued", 1, 1), queued);
  cluster.Do(LossOf(Mark(7, 99, 1)));
  v1::Hello hello = cluster.HelloOf("a");
  AddReport(queued, 1, hello);
  cluster.Do(AttachWorker{hello});
  EXPECT_EQ(cluster.StateOf(queued), v1::JOB_STATE_HELD);
}

TEST_F(UnmanagedTest, ANewerLiveAttemptIsNotPausedForAnOldOne) {
  cluster_.ExitAll(running_, 1);
  cluster_.ClearAll(running_);
  cluster_.Pass(2000);
  ASSERT_GT(cluster_.Attempt(running_).number(), 2) << "numbers have jumped";
  AddReport(running_, 2, hello_);
  EXPECT_TRUE(IsUnmanaged(cluster_.state, {running_, 2}));
  EXPECT_THAT(Kinds(cluster_.Do(AttachWorker{hello_})), ElementsAre("NodeCordoned"));
}

TEST_F(UnmanagedTest, AttemptsThatTheLogKnowsAreManaged) {
  EXPECT_FALSE(IsUnmanaged(cluster_.state, {running_, 1}));
  EXPECT_TRUE(IsUnmanaged(cluster_.state, {running_, 2}));
  EXPECT_TRUE(IsUnmanaged(cluster_.state, {running_ + 1, 1})) << "a lost job";
  const int64_t next = cluster_.Submit("next", 1, 1);
  EXPECT_FALSE(IsUnmanaged(cluster_.state, {next, 1})) << "a number from after the loss";
  EXPECT_FALSE(IsUnmanaged(cluster_.state, {running_, cluster_.state.restored_attempt}));
}

TEST(LostHistoryTest, TheLossSurvivesASnapshotAndIsSaidForAWeek) {
  TestCluster cluster;
  cluster.Do(LossOf(Mark(7, 25, 40)));
  v1::Event lost;
  lost.set_time_ms(cluster.now);
  lost.mutable_store_data_lost()->set_store("logs");
  lost.mutable_store_data_lost()->set_reason("it is an older copy");
  Apply(lost, cluster.state);
  const ClusterState copy = FromSnapshot(ToSnapshot(cluster.state, 3));
  const std::vector<std::string> warnings = LossWarnings(copy, cluster.now);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_THAT(warnings[0], AllOf(HasSubstr("node b"), HasSubstr("event 25"),
                                 HasSubstr("events.db-wal"), HasSubstr("trainyard nodes")));
  EXPECT_THAT(warnings[1], AllOf(HasSubstr("logs.db has lost data"), HasSubstr("older copy")));
  EXPECT_TRUE(IsRecorded(copy, Mark(7, 25, 40)));
  EXPECT_THAT(LossWarnings(copy, cluster.now + 8 * 86'400'000LL), IsEmpty());
}

TEST(LostHistoryTest, NothingIsPlacedUntilTheWorkersHadTimeToAttach) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.AddNode("b", 1);
  cluster.options.confirm_log_ms = 5000;
  cluster.observations = {};
  cluster.observations.since_ms = cluster.now;
  const auto confirmed = [&](int64_t later) {
    return IsLogConfirmed(cluster.state, cluster.observations, cluster.options,
                          cluster.now + later);
  };
  const auto may_place = [&](int64_t later) {
    return MayPlace(cluster.state, cluster.observations, cluster.options, cluster.now + later);
  };
  EXPECT_FALSE(confirmed(0));
  EXPECT_FALSE(may_place(4999));
  EXPECT_TRUE(may_place(5000));
  cluster.observations.nodes["a"].attached = true;
  EXPECT_FALSE(confirmed(1000)) << "b may know more";
  cluster.observations.nodes["b"].attached = true;
  EXPECT_TRUE(may_place(1000));

  cluster.Do(LossOf(Mark(7, 25, 40)));
  cluster.observations.nodes["b"].attached = false;
  EXPECT_FALSE(may_place(cluster.options.return_within_ms - 1)) << "its slots may be in use";
  EXPECT_TRUE(may_place(cluster.options.return_within_ms));
  EXPECT_TRUE(confirmed(6000)) << "numbers have jumped and need not wait";
}

}  // namespace
}  // namespace trainyard::controller
