#include "controller/core/schedule/layout_choice.h"

#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/explain.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/reconcile.h"
#include "controller/core/state/attempts/gang_request.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/contract/exit_code.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Batch of AutoSpec.
constexpr int kBatch = 840;

// Answers open layout questions until none is left. Returns the number of choices made.
int AnswerAll(TestCluster& cluster) {
  int answered = 0;
  cluster.Settle();
  while (answered < 20) {
    const auto due = cluster.View().schedule.layout_questions;
    if (due.empty()) return answered;
    const LayoutQuestion& question = due.front();
    const v1::JobSpec& spec = cluster.Job(question.job_id).spec();
    cluster.Do(ChooseLayout{question.job_id, ChooseLayoutFor(spec, question)});
    cluster.Settle();
    ++answered;
  }
  ADD_FAILURE() << "questions without end";
  return answered;
}

v1::GrantedLayout LayoutOf(const TestCluster& cluster, int64_t job_id) {
  return cluster.Attempt(job_id).layout();
}

int64_t SamplesOfStep(const v1::GrantedLayout& granted) {
  return granted.layout().dp() * granted.layout().micro_batch() * granted.micro_batches();
}

// Stops the node's heartbeats and waits until the node is lost and the attempt on it has ended.
void LoseNode(TestCluster& cluster, int64_t job_id, const std::string& node_id) {
  cluster.StopHeartbeats(node_id);
  for (int rank = 0; rank < cluster.Attempt(job_id).ranks_size(); ++rank) {
    if (cluster.Attempt(job_id).ranks(rank).node_id() != node_id)
      cluster.ExitRank(job_id, rank, 69);
  }
  cluster.Pass(4000);
  for (const std::string& id : GangNodes(cluster.Attempt(job_id))) {
    if (id != node_id) cluster.ClearNode(job_id, id);
  }
  cluster.Pass(20'000);
  ASSERT_EQ(cluster.NodeStateOf(node_id), v1::NODE_STATE_LOST);
}

class AutoJobTest : public testing::Test {
 protected:
  AutoJobTest() {
    for (const char* id : {"a", "b", "c"}) cluster_.AddNode(id, 2);
  }

  // Submits a job that uses all nodes, and lets it train. Returns the job's id.
  int64_t RunOnAll() {
    const int64_t job = cluster_.Submit(AutoSpec("auto", 3, 2));
    AnswerAll(cluster_);
    cluster_.StartAll(job);
    cluster_.Publish(job, 40);
    return job;
  }

  TestCluster cluster_;
};

TEST_F(AutoJobTest, ItIsPlacedOnceItsLayoutIsChosen) {
  const int64_t job = cluster_.Submit(AutoSpec("auto", 3, 2));
  cluster_.Settle();
  EXPECT_EQ(cluster_.Job(job).attempts_size(), 0);
  const JobEntry& entry = cluster_.state.jobs.at(job);
  EXPECT_EQ(WhyPending(cluster_.View(), entry).code(), v1::PENDING_CODE_LAYOUT);
  EXPECT_EQ(AnswerAll(cluster_), 1);
  const v1::GrantedLayout granted = LayoutOf(cluster_, job);
  EXPECT_EQ(granted.nodes(), 3);
  EXPECT_EQ(granted.device(), "cpu");
  EXPECT_EQ(SamplesOfStep(granted), kBatch);
  const v1::LayoutSpec& layout = granted.layout();
  EXPECT_EQ(layout.tp() * layout.cp() * layout.pp() * layout.dp(), 6);
  EXPECT_TRUE(cluster_.Job(job).spec().auto_layout()) << "the spec says what was asked for";
}

TEST_F(AutoJobTest, RanksGetTheGrantedLayoutAndNoQuestion) {
  const int64_t job = RunOnAll();
  const v1::JobSpec spec = GrantedSpec(cluster_.Job(job).spec(), cluster_.Attempt(job));
  EXPECT_FALSE(spec.auto_layout());
  EXPECT_EQ(spec.layout().SerializeAsString(),
            LayoutOf(cluster_, job).layout().SerializeAsString());
  LoseNode(cluster_, job, "b");
  AnswerAll(cluster_);
  bool started = false;
  for (const Command& command : CommandsDue(cluster_.state, cluster_.observations, cluster_.now)) {
    if (!command.message.has_start_attempt()) continue;
    started = true;
    const v1::StartAttempt& start = command.message.start_attempt();
    EXPECT_EQ(start.spec().resources().nodes(), 2);
    EXPECT_FALSE(start.spec().auto_layout());
    EXPECT_EQ(start.world_size(), 4);
  }
  EXPECT_TRUE(started);
}

TEST_F(AutoJobTest, ItGoesOnWithTheNodesThatAreLeft) {
  const int64_t job = RunOnAll();
  LoseNode(cluster_, job, "b");
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RECOVERING);
  EXPECT_EQ(AnswerAll(cluster_), 1);
  EXPECT_EQ(cluster_.Placement(job), "a:0 a:1 c:0 c:1");
  EXPECT_EQ(LayoutOf(cluster_, job).asked_nodes(), 2);
  EXPECT_EQ(SamplesOfStep(LayoutOf(cluster_, job)), kBatch);
  EXPECT_EQ(cluster_.Attempt(job).resume_step(), 40);
  cluster_.StartAll(job);
  const v1::WhyJobResponse why = ExplainJob(cluster_.View(), cluster_.state.jobs.at(job));
  EXPECT_THAT(
      why.answer(),
      HasSubstr("because some of the requested 3 nodes were lost and could not be replaced"));
}

TEST_F(AutoJobTest, AFreeNodeReplacesALostOne) {
  cluster_.AddNode("d", 2);
  const int64_t job = RunOnAll();
  ASSERT_EQ(cluster_.Placement(job), "a:0 a:1 b:0 b:1 c:0 c:1");
  LoseNode(cluster_, job, "b");
  EXPECT_EQ(AnswerAll(cluster_), 0) << "the layout for three nodes is known";
  EXPECT_EQ(cluster_.Placement(job), "a:0 a:1 d:0 d:1 c:0 c:1");
}

TEST_F(AutoJobTest, ItsNextAttemptTakesTheWholeGangAgainWhereItCan) {
  const int64_t job = RunOnAll();
  LoseNode(cluster_, job, "b");
  AnswerAll(cluster_);
  cluster_.StartAll(job);
  cluster_.AddNode("d", 2);
  cluster_.ExitAll(job, 1);
  cluster_.ClearAll(job);
  cluster_.Pass(10'000);
  EXPECT_EQ(AnswerAll(cluster_), 0);
  EXPECT_EQ(cluster_.Placement(job), "a:0 a:1 c:0 c:1 d:0 d:1");
  EXPECT_EQ(LayoutOf(cluster_, job).nodes(), 3);
}

TEST_F(AutoJobTest, ItWaitsForASuspectNode) {
  const int64_t job = RunOnAll();
  cluster_.StopHeartbeats("b");
  for (const int rank : {0, 1, 4, 5}) cluster_.ExitRank(job, rank, 69);
  cluster_.Pass(5000);
  cluster_.ClearNode(job, "a");
  cluster_.ClearNode(job, "c");
  cluster_.Settle();
  ASSERT_EQ(cluster_.NodeStateOf("b"), v1::NODE_STATE_SUSPECT);
  EXPECT_THAT(cluster_.View().schedule.layout_questions, IsEmpty());
  EXPECT_EQ(cluster_.Job(job).attempts_size(), 1);
}

// The job at the head of the queue waits for more nodes than exist. The recovering job must
// continue instead of waiting behind it.
TEST_F(AutoJobTest, TheNodesThatAreLeftToItNeedNoPlaceInTheQueue) {
  const int64_t blocker = cluster_.Submit("blocker", 1, 1);
  cluster_.RunJob(blocker);
  const int64_t head = cluster_.Submit("head", 3, 2);
  v1::JobSpec spec = AutoSpec("auto", 2, 2);
  cluster_.Settle();
  const int64_t job = cluster_.Submit(spec);
  // Stops the head of the queue so that the job can start. Below, before the job recovers, the head
  // is submitted again.
  cluster_.Stop(head);
  AnswerAll(cluster_);
  cluster_.StartAll(job);
  ASSERT_EQ(cluster_.Placement(job), "b:0 b:1 c:0 c:1");
  LoseNode(cluster_, job, "c");
  EXPECT_EQ(AnswerAll(cluster_), 1);
  EXPECT_EQ(cluster_.Placement(job), "b:0 b:1");
}

TEST_F(AutoJobTest, OnItsOldNodesItNeedNotWaitForTheHeadOfTheQueue) {
  cluster_.AddNode("d", 2);
  const int64_t head = cluster_.Submit("head", 3, 2);
  cluster_.RunJob(head);
  const int64_t job = cluster_.Submit(AutoSpec("auto", 1, 2));
  AnswerAll(cluster_);
  cluster_.StartAll(job);
  ASSERT_EQ(cluster_.Placement(job), "d:0 d:1");
  for (const char* id : {"b", "c"}) cluster_.StopHeartbeats(id);
  for (const int rank : {0, 1}) cluster_.ExitRank(head, rank, 1);
  cluster_.Settle();
  cluster_.ClearNode(head, "a");
  cluster_.Pass(12'000);
  ASSERT_EQ(cluster_.Attempt(head).state(), v1::ATTEMPT_STATE_ENDED) << "it waits for two nodes";
  cluster_.ExitAll(job, 1);
  cluster_.ClearAll(job);
  cluster_.Pass(2000);
  EXPECT_EQ(cluster_.Attempt(head).number(), 1);
  EXPECT_EQ(cluster_.Attempt(job).number(), 2);
  EXPECT_EQ(cluster_.Placement(job), "d:0 d:1");
}

// The head needs four nodes. After four nodes are lost, the head has only its old node a and the
// free node g. Node g is reserved for the head.
TEST_F(AutoJobTest, BehindAnotherHeadItContinuesOnItsOwnNodesOnly) {
  for (const char* id : {"d", "e", "f"}) cluster_.AddNode(id, 2);
  const int64_t head = cluster_.Submit("head", 4, 2);
  cluster_.RunJob(head);
  const int64_t job = cluster_.Submit(AutoSpec("auto", 2, 2));
  AnswerAll(cluster_);
  cluster_.StartAll(job);
  ASSERT_EQ(cluster_.Placement(job), "e:0 e:1 f:0 f:1");
  cluster_.AddNode("g", 2);
  for (const char* id : {"b", "c", "d", "f"}) cluster_.StopHeartbeats(id);
  for (const int64_t id : {head, job}) {
    for (const int rank : {0, 1}) cluster_.ExitRank(id, rank, 1);
  }
  cluster_.Settle();
  cluster_.ClearNode(head, "a");
  cluster_.ClearNode(job, "e");
  cluster_.Pass(20'000);
  for (const char* id : {"b", "c", "d", "f"}) {
    ASSERT_EQ(cluster_.NodeStateOf(id), v1::NODE_STATE_LOST);
  }
  EXPECT_EQ(AnswerAll(cluster_), 1);
  EXPECT_EQ(cluster_.Attempt(head).number(), 1);
  EXPECT_EQ(cluster_.Attempt(job).number(), 2);
  EXPECT_EQ(cluster_.Placement(job), "e:0 e:1");
}

TEST_F(AutoJobTest, TheOnlyQuestionIsAboutTheRemainingAndTheFreeNodes) {
  const int64_t job = RunOnAll();
  cluster_.AddNode("d", 2);
  for (const char* id : {"b", "c"}) cluster_.StopHeartbeats(id);
  for (const int rank : {0, 1}) cluster_.ExitRank(job, rank, 69);
  cluster_.Pass(4000);
  cluster_.ClearNode(job, "a");
  cluster_.Pass(20'000);
  for (const char* id : {"b", "c"}) ASSERT_EQ(cluster_.NodeStateOf(id), v1::NODE_STATE_LOST);
  const auto questions = cluster_.View().schedule.layout_questions;
  ASSERT_THAT(questions, SizeIs(1));
  EXPECT_EQ(questions[0].job_id, job);
  EXPECT_EQ(questions[0].shape.nodes, 2);
}

TEST_F(AutoJobTest, ASuspectNodeRaisesNoQuestionForAnEndedAttempt) {
  const int64_t job = RunOnAll();
  cluster_.StopHeartbeats("b");
  cluster_.Pass(3500);
  ASSERT_EQ(cluster_.NodeStateOf("b"), v1::NODE_STATE_SUSPECT);
  cluster_.ExitAll(job, 1);
  cluster_.ClearAll(job);
  cluster_.Pass(2000);
  ASSERT_EQ(cluster_.Attempt(job).state(), v1::ATTEMPT_STATE_ENDED);
  ASSERT_EQ(cluster_.NodeStateOf("b"), v1::NODE_STATE_SUSPECT);
  EXPECT_THAT(cluster_.View().schedule.layout_questions, IsEmpty());
}

TEST_F(AutoJobTest, ARestartNeedsALayoutForItsNodes) {
  const int64_t job = RunOnAll();
  std::vector<v1::GrantedLayout>& layouts = cluster_.state.jobs.at(job).layouts;
  v1::GrantedLayout none = layouts[0];
  none.set_nodes(0);
  layouts.clear();
  cluster_.ExitAll(job, 1);
  cluster_.ClearAll(job);
  cluster_.Pass(5000);
  const auto questions = cluster_.View().schedule.layout_questions;
  ASSERT_FALSE(questions.empty());
  EXPECT_EQ(questions[0].shape.nodes, 3);
  layouts.push_back(none);
  cluster_.Pass(5000);
  EXPECT_EQ(cluster_.Attempt(job).number(), 1) << "no layout fits its nodes";
}

TEST(AutoJobNodesTest, ANodeToAvoidIsNotUsable) {
  TestCluster cluster;
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 4);
  const int64_t job = cluster.Submit(AutoSpec("auto", 3, 2));
  AnswerAll(cluster);
  cluster.StartAll(job);
  ASSERT_EQ(cluster.Placement(job), "a:0 a:1 b:0 b:1 c:0 c:1");
  cluster.AddNode("d", 4);
  cluster.StopHeartbeats("d");
  cluster.Pass(3500);
  ASSERT_EQ(cluster.NodeStateOf("d"), v1::NODE_STATE_SUSPECT);
  cluster.ExitRank(job, 0, static_cast<int>(ExitCode::kDeviceFault));
  cluster.Settle();
  cluster.ClearAll(job);
  cluster.Pass(12'000);
  ASSERT_EQ(cluster.NodeStateOf("d"), v1::NODE_STATE_LOST);
  const auto questions = cluster.View().schedule.layout_questions;
  ASSERT_THAT(questions, SizeIs(1));
  EXPECT_EQ(questions[0].shape.nodes, 2) << "a has two free slots";
}

TEST_F(AutoJobTest, AJobThatNoLayoutFitsHoldsUpNobody) {
  v1::JobSpec spec = AutoSpec("stuck", 3, 2);
  spec.mutable_train()->set_global_batch(1);
  spec.mutable_train()->set_seq_length(3);
  spec.mutable_model()->set_num_layers(1);
  spec.mutable_model()->set_num_attention_heads(1);
  const int64_t stuck = cluster_.Submit(spec);
  const int64_t later = cluster_.Submit("later", 1, 1);
  EXPECT_EQ(AnswerAll(cluster_), 1);
  EXPECT_EQ(cluster_.Job(stuck).attempts_size(), 0);
  EXPECT_EQ(cluster_.Job(later).attempts_size(), 1);
  const v1::PendingReason reason = WhyPending(cluster_.View(), cluster_.state.jobs.at(stuck));
  EXPECT_EQ(reason.code(), v1::PENDING_CODE_LAYOUT);
  EXPECT_THAT(reason.message(), HasSubstr("no layout of 3 nodes of 2 CPU satisfies the rules"));
  EXPECT_THAT(reason.advice(), HasSubstr("train.global_batch"));
  EXPECT_EQ(reason.queue_position(), 0);
}

TEST_F(AutoJobTest, AChoiceForAJobThatNoLongerWaitsIsDropped) {
  const int64_t job = RunOnAll();
  const v1::GrantedLayout old = LayoutOf(cluster_, job);
  EXPECT_THAT(cluster_.Do(ChooseLayout{job, old}), IsEmpty());
  EXPECT_THAT(cluster_.Do(ChooseLayout{77, old}), IsEmpty());
  EXPECT_THAT(cluster_.state.jobs.at(job).layouts, SizeIs(1));
}

TEST_F(AutoJobTest, ChoicesSurviveASnapshotAndAreBounded) {
  const int64_t waiting = cluster_.Submit(AutoSpec("waiting", 3, 2));
  v1::GrantedLayout choice;
  choice.set_asked_nodes(1);
  for (int i = 0; i < 40; ++i) {
    choice.set_micro_batches(i);
    cluster_.Do(ChooseLayout{waiting, choice});
  }
  EXPECT_THAT(cluster_.state.jobs.at(waiting).layouts, SizeIs(kLayoutsKept));
  EXPECT_EQ(cluster_.state.jobs.at(waiting).layouts.back().micro_batches(), 39);
  const ClusterState restored = FromSnapshot(ToSnapshot(cluster_.state, 1));
  EXPECT_EQ(Bytes(restored), Bytes(cluster_.state));
  EXPECT_EQ(DifferentIndexes(restored, cluster_.state), "");
}

v1::Hello WithModel(v1::Hello hello, const std::string& model) {
  for (v1::Slot& slot : *hello.mutable_inventory()->mutable_slots()) {
    slot.set_kind(v1::DEVICE_KIND_GPU);
    slot.set_model(model);
  }
  return hello;
}

TEST_F(AutoJobTest, EachKindOfGpuWithEnoughOfThemCounts) {
  const GangShape shape{1, 2, v1::DEVICE_KIND_GPU};
  const v1::JobSpec any;
  EXPECT_THAT(DevicesForLayouts(cluster_.state, any, shape), IsEmpty());
  cluster_.Do(AttachWorker{WithModel(cluster_.HelloOf("a"), "NVIDIA H200")});
  EXPECT_THAT(DevicesForLayouts(cluster_.state, any, shape), ElementsAre("NVIDIA H200"));
  cluster_.Do(AttachWorker{WithModel(cluster_.HelloOf("c"), "NVIDIA A100-SXM4-40GB")});
  EXPECT_THAT(DevicesForLayouts(cluster_.state, any, shape),
              ElementsAre("NVIDIA A100-SXM4-40GB", "NVIDIA H200"));
  EXPECT_THAT(DevicesForLayouts(cluster_.state, any, {1, 3, v1::DEVICE_KIND_GPU}), IsEmpty());
  // Kinds on which the whole gang fits precede, and hide, the others.
  cluster_.Do(AttachWorker{WithModel(cluster_.HelloOf("b"), "NVIDIA H200")});
  EXPECT_THAT(DevicesForLayouts(cluster_.state, any, {2, 2, v1::DEVICE_KIND_GPU}),
              ElementsAre("NVIDIA H200"));
  EXPECT_THAT(DevicesForLayouts(cluster_.state, any, {3, 2, v1::DEVICE_KIND_GPU}),
              ElementsAre("NVIDIA H200", "NVIDIA A100-SXM4-40GB"));
}

}  // namespace
}  // namespace trainyard::controller
