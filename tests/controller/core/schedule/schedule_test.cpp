#include "controller/core/schedule/schedule.h"

#include <string>

#include "controller/core/explain/pending_reason.h"
#include "controller/core/explain/preview.h"
#include "controller/core/reconcile.h"
#include "controller/core/state/slots/slot_ledger.h"
#include "controller/core/state/slots/waiting_jobs.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ScheduleTest : public ::testing::Test {
 protected:
  ScheduleTest() {
    cluster_.AddNode("a", 2);
    cluster_.AddNode("b", 2);
  }

  Schedule Next() const { return cluster_.View().schedule; }
  v1::PendingReason Why(int64_t job) const {
    return WhyPending(cluster_.View(), cluster_.state.jobs.at(job));
  }

  TestCluster cluster_;
};

TEST_F(ScheduleTest, APlacementHasGangAttemptAndRendezvous) {
  const int64_t job = cluster_.Submit("job", 2, 1);
  const Schedule schedule = Next();
  EXPECT_THAT(schedule.heads, IsEmpty());
  ASSERT_THAT(schedule.placements, SizeIs(1));
  const Placement& placement = schedule.placements[0];
  EXPECT_EQ(placement.job_id, job);
  EXPECT_EQ(placement.attempt, 1);
  ASSERT_THAT(placement.gang, SizeIs(2));
  EXPECT_EQ(placement.gang[0].node_id, "a");
  EXPECT_THAT(placement.gang[1].slots, ElementsAre(0));
  EXPECT_EQ(placement.master_address, cluster_.state.nodes.at("a").node.address());
  EXPECT_GE(placement.master_port, cluster_.options.first_rendezvous_port);
  EXPECT_FALSE(placement.layout.has_value());
}

TEST_F(ScheduleTest, TheFirstJobThatDoesNotFitIsTheHead) {
  const int64_t runs = cluster_.Submit("runs", 1, 2);
  const int64_t head = cluster_.Submit("head", 2, 2);
  const int64_t later = cluster_.Submit("later", 1, 1);
  cluster_.Settle();
  const Schedule schedule = Next();
  EXPECT_THAT(schedule.placements, IsEmpty());
  ASSERT_THAT(schedule.heads, SizeIs(1));
  EXPECT_EQ(schedule.heads.at(v1::DEVICE_KIND_CPU).job_id, head);
  EXPECT_EQ(schedule.heads.at(v1::DEVICE_KIND_CPU).shortage, Shortage::kSlots);
  EXPECT_EQ(schedule.heads.at(v1::DEVICE_KIND_CPU).fitting_nodes, 1);
  EXPECT_EQ(Why(runs).code(), v1::PENDING_CODE_NOT_PENDING);
  EXPECT_EQ(Why(head).code(), v1::PENDING_CODE_RESOURCES);
  EXPECT_EQ(Why(head).queue_position(), 1);
  EXPECT_EQ(Why(later).code(), v1::PENDING_CODE_PRIORITY);
  EXPECT_EQ(Why(later).queue_position(), 2);
  EXPECT_THAT(Why(later).message(), HasSubstr("needs 2 nodes"));
}

TEST_F(ScheduleTest, ANodeThatIsAboutToChangeIsWaitedFor) {
  const int64_t job = cluster_.Submit("job", 2, 2);
  cluster_.observations.nodes["b"].takes_commands = false;
  ASSERT_THAT(Next().heads, SizeIs(1));
  EXPECT_EQ(Next().heads.at(v1::DEVICE_KIND_CPU).shortage, Shortage::kChangingNode);
  EXPECT_THAT(Why(job).message(), HasSubstr("enough slots are free"));
}

TEST_F(ScheduleTest, AJobWithoutARendezvousPortIsTheHead) {
  cluster_.options.first_rendezvous_port = cluster_.options.last_rendezvous_port = 20'000;
  cluster_.Submit("first", 1, 1);
  const int64_t second = cluster_.Submit("second", 1, 1);
  cluster_.Settle();
  ASSERT_THAT(Next().heads, SizeIs(1));
  EXPECT_EQ(Next().heads.at(v1::DEVICE_KIND_CPU).job_id, second);
  EXPECT_EQ(Next().heads.at(v1::DEVICE_KIND_CPU).shortage, Shortage::kPort);
  EXPECT_THAT(Why(second).message(), HasSubstr("no free rendezvous port"));
}

TEST_F(ScheduleTest, JobsBehindAnUnansweredLayoutQuestionWait) {
  const int64_t job = cluster_.Submit(AutoSpec("auto", 2, 2));
  const int64_t later = cluster_.Submit("later", 1, 1);
  const Schedule schedule = Next();
  ASSERT_THAT(schedule.layout_questions, SizeIs(1));
  EXPECT_EQ(schedule.layout_questions[0].job_id, job);
  EXPECT_EQ(schedule.layout_questions[0].shape.nodes, 2);
  ASSERT_THAT(schedule.heads, SizeIs(1));
  EXPECT_EQ(schedule.heads.at(v1::DEVICE_KIND_CPU).shortage, Shortage::kLayout);
  EXPECT_EQ(Why(job).code(), v1::PENDING_CODE_LAYOUT);
  EXPECT_EQ(Why(later).code(), v1::PENDING_CODE_PRIORITY);
  EXPECT_THAT(Why(later).message(),
              HasSubstr("behind auto (#1): the layout of the job is being chosen"));
}

TEST_F(ScheduleTest, AJobWaitsBehindAHeadInItsBackoff) {
  v1::JobSpec spec = TestSpec("fails", 2, 2);
  spec.mutable_restart()->mutable_backoff()->set_seconds(60);
  const int64_t fails = cluster_.Submit(spec);
  cluster_.RunJob(fails);
  cluster_.ExitAll(fails, 1);
  cluster_.ClearAll(fails);
  ASSERT_EQ(cluster_.StateOf(fails), v1::JOB_STATE_RECOVERING);
  // The job lacks a node now, and its restart backoff has not ended.
  cluster_.state.nodes.at("b").node.set_cordoned(true);
  const int64_t later = cluster_.Submit("later", 1, 1);
  ASSERT_THAT(Next().heads, SizeIs(1));
  EXPECT_EQ(Next().heads.at(v1::DEVICE_KIND_CPU).job_id, fails);
  EXPECT_EQ(Why(fails).code(), v1::PENDING_CODE_BACKOFF);
  EXPECT_EQ(Why(fails).queue_position(), 0);
  EXPECT_EQ(Why(later).code(), v1::PENDING_CODE_PRIORITY);
  EXPECT_EQ(Why(later).queue_position(), 2);
  EXPECT_THAT(Why(later).message(), HasSubstr("second in line, behind fails (#1)"));
  const auto preview = PreviewJob(cluster_.View(), TestSpec("new", 1, 1));
  ASSERT_TRUE(preview.ok()) << preview.status();
  EXPECT_FALSE(preview->starts_now());
}

TEST_F(ScheduleTest, NothingIsPlacedWhileTheLogIsNotConfirmed) {
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.options.confirm_log_ms = 5000;
  // A restarted controller has not yet received a heartbeat.
  cluster_.observations = Observations{.since_ms = cluster_.now};
  const Schedule schedule = Next();
  EXPECT_TRUE(schedule.awaits_workers);
  EXPECT_THAT(schedule.placements, IsEmpty());
  EXPECT_EQ(Why(job).code(), v1::PENDING_CODE_RESOURCES);
  EXPECT_THAT(Why(job).message(), HasSubstr("waits for its workers"));
}

TEST_F(ScheduleTest, AChoiceForOtherSlotsIsNoLayout) {
  const int64_t job = cluster_.Submit(AutoSpec("auto", 2, 2));
  v1::GrantedLayout& choice = cluster_.state.jobs.at(job).layouts.emplace_back();
  choice.set_asked_nodes(2);
  choice.set_nodes(2);
  choice.set_slots_per_node(2);
  choice.set_device("NVIDIA H100");
  EXPECT_EQ(Why(job).code(), v1::PENDING_CODE_LAYOUT);
  EXPECT_THAT(Why(job).message(), HasSubstr("is being chosen"));
}

TEST_F(ScheduleTest, AnAutoJobWhoseNodesAreLostLacksSlotsAndNoLayout) {
  for (const char* id : {"a", "b"}) cluster_.StopHeartbeats(id);
  cluster_.Pass(cluster_.options.lease_ms + 10'000, 5000);
  ASSERT_EQ(cluster_.NodeStateOf("a"), v1::NODE_STATE_LOST);
  JobEntry& entry = cluster_.state.jobs[7];
  entry.job.set_id(7);
  entry.job.set_state(v1::JOB_STATE_QUEUED);
  *entry.job.mutable_spec() = AutoSpec("auto", 2, 2);
  AddWaiting(entry.job, cluster_.state);
  EXPECT_THAT(Next().layout_questions, IsEmpty());
  ASSERT_THAT(Next().heads, SizeIs(1));
  EXPECT_EQ(Next().heads.at(v1::DEVICE_KIND_CPU).shortage, Shortage::kSlots);
  EXPECT_EQ(Why(7).code(), v1::PENDING_CODE_RESOURCES);
  EXPECT_THAT(Why(7).message(), HasSubstr("a is lost"));
}

TEST_F(ScheduleTest, NoLayoutIsSaidToBeChosenBeforeWorkersAttach) {
  const int64_t job = cluster_.Submit(AutoSpec("auto", 2, 2));
  cluster_.options.confirm_log_ms = 5000;
  cluster_.observations = Observations{.since_ms = cluster_.now};
  EXPECT_EQ(Why(job).code(), v1::PENDING_CODE_RESOURCES);
  EXPECT_THAT(Why(job).message(), HasSubstr("waits for its workers"));
}

// The stored schedule describes an older state if a later tick could not plan, or if a job was
// deleted after the placement pass.
TEST_F(ScheduleTest, AnOlderScheduleIsRenderedFromThePresentState) {
  const int64_t head = cluster_.Submit("head", 2, 2);
  const int64_t later = cluster_.Submit("later", 1, 1);
  Schedule older;
  older.heads[v1::DEVICE_KIND_CPU].job_id = 99;
  const ClusterView view{cluster_.state, cluster_.observations, cluster_.options, older,
                         cluster_.now};
  EXPECT_EQ(PendingCodeOf(view, cluster_.state.jobs.at(head)), v1::PENDING_CODE_RESOURCES);
  EXPECT_EQ(PendingCodeOf(view, cluster_.state.jobs.at(later)), v1::PENDING_CODE_PRIORITY);
}

// Nodes a and b have two slots each.
class BackfillTest : public ScheduleTest {
 protected:
  int64_t SubmitWithLimit(const std::string& name, int nodes, int slots, int64_t limit_s) {
    v1::JobSpec spec = TestSpec(name, nodes, slots);
    if (limit_s > 0) spec.mutable_time_limit()->set_seconds(limit_s);
    return cluster_.Submit(spec);
  }
  void SetQuota(int max_slots, int max_slots_per_user) {
    v1::Queue& queue = cluster_.state.queues["default"];
    queue.set_name("default");
    v1::SlotQuota& quota = *queue.add_quotas();
    quota.set_device(v1::DEVICE_KIND_CPU);
    quota.set_max_slots(max_slots);
    quota.set_max_slots_per_user(max_slots_per_user);
  }
};

TEST_F(BackfillTest, OnlyAJobThatEndsBeforeThePromiseStarts) {
  cluster_.RunJob(SubmitWithLimit("runs", 1, 2, 1000));
  const int64_t head = SubmitWithLimit("head", 2, 2, 0);
  const int64_t longer = SubmitWithLimit("longer", 1, 1, 1001);
  const int64_t shorter = SubmitWithLimit("shorter", 1, 1, 500);
  const int64_t unlimited = SubmitWithLimit("unlimited", 1, 1, 0);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(shorter), v1::JOB_STATE_STARTING);
  EXPECT_EQ(cluster_.StateOf(longer), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster_.StateOf(unlimited), v1::JOB_STATE_QUEUED);
  const Schedule schedule = Next();
  EXPECT_EQ(schedule.heads.at(v1::DEVICE_KIND_CPU).job_id, head);
  EXPECT_NEAR(static_cast<double>(schedule.heads.at(v1::DEVICE_KIND_CPU).promised - cluster_.now),
              1'000'000, 1000);
  EXPECT_THAT(Why(head).message(), HasSubstr("are free within 16 min"));
  EXPECT_EQ(Why(head).promised_ms(), schedule.heads.at(v1::DEVICE_KIND_CPU).promised);
  EXPECT_EQ(Why(longer).code(), v1::PENDING_CODE_PRIORITY);
  EXPECT_THAT(Why(unlimited).advice(), HasSubstr("set a `time_limit`"));
}

TEST_F(BackfillTest, AHeadThatNeedsACordonedNodeDelaysNobody) {
  cluster_.state.nodes.at("b").node.set_cordoned(true);
  RebuildIndexes(cluster_.state);
  const int64_t head = SubmitWithLimit("head", 2, 2, 0);
  const int64_t later = SubmitWithLimit("later", 1, 1, 0);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(head), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster_.StateOf(later), v1::JOB_STATE_STARTING);
  EXPECT_THAT(Why(head).message(), HasSubstr("needs 2 nodes"));
}

TEST_F(BackfillTest, TheShortestLimitIsTriedFirst) {
  cluster_.RunJob(SubmitWithLimit("runs", 1, 2, 1000));
  SubmitWithLimit("head", 2, 2, 0);
  const int64_t longer = SubmitWithLimit("longer", 1, 2, 900);
  const int64_t shorter = SubmitWithLimit("shorter", 1, 2, 100);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(shorter), v1::JOB_STATE_STARTING);
  EXPECT_EQ(cluster_.StateOf(longer), v1::JOB_STATE_QUEUED);
}

TEST_F(BackfillTest, JobsOfAnotherKindDoNotWaitForTheHead) {
  v1::Hello hello = cluster_.HelloOf("b");
  hello.mutable_inventory()->mutable_slots(1)->set_kind(v1::DEVICE_KIND_GPU);
  hello.set_incarnation("2");
  cluster_.Do(AttachWorker{hello});
  cluster_.OpenStream("b");
  cluster_.RunJob(SubmitWithLimit("runs", 1, 2, 0));
  SubmitWithLimit("head", 1, 2, 0);
  v1::JobSpec gpu = TestSpec("gpu", 1, 1);
  gpu.mutable_resources()->set_device(v1::DEVICE_KIND_GPU);
  const int64_t other = cluster_.Submit(gpu);
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(other), v1::JOB_STATE_STARTING);
}

TEST_F(BackfillTest, AQueueOrUserAtItsLimitWaitsAndBlocksNobody) {
  SetQuota(0, 2);
  cluster_.RunJob(SubmitWithLimit("first", 1, 2, 0));
  const int64_t second = SubmitWithLimit("second", 1, 1, 0);
  v1::SubmitJobRequest request;
  *request.mutable_spec() = TestSpec("other", 1, 1);
  cluster_.Do(Checked(request, {"bob"}));
  const int64_t other = cluster_.state.newest_job_id;
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(other), v1::JOB_STATE_STARTING);
  EXPECT_EQ(Why(second).code(), v1::PENDING_CODE_QUOTA);
  EXPECT_THAT(Why(second).message(), HasSubstr("ada holds 2 in the queue default and may hold 2"));
  cluster_.state.queues.clear();
  SetQuota(3, 0);
  EXPECT_THAT(Why(second).message(), HasSubstr("the queue default holds 3 and may hold 3"));
  EXPECT_THAT(Next().heads, IsEmpty()) << "no slots are missing";
}

TEST_F(BackfillTest, NobodyIsBehindAJobAtALimit) {
  SetQuota(2, 0);
  cluster_.RunJob(SubmitWithLimit("first", 1, 2, 0));
  const int64_t limited = SubmitWithLimit("limited", 1, 1, 0);
  cluster_.state.queues["other"].set_name("other");
  v1::JobSpec spec = TestSpec("free", 1, 1);
  spec.set_queue("other");
  const auto preview = PreviewJob(cluster_.View(), spec);
  ASSERT_TRUE(preview.ok()) << preview.status();
  EXPECT_TRUE(preview->starts_now()) << preview->pending().message();
  ClusterView view = cluster_.View();
  EXPECT_EQ(PendingCodeOf(view, cluster_.state.jobs.at(limited)), v1::PENDING_CODE_QUOTA);
  // The limit is raised after the pass.
  cluster_.state.queues.clear();
  EXPECT_EQ(PendingCodeOf(view, cluster_.state.jobs.at(limited)), v1::PENDING_CODE_RESOURCES);
}

TEST_F(BackfillTest, OnePassDoesNotExceedALimit) {
  SetQuota(3, 0);
  for (const char* name : {"r", "s", "t", "u"}) SubmitWithLimit(name, 1, 1, 0);
  EXPECT_THAT(Next().placements, SizeIs(3));
}

TEST_F(BackfillTest, AJobWithoutAUserCountsOnce) {
  SetQuota(4, 1);
  for (const char* name : {"r", "s", "t", "u"}) {
    v1::Job& job = cluster_.state.jobs.at(SubmitWithLimit(name, 1, 1, 0)).job;
    RemoveWaiting(job, cluster_.state);
    job.clear_user();
    AddWaiting(job, cluster_.state);
  }
  EXPECT_THAT(Next().placements, SizeIs(4)) << "no user has a limit here";
}

TEST_F(BackfillTest, APreviewKnowsTheLimitOfTheQueue) {
  SetQuota(2, 0);
  cluster_.RunJob(SubmitWithLimit("first", 1, 1, 0));
  const auto fits = PreviewJob(cluster_.View(), TestSpec("second", 1, 1));
  ASSERT_TRUE(fits.ok()) << fits.status();
  EXPECT_TRUE(fits->starts_now());
  const auto waits = PreviewJob(cluster_.View(), TestSpec("third", 1, 2));
  ASSERT_TRUE(waits.ok()) << waits.status();
  EXPECT_FALSE(waits->starts_now());
  EXPECT_EQ(waits->pending().code(), v1::PENDING_CODE_QUOTA);
  EXPECT_EQ(waits->ranks_size(), 2);
}

TEST_F(BackfillTest, AHeadThatPreemptedBlocksNobodyOnceTheClusterIsTooSmall) {
  cluster_.AddNode("c", 2);
  cluster_.RunJob(SubmitWithLimit("runs", 1, 2, 0));
  const int64_t head = SubmitWithLimit("head", 3, 2, 0);
  const int64_t later = SubmitWithLimit("later", 1, 1, 0);
  cluster_.Settle();
  ASSERT_EQ(cluster_.StateOf(later), v1::JOB_STATE_QUEUED);
  v1::Job& job = cluster_.state.jobs.at(head).job;
  RemoveWaiting(job, cluster_.state);
  job.set_preempts(true);
  AddWaiting(job, cluster_.state);
  cluster_.StopHeartbeats("c");
  cluster_.Pass(20'000);
  ASSERT_EQ(cluster_.NodeStateOf("c"), v1::NODE_STATE_LOST);
  EXPECT_EQ(cluster_.StateOf(later), v1::JOB_STATE_STARTING);
}

TEST_F(BackfillTest, UnclearedSlotsAreNotPromised) {
  cluster_.RunJob(SubmitWithLimit("runs", 2, 2, 0));
  const int64_t head = SubmitWithLimit("head", 2, 2, 0);
  const AttemptKey gone{head, 1};
  EditNode(
      "a",
      [&](NodeEntry& node) {
        for (v1::SlotUse& use : *node.node.mutable_slot_uses()) {
          use.set_job_id(gone.job_id);
          use.set_attempt(gone.number);
        }
        node.uncleared.insert(gone);
      },
      cluster_.state);
  const PlacementPass pass(cluster_.state, {});
  const auto releases = ReleasesOf(
      cluster_.state, pass, v1::DEVICE_KIND_CPU, [&](int64_t) { return cluster_.now; },
      cluster_.now);
  const Timestamp late = cluster_.now + kUnknownRunMs;
  ASSERT_NE(releases.Find("a"), nullptr);
  EXPECT_THAT(*releases.Find("a"), ElementsAre(late, late));
  ASSERT_NE(releases.Find("b"), nullptr);
  EXPECT_THAT(*releases.Find("b"), ElementsAre(cluster_.now, cluster_.now));
}

}  // namespace
}  // namespace trainyard::controller
