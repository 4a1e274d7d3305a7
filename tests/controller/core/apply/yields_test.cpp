#include "controller/core/apply/yields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/explain.h"
#include "controller/core/ledger/ledger.h"
#include "controller/core/state/attempts/yield.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kYieldedExitCode = 143;

PauseJob PauseBy(const std::string& user, int64_t job) {
  PauseJob pause;
  pause.request.set_job(std::to_string(job));
  pause.principal = {user};
  return pause;
}

ResumeJob ResumeBy(const std::string& user, int64_t job) {
  ResumeJob resume;
  resume.request.set_job(std::to_string(job));
  resume.principal = {user};
  return resume;
}

class YieldsTest : public testing::Test {
 protected:
  YieldsTest() {
    cluster_.AddNode("a", 2);
    job_ = cluster_.Submit("job", 1, 2);
    cluster_.RunJob(job_);
    cluster_.Publish(job_, 20);
  }

  void Yield() {
    v1::Yield yield;
    yield.set_cause(v1::YIELD_CAUSE_PREEMPTED);
    yield.set_for_job_id(7);
    yield.set_reason("job 7 needs its slots");
    const auto event = YieldEvent(cluster_.state.jobs.at(job_), yield, cluster_.now);
    ASSERT_TRUE(event.has_value());
    Apply(*event, cluster_.state);
  }

  // All ranks exit, and the node confirms the end. `Settle` is not called, so the job is not placed
  // again.
  void Leave(int exit_code = kYieldedExitCode) {
    cluster_.ExitAll(job_, exit_code);
    cluster_.ClearNode(job_, "a");
  }

  // Fills the node, so that the job waits after its yield.
  void CordonNode() {
    controller::CordonNode cordon;
    cordon.request.set_node("a");
    cordon.request.set_cordoned(true);
    cluster_.Do(cordon);
  }

  std::string Why() const {
    return ExplainJob(cluster_.View(), cluster_.state.jobs.at(job_)).answer();
  }

  // Checks that a snapshot restores the state, as at a restart of the controller.
  void ExpectSnapshotHoldsIt() const {
    const ClusterState copy = FromSnapshot(ToSnapshot(cluster_.state, 0));
    EXPECT_EQ(Bytes(copy), Bytes(cluster_.state));
    EXPECT_EQ(DifferentIndexes(copy, cluster_.state), "");
  }

  TestCluster cluster_;
  int64_t job_ = 0;
};

TEST_F(YieldsTest, TheRanksGetTheTimeToSave) {
  Yield();
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_PAUSING);
  EXPECT_EQ(cluster_.Attempt(job_).stop_reason(), v1::STOP_REASON_YIELDED);
  EXPECT_EQ(cluster_.Attempt(job_).yield().for_job_id(), 7);
  EXPECT_THAT(cluster_.Commands(), ElementsAre("stop a 1/1 60000"));
  EXPECT_THAT(Why(), HasSubstr("yields its slots, because job 7 needs its slots, and waits for its "
                               "ranks to save and exit on a; then it returns to the queue"));
  ExpectSnapshotHoldsIt();
}

TEST_F(YieldsTest, TheJobReturnsToTheQueueWithoutSlotsOrRestart) {
  CordonNode();
  Yield();
  Leave();
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(FreeSlots(cluster_.state.nodes.at("a").node, v1::DEVICE_KIND_CPU), 2);
  EXPECT_THAT(cluster_.state.reservations, IsEmpty());
  EXPECT_TRUE(cluster_.state.pending_jobs.Contains(QueueKeyOf(cluster_.Job(job_))));
  EXPECT_EQ(cluster_.Job(job_).restarts(), 0);
  EXPECT_THAT(Why(),
              HasSubstr("attempt 1 yielded its slots, because job 7 needs its slots, and the "
                        "job continues from step 20"));
  ExpectSnapshotHoldsIt();
}

TEST_F(YieldsTest, TheNextAttemptContinuesBeforeYoungerJobs) {
  const int64_t younger = cluster_.Submit("younger", 1, 2);
  Yield();
  Leave();
  const std::vector<v1::Event> events = cluster_.Settle();
  EXPECT_THAT(Kinds(events), Contains("JobPlaced"));
  EXPECT_EQ(cluster_.StateOf(younger), v1::JOB_STATE_QUEUED);
  cluster_.RunJob(job_);
  EXPECT_EQ(cluster_.Attempt(job_).number(), 2);
  EXPECT_EQ(cluster_.Attempt(job_).resume_step(), 20);
  EXPECT_FALSE(cluster_.Attempt(job_).has_yield());
  EXPECT_EQ(cluster_.Job(job_).resumed_starts(), 1);
}

TEST_F(YieldsTest, TheLedgerCountsTheSaveAsStopAndTheWaitAsQueuedWithoutSlots) {
  CordonNode();
  Yield();
  cluster_.now += 5000;
  Leave();
  cluster_.Settle();
  cluster_.now += 7000;
  const v1::Ledger ledger = LedgerOf(cluster_.Job(job_), cluster_.now);
  EXPECT_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_STOP), 5);
  EXPECT_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_QUEUED), 7);
  EXPECT_EQ(SecondsOf(ledger, v1::LEDGER_PHASE_RESTART), 0);
  EXPECT_EQ(ledger.spans().rbegin()->slots(), 0);
}

TEST_F(YieldsTest, AUserMayPauseAYieldingJob) {
  Yield();
  EXPECT_THAT(Kinds(cluster_.Do(PauseBy("ada", job_))), ElementsAre("JobPaused"));
  Leave();
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_PAUSED);
  cluster_.Do(ResumeBy("ada", job_));
  cluster_.RunJob(job_);
}

TEST_F(YieldsTest, AResumedPauseDoesNotEndTheYield) {
  const absl::Status refused = [&] {
    Yield();
    return cluster_.Try(ResumeBy("ada", job_));
  }();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(refused.message(),
            "job 1 (job) is not paused: it yields its slots, because job 7 needs its slots, and "
            "then returns to the queue");
  cluster_.Do(PauseBy("ada", job_));
  cluster_.Do(ResumeBy("ada", job_));
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_PAUSING);
  CordonNode();
  Leave();
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(cluster_.state.reservations, IsEmpty());
}

TEST_F(YieldsTest, AUserMayStopAYieldingJob) {
  Yield();
  cluster_.Stop(job_);
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_STOPPING);
  Leave();
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_STOPPED);
}

// The program of this job exits with 0 after it has saved. The run is not complete.
TEST_F(YieldsTest, ExitsWithZeroDoNotEndTheJob) {
  Yield();
  Leave(0);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job_), v1::JOB_STATE_STARTING);
}

TEST_F(YieldsTest, LostStepsRaiseAnAlert) {
  cluster_.Step(job_, 0, 40, 1);
  Yield();
  Leave(73);
  std::string message;
  for (const v1::Event& event : cluster_.Settle()) {
    if (event.has_alert_raised()) message = event.alert_raised().message();
  }
  EXPECT_THAT(message, HasSubstr("asked to yield its slots; 20 steps after step 20 are lost"));
}

}  // namespace
}  // namespace trainyard::controller
