#include "controller/core/decide/pause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/explain.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/ledger/ledger.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr int kSavedAndLeft = 143;

PauseJob PauseOf(int64_t job) {
  PauseJob pause;
  pause.request.set_job(std::to_string(job));
  pause.principal = {"ada"};
  return pause;
}

ResumeJob ResumeOf(int64_t job) {
  ResumeJob resume;
  resume.request.set_job(std::to_string(job));
  resume.principal = {"ada"};
  return resume;
}

class PauseTest : public testing::Test {
 protected:
  PauseTest() { cluster_.AddNode("a", 2); }

  // Checks that a snapshot restores the state, as at a restart of the controller.
  void ExpectSnapshotHoldsIt() {
    const ClusterState copy = FromSnapshot(ToSnapshot(cluster_.state, 0));
    EXPECT_EQ(Bytes(copy), Bytes(cluster_.state));
    EXPECT_EQ(DifferentIndexes(copy, cluster_.state), "");
  }

  std::string Why(int64_t job) {
    return ExplainJob(cluster_.View(), cluster_.state.jobs.at(job)).answer();
  }

  // Runs a job on both slots until it has saved step 20.
  int64_t RunJob() {
    const int64_t job = cluster_.Submit("job", 1, 2);
    cluster_.RunJob(job);
    cluster_.Publish(job, 20);
    return job;
  }

  void LetItLeave(int64_t job, int exit_code = kSavedAndLeft) {
    cluster_.ExitAll(job, exit_code);
    cluster_.ClearAll(job);
  }

  int64_t PauseAndLeave() {
    const int64_t job = RunJob();
    cluster_.Do(PauseOf(job));
    LetItLeave(job);
    return job;
  }

  TestCluster cluster_;
};

TEST_F(PauseTest, ARunningJobSavesAndGivesItsSlotsBack) {
  const int64_t job = RunJob();
  EXPECT_THAT(Kinds(cluster_.Do(PauseOf(job))), ElementsAre("JobPaused"));
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_PAUSING);
  EXPECT_EQ(cluster_.Attempt(job).stop_reason(), v1::STOP_REASON_PAUSED);
  EXPECT_THAT(cluster_.Commands(), ElementsAre("stop a 1/1 60000")) << "the time to save";
  EXPECT_THAT(Why(job), HasSubstr("is being paused by user ada"));
  ExpectSnapshotHoldsIt();
  LetItLeave(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_PAUSED);
  EXPECT_EQ(cluster_.Job(job).restarts(), 0);
  EXPECT_EQ(FreeSlots(cluster_.state.nodes.at("a").node, v1::DEVICE_KIND_CPU), 2);
  EXPECT_THAT(Why(job), HasSubstr("is paused by user ada; it uses no slots and continues from the "
                                  "checkpoint of step 20 when it is resumed (asked for 0 ms ago)"));
  EXPECT_THAT(WhyPending(cluster_.View(), cluster_.state.jobs.at(job)).advice(),
              HasSubstr("trainyard resume 1"));
  ExpectSnapshotHoldsIt();
  const int64_t other = cluster_.Submit("other", 1, 2);
  cluster_.RunJob(other);
  cluster_.Pass(5000);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_PAUSED);
}

TEST_F(PauseTest, RanksExitAtTheRequest) {
  const int64_t job = RunJob();
  cluster_.Do(PauseOf(job));
  cluster_.ExitRank(job, 1, kSavedAndLeft);
  EXPECT_TRUE(cluster_.state.jobs.at(job).exited_ranks.at(1).stop_requested());
}

TEST_F(PauseTest, AResumedJobGoesOnFromItsCheckpointBeforeYoungerJobs) {
  const int64_t job = PauseAndLeave();
  const int64_t runs = cluster_.Submit("runs", 1, 2), waits = cluster_.Submit("waits", 1, 2);
  cluster_.RunJob(runs);
  EXPECT_THAT(Kinds(cluster_.Do(ResumeOf(job))), ElementsAre("JobResumed"));
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_QUEUED);
  EXPECT_FALSE(cluster_.Job(job).has_pause());
  ExpectSnapshotHoldsIt();
  cluster_.ExitAll(runs, 0);
  cluster_.ClearAll(runs);
  EXPECT_EQ(cluster_.StateOf(waits), v1::JOB_STATE_QUEUED);
  cluster_.RunJob(job);
  EXPECT_EQ(cluster_.Attempt(job).number(), 2);
  EXPECT_EQ(cluster_.Attempt(job).resume_step(), 20);
  EXPECT_EQ(cluster_.Job(job).restarts(), 0);
}

TEST_F(PauseTest, AHeldJobHoldsUpNobody) {
  const int64_t first = RunJob();
  const int64_t held = cluster_.Submit("held", 1, 2), younger = cluster_.Submit("younger", 1, 2);
  cluster_.Do(PauseOf(held));
  EXPECT_EQ(cluster_.StateOf(held), v1::JOB_STATE_HELD);
  EXPECT_THAT(Why(held), HasSubstr("is held by user ada"));
  EXPECT_THAT(Why(held), HasSubstr("it uses no slots and starts when it is resumed"));
  ExpectSnapshotHoldsIt();
  LetItLeave(first, 0);
  cluster_.RunJob(younger);
  cluster_.Do(ResumeOf(held));
  EXPECT_EQ(cluster_.StateOf(held), v1::JOB_STATE_QUEUED);
  LetItLeave(younger, 0);
  cluster_.RunJob(held);
}

TEST_F(PauseTest, AJobMayBeSubmittedToBeHeld) {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = TestSpec("held", 1, 1);
  request.set_hold(true);
  cluster_.Do(Checked(request));
  cluster_.Pass(2000);
  EXPECT_EQ(cluster_.StateOf(1), v1::JOB_STATE_HELD);
  EXPECT_EQ(cluster_.Job(1).pause().actor(), "user ada");
  ExpectSnapshotHoldsIt();
  cluster_.Do(ResumeOf(1));
  cluster_.RunJob(1);
}

TEST_F(PauseTest, ABackoffThatIsPausedKeepsNoSlots) {
  const int64_t job = RunJob();
  LetItLeave(job, 1);
  ASSERT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RECOVERING);
  cluster_.Do(PauseOf(job));
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_PAUSED);
  EXPECT_THAT(cluster_.state.reservations, IsEmpty());
  EXPECT_EQ(FreeSlots(cluster_.state.nodes.at("a").node, v1::DEVICE_KIND_CPU), 2);
  EXPECT_EQ(cluster_.Job(job).restarts(), 1) << "the failure counts";
  ExpectSnapshotHoldsIt();
  cluster_.Do(ResumeOf(job));
  cluster_.RunJob(job);
}

TEST_F(PauseTest, AFailureBeforeThePauseDecidesWhetherThereIsAnotherAttempt) {
  const int64_t job = RunJob();
  cluster_.ExitRank(job, 0, 1);
  cluster_.Settle();
  cluster_.Do(PauseOf(job));
  EXPECT_EQ(cluster_.Attempt(job).stop_reason(), v1::STOP_REASON_FAILED);
  LetItLeave(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_PAUSED);
  EXPECT_EQ(cluster_.Job(job).restarts(), 1);
  cluster_.Do(ResumeOf(job));
  cluster_.RunJob(job);
  cluster_.ExitRank(job, 0, 1);
  cluster_.Settle();
  cluster_.Do(PauseOf(job));
  LetItLeave(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_FAILED) << "its one restart is used";
  EXPECT_FALSE(cluster_.Job(job).has_pause());
  ExpectSnapshotHoldsIt();
}

TEST_F(PauseTest, ResumedBeforeItsRanksHaveLeftAJobKeepsItsSlots) {
  const int64_t job = RunJob();
  cluster_.Submit("waits", 1, 2);
  cluster_.Do(PauseOf(job));
  cluster_.Do(ResumeOf(job));
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RECOVERING);
  EXPECT_THAT(Why(job), HasSubstr("attempt 1 was paused and is being resumed"));
  LetItLeave(job);
  cluster_.RunJob(job);
  EXPECT_EQ(cluster_.Attempt(job).number(), 2);
  EXPECT_EQ(cluster_.Job(job).restarts(), 0);
}

TEST_F(PauseTest, APausedJobCanBeStopped) {
  const int64_t job = PauseAndLeave();
  cluster_.Stop(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STOPPED);
  EXPECT_THAT(cluster_.state.paused_jobs, IsEmpty());
  const int64_t second = cluster_.Submit("second", 1, 2);
  cluster_.RunJob(second);
  cluster_.Do(PauseOf(second));
  cluster_.Stop(second);
  EXPECT_EQ(cluster_.StateOf(second), v1::JOB_STATE_STOPPING);
  LetItLeave(second);
  EXPECT_EQ(cluster_.StateOf(second), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(cluster_.Try(ResumeOf(second)).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(PauseTest, RepeatsChangeNothingAndOtherStatesAreRefused) {
  const int64_t job = RunJob();
  const absl::Status runs = cluster_.Try(ResumeOf(job));
  EXPECT_EQ(runs.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(runs.message(), "job 1 (job) is not paused: it is running");
  EXPECT_EQ(cluster_.Try(PauseOf(99)).code(), absl::StatusCode::kNotFound);
  cluster_.Do(PauseOf(job));
  EXPECT_THAT(cluster_.Do(PauseOf(job)), IsEmpty());
  LetItLeave(job);
  EXPECT_THAT(cluster_.Do(PauseOf(job)), IsEmpty());
  cluster_.Do(ResumeOf(job));
  cluster_.RunJob(job);
  cluster_.ExitAll(job, 0);
  EXPECT_THAT(std::string(cluster_.Try(PauseOf(job)).message()),
              HasSubstr("all its ranks have exited"));
  cluster_.ClearAll(job);
  EXPECT_THAT(std::string(cluster_.Try(PauseOf(job)).message()), HasSubstr("has ended already"));
  const int64_t stopping = cluster_.Submit("stopping", 1, 2);
  cluster_.RunJob(stopping);
  cluster_.Stop(stopping);
  EXPECT_THAT(std::string(cluster_.Try(PauseOf(stopping)).message()),
              HasSubstr("is being stopped and cannot be paused"));
}

// The worker sends no heartbeat when the pause begins, so ranks may still be running on its node.
TEST_F(PauseTest, SlotsOfANodeThatHasNotConfirmedStayTaken) {
  const int64_t job = RunJob();
  cluster_.StopHeartbeats("a");
  cluster_.Do(PauseOf(job));
  cluster_.Pass(15'000);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_PAUSED);
  EXPECT_EQ(FreeSlots(cluster_.state.nodes.at("a").node, v1::DEVICE_KIND_CPU), 0);
  ExpectSnapshotHoldsIt();
  cluster_.Wake("a");
  LetItLeave(job);
  EXPECT_EQ(FreeSlots(cluster_.state.nodes.at("a").node, v1::DEVICE_KIND_CPU), 2);
}

TEST_F(PauseTest, ASaveThatFailedIsTold) {
  const int64_t job = RunJob();
  cluster_.Step(job, 0, 40, 1);
  cluster_.Do(PauseOf(job));
  cluster_.ExitAll(job, 73);
  cluster_.ClearNode(job, "a");
  const std::vector<v1::Event> events = cluster_.Settle();
  EXPECT_THAT(Kinds(events), Contains("AlertRaised"));
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_PAUSED);
}

// The removal must not keep the job in the state, and must not crash the controller.
TEST_F(PauseTest, ANodeOfAPausedJobMayBeRemoved) {
  const int64_t job = PauseAndLeave();
  cluster_.AddNode("b", 2);
  cluster_.StopHeartbeats("a");
  cluster_.Pass(20'000);
  ASSERT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_LOST);
  RemoveNode removal;
  removal.request.set_node("a");
  cluster_.Do(removal);
  ExpectSnapshotHoldsIt();
  const int64_t second = cluster_.Submit("second", 1, 2);
  cluster_.Do(PauseOf(second));
  cluster_.Do(ResumeOf(job));
  cluster_.RunJob(job);
  EXPECT_EQ(cluster_.Placement(job), "b:0 b:1");
  cluster_.Do(PauseOf(job));
  LetItLeave(job);
  cluster_.StopHeartbeats("b");
  cluster_.Pass(20'000);
  removal.request.set_node("b");
  cluster_.Do(removal);
  cluster_.Stop(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STOPPED);
}

// After a pause, exit code 0 means that the program has saved its state, not that its work is done.
TEST_F(PauseTest, AStopReachesAJobWhoseRanksEndWithZero) {
  const int64_t job = RunJob();
  cluster_.Do(PauseOf(job));
  cluster_.ExitAll(job, 0);
  EXPECT_THAT(cluster_.Do(PauseOf(job)), IsEmpty());
  cluster_.Stop(job);
  cluster_.ClearAll(job);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STOPPED);
}

TEST_F(PauseTest, AResumedJobGoesElsewhereWhileItsNodeIsSuspect) {
  cluster_.AddNode("b", 2);
  const int64_t job = PauseAndLeave();
  cluster_.StopHeartbeats("a");
  cluster_.Pass(4000);
  ASSERT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_SUSPECT);
  cluster_.Do(ResumeOf(job));
  cluster_.RunJob(job);
  EXPECT_EQ(cluster_.Placement(job), "b:0 b:1");
}

// In a job without spares, the exit of a rank that lost a peer is judged only after a delay.
TEST_F(PauseTest, AFailureThatIsNotJudgedYetIsNotForgotten) {
  const int64_t job = RunJob();
  cluster_.ExitRank(job, 0, 69);
  cluster_.Do(PauseOf(job));
  cluster_.ExitRank(job, 1, 1);
  cluster_.ClearNode(job, "a");
  cluster_.Pass(4000);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_PAUSED);
  EXPECT_EQ(cluster_.Attempt(job).stop_reason(), v1::STOP_REASON_FAILED);
  EXPECT_EQ(cluster_.Job(job).restarts(), 1);
  EXPECT_TRUE(cluster_.Job(job).has_pause());
}

// The older job is the head of the queue and waits for slots that the younger job still holds.
TEST_F(PauseTest, AJobThatLosesANodeTakesAFreeOneBehindAnOlderJobThatWasResumed) {
  cluster_.AddNode("b", 2);
  const int64_t older = cluster_.Submit("older", 2, 2);
  cluster_.RunJob(older);
  cluster_.Do(PauseOf(older));
  LetItLeave(older);
  const int64_t younger = cluster_.Submit("younger", 2, 2);
  cluster_.RunJob(younger);
  ASSERT_EQ(cluster_.Placement(younger), "a:0 a:1 b:0 b:1");
  cluster_.Do(ResumeOf(older));
  cluster_.StopHeartbeats("b");
  cluster_.ExitRank(younger, 0, 69);
  cluster_.ExitRank(younger, 1, 69);
  cluster_.ClearNode(younger, "a");
  cluster_.Pass(20'000);
  ASSERT_EQ(cluster_.NodeStateOf("b"), v1::NODE_STATE_LOST);
  ASSERT_EQ(cluster_.StateOf(younger), v1::JOB_STATE_RECOVERING);
  cluster_.AddNode("c", 2);
  cluster_.Pass(5000);
  EXPECT_EQ(cluster_.Placement(younger), "a:0 a:1 c:0 c:1");
  EXPECT_EQ(cluster_.StateOf(older), v1::JOB_STATE_QUEUED);
}

TEST_F(PauseTest, StartsAfterAPauseAreNoRestarts) {
  const int64_t job = PauseAndLeave();
  cluster_.Do(ResumeOf(job));
  const std::vector<v1::Event> events = cluster_.Settle();
  EXPECT_TRUE(std::ranges::any_of(
      events, [](const v1::Event& event) { return event.job_placed().resumed(); }));
  EXPECT_EQ(cluster_.Job(job).resumed_starts(), 1);
  EXPECT_EQ(JobTimeOf(cluster_.Job(job), cluster_.now).restarts(), 0);
}

// Before the pause, during the backoff, the job kept its slots.
TEST_F(PauseTest, TheLedgerKeepsTheTimeBeforeAPause) {
  const int64_t job = RunJob();
  LetItLeave(job, 1);
  const Timestamp ended = cluster_.now;
  cluster_.now += 400;
  cluster_.Do(PauseOf(job));
  cluster_.now += 30'000;
  const v1::Ledger ledger = LedgerOf(cluster_.Job(job), cluster_.now);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_RESTART), 0.4);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_PAUSED), 30);
  const v1::LedgerSpan& last = *ledger.spans().rbegin();
  EXPECT_EQ(last.phase(), v1::LEDGER_PHASE_PAUSED);
  EXPECT_EQ(last.begin_ms(), ended + 400);
}

TEST_F(PauseTest, TheLedgerTellsPausesAndQueuesApart) {
  const int64_t job = PauseAndLeave();
  const int64_t other = cluster_.Submit("other", 1, 2);
  cluster_.RunJob(other);
  cluster_.Pass(30'000);
  v1::Ledger ledger = LedgerOf(cluster_.Job(job), cluster_.now);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_PAUSED), 30);
  cluster_.Do(ResumeOf(job));
  cluster_.Pass(10'000);
  ledger = LedgerOf(cluster_.Job(job), cluster_.now);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_PAUSED), 30);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_QUEUED), 10);
  cluster_.Do(PauseOf(job));
  cluster_.Pass(5'000);
  LetItLeave(other, 0);
  cluster_.Do(ResumeOf(job));
  cluster_.RunJob(job);
  ledger = LedgerOf(cluster_.Job(job), cluster_.now + 100'000);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_PAUSED), 35);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_QUEUED), 10);
  EXPECT_DOUBLE_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_RESTART), 0);
  double sum = 0;
  for (const v1::PhaseTime& time : ledger.phases()) sum += time.seconds();
  EXPECT_DOUBLE_EQ(sum, ledger.wall_seconds());
  for (const v1::PhaseTime& time : ledger.phases()) {
    const bool waits =
        time.phase() == v1::LEDGER_PHASE_PAUSED || time.phase() == v1::LEDGER_PHASE_QUEUED;
    EXPECT_EQ(time.slot_seconds() == 0, waits) << v1::LedgerPhase_Name(time.phase());
  }
}

TEST_F(PauseTest, ACheckpointOfTheFirstStepIsNamed) {
  const int64_t job = cluster_.Submit("job", 1, 2);
  cluster_.RunJob(job);
  cluster_.Publish(job, 1);
  cluster_.Do(PauseOf(job));
  LetItLeave(job);
  EXPECT_THAT(Why(job),
              HasSubstr("and continues from the checkpoint of step 1 when it is resumed"));
}

}  // namespace
}  // namespace trainyard::controller
