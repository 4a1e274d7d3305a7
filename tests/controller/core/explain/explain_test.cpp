#include "controller/core/explain/explain.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/explain/preview.h"

#include "controller/core/apply/apply.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class ExplainTest : public ::testing::Test {
 protected:
  v1::PendingReason Pending(int64_t job) {
    return WhyPending(cluster_.View(), cluster_.state.jobs.at(job));
  }
  std::string Answer(int64_t job) {
    return ExplainJob(cluster_.View(), cluster_.state.jobs.at(job)).answer();
  }

  TestCluster cluster_;
};

TEST_F(ExplainTest, HeadOfTheQueueWaitsForSlots) {
  cluster_.AddNode("a", 2);
  const int64_t running = cluster_.Submit("running", 1, 1);
  cluster_.RunJob(running);
  const int64_t wide = cluster_.Submit("wide", 1, 2);
  const int64_t last = cluster_.Submit("last", 1, 1);
  const v1::PendingReason head = Pending(wide);
  EXPECT_EQ(head.code(), v1::PENDING_CODE_RESOURCES);
  EXPECT_EQ(head.queue_position(), 1);
  EXPECT_EQ(head.blocking_job_id(), 0);
  EXPECT_EQ(head.message(),
            "needs 1 node with 2 cpu slots; the only node does not have enough available slots: "
            "1 of 2 cpu slots on ready nodes are taken");
  const v1::PendingReason behind = Pending(last);
  EXPECT_EQ(behind.code(), v1::PENDING_CODE_PRIORITY);
  EXPECT_EQ(behind.queue_position(), 2);
  EXPECT_EQ(behind.blocking_job_id(), wide);
  EXPECT_THAT(behind.message(), HasSubstr("second in line, behind wide (#2), which needs 1 node"));
  EXPECT_EQ(Pending(running).code(), v1::PENDING_CODE_NOT_PENDING);
  EXPECT_THAT(Answer(wide), HasSubstr("job 2 (wide) waits: needs 1 node"));
}

TEST_F(ExplainTest, AHeadWhoseSlotsAreFreeIsPlacedInAMoment) {
  cluster_.AddNode("a", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  EXPECT_EQ(Pending(job).message(), "enough slots are free, and the job will be placed shortly");
}

TEST_F(ExplainTest, SeveralJobsBeforeAreCounted) {
  cluster_.AddNode("a", 1);
  cluster_.RunJob(cluster_.Submit("running", 1, 1));
  cluster_.Submit("head", 1, 1);
  cluster_.Submit("second", 1, 1);
  const v1::PendingReason last = Pending(cluster_.Submit("last", 1, 1));
  EXPECT_THAT(last.message(), HasSubstr("third in line, behind head (#2), which needs 1 node"));
  EXPECT_EQ(last.advice(), "`trainyard why 2` explains the next job");
  EXPECT_EQ(last.queue_position(), 3);
}

TEST_F(ExplainTest, FiveNodesThatAreNotReadyAreNamedAndMoreAreCounted) {
  cluster_.AddNode("z", 2);
  for (const char* id : {"a", "b", "c", "d", "e"}) cluster_.AddNode(id, 1);
  const auto lose = [&](const char* id) {
    cluster_.StopHeartbeats(id);
    cluster_.Pass(9000);
  };
  for (const char* id : {"a", "b", "c", "d", "e"}) lose(id);
  cluster_.RunJob(cluster_.Submit("running", 1, 1));
  const int64_t wide = cluster_.Submit("wide", 1, 2);
  EXPECT_THAT(Pending(wide).message(),
              EndsWith("1 of 2 cpu slots on ready nodes are taken; a is lost, b is lost, c is "
                       "lost, d is lost, e is lost"));
  cluster_.AddNode("f", 1);
  lose("f");
  EXPECT_THAT(Pending(wide).message(), EndsWith("e is lost, 1 more node is not ready"));
  cluster_.AddNode("g", 1);
  lose("g");
  EXPECT_THAT(Pending(wide).message(), EndsWith("e is lost, 2 more nodes are not ready"));
}

TEST_F(ExplainTest, StepsAreShownWithTheirTotalAndAge) {
  cluster_.AddNode("a", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.RunJob(job);
  cluster_.Step(job, 0, 5, 0.5);
  cluster_.observations.progress.at(job).set_total_steps(100);
  cluster_.Pass(2000);
  EXPECT_THAT(Answer(job), HasSubstr("; step 5 of 100, reported 2 s ago"));
  cluster_.Stop(job, true);
  EXPECT_THAT(Answer(job), HasSubstr("is being killed"));
}

TEST_F(ExplainTest, TheVerdictIsThatOfTheJobOrElseOfItsNewestAttempt) {
  cluster_.AddNode("a", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  const auto verdict = [&] {
    return ExplainJob(cluster_.View(), cluster_.state.jobs.at(job)).verdict().cause();
  };
  cluster_.RunJob(job);
  EXPECT_EQ(verdict(), v1::VERDICT_CAUSE_UNSPECIFIED);
  cluster_.ExitAll(job, 1);
  EXPECT_EQ(verdict(), v1::VERDICT_CAUSE_RANK_EXITED);
  cluster_.ClearAll(job);
  EXPECT_THAT(Answer(job), EndsWith("; attempt 1 failed because rank 0 on a exited with code 1"));
  EXPECT_EQ(Pending(job).advice(),
            "restart.backoff and restart.backoff_max set the length of this wait");
  cluster_.Stop(job);
  EXPECT_EQ(verdict(), v1::VERDICT_CAUSE_STOPPED);
}

TEST_F(ExplainTest, RecoveryIsExplainedStepByStep) {
  cluster_.AddNode("a", 1);
  cluster_.AddNode("b", 1);
  const int64_t job = cluster_.Submit("job", 2, 1);
  cluster_.RunJob(job);
  cluster_.ExitRank(job, 1, 70);
  cluster_.Settle();
  cluster_.ClearNode(job, "b");
  EXPECT_EQ(Pending(job).code(), v1::PENDING_CODE_STOPPING);
  EXPECT_EQ(Pending(job).message(), "waits for attempt 1 to exit on a");
  cluster_.ClearAll(job);
  EXPECT_EQ(Pending(job).code(), v1::PENDING_CODE_BACKOFF);
  EXPECT_EQ(Pending(job).message(),
            "waits 1 s before attempt 2 because attempt 1 failed: rank 1 on b exited with code "
            "70 (internal error) (restart 1 of 3)");
  EXPECT_THAT(Answer(job), HasSubstr("recovers: waits 1 s before attempt 2"));
  cluster_.now += 1000;
  EXPECT_EQ(Pending(job).code(), v1::PENDING_CODE_RESOURCES);
  EXPECT_EQ(Pending(job).queue_position(), 1);
}

TEST_F(ExplainTest, BackoffHasNoPlaceInTheQueueAndStopsNobody) {
  cluster_.AddNode("a", 2);
  const int64_t failed = cluster_.Submit("failed", 1, 1);
  cluster_.RunJob(failed);
  cluster_.ExitRank(failed, 0, 70);
  cluster_.Settle();
  cluster_.ClearAll(failed);
  const int64_t wide = cluster_.Submit("wide", 1, 2);
  const int64_t last = cluster_.Submit("last", 1, 1);
  EXPECT_EQ(Pending(failed).code(), v1::PENDING_CODE_BACKOFF);
  EXPECT_EQ(Pending(failed).queue_position(), 0);
  EXPECT_EQ(Pending(wide).code(), v1::PENDING_CODE_RESOURCES);
  EXPECT_EQ(Pending(wide).queue_position(), 1);
  EXPECT_THAT(Pending(wide).message(), HasSubstr("needs 1 node with 2 cpu slots"));
  EXPECT_EQ(Pending(last).queue_position(), 2);
  EXPECT_EQ(Pending(last).blocking_job_id(), wide);
  EXPECT_THAT(Pending(last).message(), HasSubstr("behind wide (#2), which needs 1 node"));
}

TEST_F(ExplainTest, LostNodesAreNamed) {
  cluster_.AddNode("a", 1);
  cluster_.AddNode("b", 1);
  const int64_t job = cluster_.Submit("job", 2, 1);
  cluster_.RunJob(job);
  cluster_.StopHeartbeats("b");
  cluster_.ExitRank(job, 0, 1);
  cluster_.Settle();
  cluster_.ClearNode(job, "a");
  cluster_.Pass(12000);
  EXPECT_EQ(Pending(job).code(), v1::PENDING_CODE_RESOURCES);
  EXPECT_THAT(Pending(job).message(), HasSubstr("b is lost"));
  EXPECT_THAT(Pending(job).advice(), HasSubstr("largest gang that fits this cluster is 1 node"));
}

TEST_F(ExplainTest, FewerNodesAreMentionedOnlyWithoutALayoutForThem) {
  for (const char* id : {"a", "b"}) cluster_.AddNode(id, 1);
  cluster_.RunJob(cluster_.Submit("running", 2, 1));
  const int64_t job = cluster_.Submit(AutoSpec("job", 2, 1));
  std::vector<v1::GrantedLayout>& layouts = cluster_.state.jobs.at(job).layouts;
  for (const int nodes : {2, 1}) {
    layouts.emplace_back().set_asked_nodes(nodes);
    layouts.back().set_nodes(nodes);
    layouts.back().set_slots_per_node(1);
    layouts.back().set_device("cpu");
  }
  EXPECT_EQ(Pending(job).code(), v1::PENDING_CODE_RESOURCES);
  EXPECT_THAT(Pending(job).message(), Not(HasSubstr("on fewer nodes")));
  layouts.back().set_nodes(0);
  layouts.back().set_problem("no layout fits");
  EXPECT_THAT(Pending(job).message(),
              HasSubstr("; the job cannot run on fewer nodes: no layout fits"));
}

TEST_F(ExplainTest, SparesThatAreLeftAndHealsAreCounted) {
  for (const char* id : {"a", "b", "c"}) cluster_.AddNode(id, 1);
  const int64_t job = cluster_.Submit(SparesSpec("job", 2, 1, 1));
  cluster_.RunJob(job);
  cluster_.Report("c", job);
  cluster_.Pass(500);
  EXPECT_THAT(Answer(job), HasSubstr("; 1 of 1 spare node left"));
  EXPECT_THAT(Answer(job), Not(HasSubstr("healed in place")));
  v1::Event event;
  v1::AttemptHealing& healing = *event.mutable_attempt_healing();
  healing.set_job_id(job);
  healing.set_attempt(1);
  healing.set_generation(2);
  healing.mutable_verdict()->set_summary("rank 1 on b was killed");
  healing.add_seats()->set_place(1);
  healing.mutable_seats(0)->set_member(2);
  Apply(event, cluster_.state);
  EXPECT_THAT(Answer(job), HasSubstr("; 0 of 1 spare node left; healed in place 1 time, most "
                                     "recently because rank 1 on b was killed"));
}

TEST_F(ExplainTest, RunningAndEndedJobsGetAnAnswer) {
  cluster_.AddNode("a", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.Settle();
  EXPECT_THAT(Answer(job), HasSubstr("starts attempt 1: 0 of 1 ranks have started"));
  cluster_.StartAll(job);
  EXPECT_THAT(Answer(job), HasSubstr("runs attempt 1; no step has been reported yet"));
  cluster_.Step(job, 0, 5, 0.5);
  EXPECT_THAT(Answer(job), HasSubstr("step 5, reported 0 ms ago"));
  cluster_.StopHeartbeats("a");
  cluster_.Pass(4000);
  EXPECT_THAT(Answer(job), HasSubstr("node a sends no heartbeat, but does not count as lost"));
  cluster_.Stop(job);
  EXPECT_THAT(Answer(job), HasSubstr("is being stopped and waits for its ranks to exit on a"));
  cluster_.ClearAll(job);
  EXPECT_EQ(Answer(job), "job 1 (job) stopped: stopped by a user");
}

TEST_F(ExplainTest, OneExplainerTellsOfEveryJobWhatIsToldOfItAlone) {
  cluster_.AddNode("a", 2);
  cluster_.RunJob(cluster_.Submit("running", 1, 2));
  for (const char* name : {"head", "second", "third"}) cluster_.Submit(name, 1, 2);
  PendingExplainer explainer(cluster_.View());
  std::vector<int> positions;
  // Newest first, as in lists, so that the head of the queue comes last.
  for (auto job = cluster_.state.jobs.rbegin(); job != cluster_.state.jobs.rend(); ++job) {
    const v1::PendingReason reason = explainer.Why(job->second);
    EXPECT_EQ(reason.DebugString(), WhyPending(cluster_.View(), job->second).DebugString());
    positions.push_back(reason.queue_position());
  }
  EXPECT_EQ(positions, (std::vector<int>{3, 2, 1, 0}));
}

TEST_F(ExplainTest, PlanShowsRanksAndWhetherTheJobStartsNow) {
  cluster_.AddNode("a", 2);
  const auto now = PreviewJob(cluster_.View(), TestSpec("job", 1, 2));
  ASSERT_TRUE(now.ok()) << now.status();
  EXPECT_TRUE(now->starts_now());
  EXPECT_EQ(now->ranks_size(), 2);
  EXPECT_EQ(now->node_names().at("a"), "a");
  cluster_.RunJob(cluster_.Submit("running", 1, 1));
  const auto later = PreviewJob(cluster_.View(), TestSpec("job", 1, 2));
  ASSERT_TRUE(later.ok());
  EXPECT_FALSE(later->starts_now());
  EXPECT_EQ(later->ranks_size(), 2);
  EXPECT_EQ(later->pending().code(), v1::PENDING_CODE_RESOURCES);
  EXPECT_EQ(later->pending().queue_position(), 1);
  cluster_.Submit("wide", 1, 2);
  const auto last = PreviewJob(cluster_.View(), TestSpec("job", 1, 1));
  EXPECT_EQ(last->pending().code(), v1::PENDING_CODE_PRIORITY);
  EXPECT_EQ(last->pending().queue_position(), 2);
  EXPECT_EQ(PreviewJob(cluster_.View(), TestSpec("job", 9, 1)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(PreviewJob(cluster_.View(), TestSpec("wide", 1, 1)).status().code(),
            absl::StatusCode::kAlreadyExists);
}

TEST_F(ExplainTest, AsManyCordonsAreNamedAsTheGangLacksNodes) {
  for (const char* id : {"a", "b", "c", "z"}) cluster_.AddNode(id, 1);
  for (const char* id : {"a", "b", "c"}) {
    v1::CordonNodeRequest cordon;
    cordon.set_node(id);
    cordon.set_cordoned(true);
    cluster_.Do(CordonNode{cordon});
  }
  EXPECT_EQ(Pending(cluster_.Submit("two", 2, 1)).advice(),
            "to let the job start, run `trainyard node uncordon a`");
  cluster_.Stop(1);
  EXPECT_EQ(
      Pending(cluster_.Submit("three", 3, 1)).advice(),
      "to let the job start, run `trainyard node uncordon a` and `trainyard node uncordon b`");
}

TEST_F(ExplainTest, ANodeWithoutSlotsOfTheKindIsNotNamed) {
  cluster_.AddNode("a", 2);
  cluster_.AddNode("slotless", 0);
  cluster_.StopHeartbeats("slotless");
  cluster_.Pass(9000);
  ASSERT_EQ(cluster_.NodeStateOf("slotless"), v1::NODE_STATE_LOST);
  cluster_.RunJob(cluster_.Submit("running", 1, 1));
  EXPECT_THAT(Pending(cluster_.Submit("wide", 1, 2)).message(),
              EndsWith("1 of 2 cpu slots on ready nodes are taken"));
}

TEST_F(ExplainTest, ARunOfOneStepShowsItsTotal) {
  cluster_.AddNode("a", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.RunJob(job);
  cluster_.Step(job, 0, 1, 0.5);
  cluster_.observations.progress.at(job).set_total_steps(1);
  EXPECT_THAT(Answer(job), HasSubstr("; step 1 of 1, reported 0 ms ago"));
}

TEST_F(ExplainTest, OnlyALayoutForFewerNodesNamesTheLostOnes) {
  for (const char* id : {"a", "b"}) cluster_.AddNode(id, 1);
  const int64_t job = cluster_.Submit("job", 2, 1);
  cluster_.RunJob(job);
  v1::GrantedLayout& granted =
      *cluster_.state.jobs.at(job).job.mutable_attempts(0)->mutable_layout();
  granted.set_slots_per_node(1);
  granted.set_nodes(2);
  EXPECT_THAT(Answer(job), Not(HasSubstr("could not be replaced")));
  granted.set_nodes(1);
  EXPECT_THAT(
      Answer(job),
      HasSubstr(", because some of the requested 2 nodes were lost and could not be replaced"));
}

TEST_F(ExplainTest, PlanRefusesASpecThatASubmissionWouldRefuse) {
  cluster_.AddNode("a", 1);
  const auto plan = PreviewJob(cluster_.View(), TestSpec("Not a name", 1, 1));
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ExplainTest, PlanSaysWhyThereIsNoLayout) {
  cluster_.AddNode("a", 2);
  v1::GrantedLayout layout;
  layout.set_asked_nodes(1);
  layout.set_problem("no layout fits");
  layout.set_advice("add nodes");
  const auto plan = PreviewJob(cluster_.View(), AutoSpec("job", 1, 2), &layout);
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_FALSE(plan->starts_now());
  EXPECT_EQ(plan->layout().problem(), "no layout fits");
  EXPECT_EQ(plan->pending().code(), v1::PENDING_CODE_LAYOUT);
  EXPECT_EQ(plan->pending().message(), "no layout fits");
  EXPECT_EQ(plan->pending().advice(), "add nodes");
}

}  // namespace
}  // namespace trainyard::controller
