#include "controller/core/decide/lost_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/observations/observe.h"
#include "controller/core/state/attempts/stream_fence.h"
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
  // At least 15 events were lost, each of which may have started an attempt.
  EXPECT_GT(cluster.Attempt(job).number(), 15);
}

TEST(LostHistoryTest, ALossCoversItsTermUpToTheJobNumbersThatItSkipped) {
  TestCluster cluster;
  cluster.Do(LossOf(Mark(1, 25, 40)));
  const int64_t next = cluster.state.restored_jobs_below;
  EXPECT_TRUE(IsRecorded(cluster.state, Mark(1, 30, next - 1)));
  EXPECT_FALSE(IsRecorded(cluster.state, Mark(1, 30, next))) << "a job after the loss";
}

// A controller of an older release may have lost more events since its recorded loss.
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

// In this event log, job `running` runs attempt 1. In reality, node "a" runs the job's attempt 2
// and another job.
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
  // Stopping attempt 1 must not stop a newer attempt.
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

// The mark is 15 events and 39 job numbers ahead of the event log.
TEST(LostHistoryTest, ALossSkipsWhatItsMarkProvesAndAMargin) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.Submit("job", 1, 1);
  ASSERT_EQ(cluster.state.next_job_id, 2);
  const auto loss_of = [&](const v1::LogMark& mark) {
    const auto events = Decide(cluster.state, LossOf(mark), cluster.options, cluster.now);
    EXPECT_TRUE(events.ok()) << events.status();
    EXPECT_EQ(events->at(0).actor(), "controller");
    return events->at(0).events_lost();
  };
  EXPECT_EQ(loss_of(Mark(7, 25, 40)).skipped_job_ids(), 10'000 + 39);
  EXPECT_EQ(loss_of(Mark(7, 25, 40)).skipped_attempts(), 1000 + 15);
  for (const int64_t known_job : {0, 1}) {
    EXPECT_EQ(loss_of(Mark(7, 25, known_job)).skipped_job_ids(), 10'000) << known_job;
  }
  for (const uint64_t known_event : {9, 10}) {
    EXPECT_EQ(loss_of(Mark(7, known_event, 40)).skipped_attempts(), 1000) << known_event;
  }
  EXPECT_EQ(loss_of(Mark(7, std::numeric_limits<uint64_t>::max(), 40)).skipped_attempts(),
            1000 + 1'000'000'000);
}

TEST(LostHistoryTest, AMarkMayBeABillionJobsAhead) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.Submit("job", 1, 1);
  ASSERT_EQ(cluster.state.next_job_id, 2);
  EXPECT_TRUE(CheckLogMark(cluster.state, Mark(1, 1, 1'000'000'001)).ok());
  const absl::Status refused = CheckLogMark(cluster.state, Mark(1, 1, 1'000'000'002));
  EXPECT_THAT(refused.message(), AllOf(HasSubstr("had job 1000000002,"),
                                       HasSubstr("but the newest job in the event log is 1.")));
}

TEST(LostHistoryTest, ALossIsSaidForSevenDaysToTheMillisecond) {
  TestCluster cluster;
  cluster.Do(LossOf(Mark(7, 25, 40)));
  const Timestamp end = cluster.now + 7 * 86'400'000LL;
  EXPECT_EQ(LossWarnings(cluster.state, end - 1).size(), 1u);
  EXPECT_THAT(LossWarnings(cluster.state, end), IsEmpty());
}

TEST(LostHistoryTest, SevenDaysAfterALossPlacementNoLongerWaitsForTheWorkers) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.Do(LossOf(Mark(7, 25, 40)));
  const Timestamp end = cluster.now + 7 * 86'400'000LL;
  cluster.observations = {};
  cluster.observations.since_ms = end - 1000;
  EXPECT_FALSE(MayPlace(cluster.state, cluster.observations, cluster.options, end - 1));
  EXPECT_TRUE(MayPlace(cluster.state, cluster.observations, cluster.options, end));
}

TEST(LostHistoryTest, PlacementWaitsForTheWorkersFromTheMomentOfTheLossOn) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  cluster.Do(LossOf(Mark(7, 25, 40)));
  cluster.observations = {};
  cluster.observations.since_ms = cluster.now;
  EXPECT_FALSE(MayPlace(cluster.state, cluster.observations, cluster.options, cluster.now));
}

TEST_F(UnmanagedTest, ThePauseNamesTheControllerAndItsTime) {
  AddReport(running_, 2, hello_);
  const std::vector<v1::Event> pauses = PausesForUnmanaged(cluster_.state, hello_, cluster_.now);
  ASSERT_THAT(Kinds(pauses), ElementsAre("JobPaused"));
  EXPECT_EQ(pauses[0].actor(), "controller");
  EXPECT_EQ(pauses[0].time_ms(), cluster_.now);
  EXPECT_EQ(pauses[0].job_paused().job_id(), running_);
}

TEST_F(UnmanagedTest, AJobThatIsStoppedPausedOrOverIsNotPaused) {
  PauseJob pause;
  pause.request.set_job(std::to_string(running_));
  const TestCluster running = cluster_;
  AddReport(running_, 2, hello_);
  const auto pauses = [&] { return PausesForUnmanaged(cluster_.state, hello_, cluster_.now); };
  cluster_.Stop(running_);
  ASSERT_EQ(cluster_.StateOf(running_), v1::JOB_STATE_STOPPING);
  EXPECT_THAT(pauses(), IsEmpty());
  cluster_ = running;
  cluster_.Do(pause);
  ASSERT_EQ(cluster_.StateOf(running_), v1::JOB_STATE_PAUSING);
  EXPECT_THAT(pauses(), IsEmpty());
  cluster_.ExitAll(running_, 143);
  cluster_.ClearAll(running_);
  ASSERT_EQ(cluster_.StateOf(running_), v1::JOB_STATE_PAUSED);
  EXPECT_THAT(pauses(), IsEmpty());
  cluster_ = running;
  cluster_.ExitAll(running_, 0);
  ASSERT_EQ(cluster_.StateOf(running_), v1::JOB_STATE_RUNNING);
  EXPECT_THAT(pauses(), IsEmpty()) << "it ends in a moment";
  cluster_.ClearAll(running_);
  ASSERT_EQ(cluster_.StateOf(running_), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(pauses(), IsEmpty());
}

// The oldest attempt in the list is 5, and attempt 6 was lost.
TEST_F(UnmanagedTest, AttemptsBeforeTheOldestOfAFullListAreManaged) {
  v1::Job& job = cluster_.state.jobs.at(running_).job;
  job.clear_attempts();
  for (int i = 0; i < kAttemptsKept; ++i) job.add_attempts()->set_number(i == 0 ? 5 : 6 + i);
  EXPECT_FALSE(IsUnmanaged(cluster_.state, {running_, 4})) << "it left the list";
  EXPECT_FALSE(IsUnmanaged(cluster_.state, {running_, 5}));
  EXPECT_TRUE(IsUnmanaged(cluster_.state, {running_, 6}));
  job.mutable_attempts()->RemoveLast();
  EXPECT_TRUE(IsUnmanaged(cluster_.state, {running_, 4})) << "no attempt has left the list";
}

}  // namespace
}  // namespace trainyard::controller
