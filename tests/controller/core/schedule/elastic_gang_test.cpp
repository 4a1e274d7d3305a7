#include "controller/core/schedule/elastic_gang.h"

#include <string>
#include <vector>

#include "controller/core/explain/explain.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/explain/preview.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/state/gang.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/jobspec/node_range.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

// With one slot per node, the batch of 24 samples divides among 1, 2, 3, 4, 6 and 8 nodes.
v1::JobSpec ElasticSpec(const std::string& name, int min_nodes, int nodes) {
  v1::JobSpec spec = SparesSpec(name, nodes, 1, 0);
  spec.set_min_nodes(min_nodes);
  spec.mutable_train()->set_global_batch(24);
  return spec;
}

class ElasticGangTest : public ::testing::Test {
 protected:
  void AddNodes(const std::string& ids) {
    for (const char id : ids) cluster_.AddNode(std::string(1, id), 1);
  }

  int64_t Run(const v1::JobSpec& spec) {
    const int64_t job = cluster_.Submit(spec);
    cluster_.RunJob(job);
    return job;
  }

  int SizeOf(int64_t job) const { return TrainingNodes(cluster_.Attempt(job)); }

  // The nodes send no heartbeats until they are lost. All ranks end.
  void Lose(int64_t job, const std::string& ids) {
    for (const char id : ids) cluster_.StopHeartbeats(std::string(1, id));
    for (const v1::RankPlacement& rank : cluster_.Attempt(job).ranks()) {
      if (ids.find(rank.node_id()) == std::string::npos) cluster_.ExitRank(job, rank.rank(), 69);
    }
    cluster_.Pass(4000);
    for (const std::string& node : GangNodes(cluster_.Attempt(job))) {
      if (ids.find(node) == std::string::npos) cluster_.ClearNode(job, node);
    }
    cluster_.Pass(20'000);
    for (const char id : ids) {
      ASSERT_EQ(cluster_.NodeStateOf(std::string(1, id)), v1::NODE_STATE_LOST) << id;
    }
  }

  void LimitQueue(int max_slots) {
    SetQueue set{.request = {}, .principal = {"ada"}};
    set.request.mutable_queue()->set_name("default");
    v1::SlotQuota& quota = *set.request.mutable_queue()->add_quotas();
    quota.set_device(v1::DEVICE_KIND_CPU);
    quota.set_max_slots(max_slots);
    cluster_.Do(set);
  }

  v1::PendingReason Why(int64_t job) const {
    return WhyPending(cluster_.View(), cluster_.state.jobs.at(job));
  }

  TestCluster cluster_;
};

TEST_F(ElasticGangTest, ItStartsOnTheLargestUsableNumberOfFreeNodes) {
  AddNodes("abcde");
  const int64_t job = Run(ElasticSpec("job", 2, 8));
  EXPECT_EQ(SizeOf(job), 4) << "5 ranks do not divide the batch";
  const v1::GrantedLayout& granted = cluster_.Attempt(job).layout();
  EXPECT_EQ(granted.nodes(), 4);
  EXPECT_EQ(granted.asked_nodes(), 8);
  EXPECT_EQ(granted.layout().dp(), 4);
  const v1::JobSpec spec = GrantedSpec(cluster_.Job(job).spec(), cluster_.Attempt(job));
  EXPECT_EQ(spec.resources().nodes(), 4);
  EXPECT_FALSE(spec.has_min_nodes());
  EXPECT_EQ(spec.train().global_batch(), 24);
  EXPECT_EQ(GangNodesText(cluster_.Job(job)), "4 of 2..8");
  EXPECT_THAT(ExplainJob(cluster_.View(), cluster_.state.jobs.at(job)).answer(),
              HasSubstr("4 of 2..8 nodes"));
}

TEST_F(ElasticGangTest, ItWaitsOnlyForItsMinimum) {
  AddNodes("abc");
  Run(TestSpec("other", 2, 1));
  const int64_t job = cluster_.Submit(ElasticSpec("job", 2, 8));
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_QUEUED);
  EXPECT_THAT(Why(job).message(), HasSubstr("needs at least 2 nodes with 1 cpu slot each"));
  AddNodes("d");
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STARTING);
  EXPECT_EQ(SizeOf(job), 2);
}

TEST_F(ElasticGangTest, ItContinuesWithoutLostNodes) {
  AddNodes("abcdefgh");
  const int64_t job = Run(ElasticSpec("job", 2, 8));
  ASSERT_EQ(SizeOf(job), 8);
  cluster_.Publish(job, 40);
  Lose(job, "c");
  ASSERT_EQ(cluster_.Attempt(job).number(), 2);
  EXPECT_EQ(SizeOf(job), 6) << "7 ranks do not divide the batch";
  EXPECT_EQ(cluster_.Attempt(job).resume_step(), 40);
  EXPECT_EQ(cluster_.Attempt(job).layout().layout().dp(), 6);
  EXPECT_EQ(cluster_.Job(job).spec().resources().nodes(), 8) << "the request does not change";
}

TEST_F(ElasticGangTest, AFreeNodeReplacesALostOne) {
  AddNodes("abcde");
  const int64_t job = Run(ElasticSpec("job", 2, 4));
  ASSERT_EQ(cluster_.Placement(job), "a:0 b:0 c:0 d:0");
  Lose(job, "b");
  ASSERT_EQ(cluster_.Attempt(job).number(), 2);
  EXPECT_EQ(cluster_.Placement(job), "a:0 e:0 c:0 d:0");
}

TEST_F(ElasticGangTest, BelowItsMinimumItWaitsForNodes) {
  AddNodes("abcd");
  const int64_t job = Run(ElasticSpec("job", 3, 4));
  Lose(job, "bc");
  EXPECT_EQ(cluster_.Attempt(job).number(), 1);
  EXPECT_EQ(cluster_.StateOf(job), v1::JOB_STATE_RECOVERING);
  AddNodes("e");
  cluster_.Settle();
  EXPECT_EQ(cluster_.Placement(job), "a:0 d:0 e:0");
}

TEST_F(ElasticGangTest, TheLimitOfTheQueueBoundsItsSize) {
  AddNodes("abcdefgh");
  LimitQueue(5);
  const int64_t job = Run(ElasticSpec("job", 2, 8));
  EXPECT_EQ(SizeOf(job), 4);
  v1::SubmitJobRequest request;
  *request.mutable_spec() = ElasticSpec("large", 6, 8);
  EXPECT_THAT(std::string(cluster_.Try(Checked(request)).message()),
              HasSubstr("requests 6 cpu slots, but the queue default may hold 5"));
}

TEST_F(ElasticGangTest, AfterALossItGrowsOnlyIfNoJobWaits) {
  for (const bool other_waits : {false, true}) {
    cluster_ = TestCluster();
    AddNodes("abcd");
    const int64_t job = Run(ElasticSpec("job", 2, 8));
    ASSERT_EQ(SizeOf(job), 4);
    AddNodes("efgh");
    if (other_waits) cluster_.Submit(TestSpec("other", 5, 1));
    Lose(job, "d");
    EXPECT_EQ(SizeOf(job), other_waits ? 4 : 6) << "3 kept nodes and 4 free ones";
  }
}

TEST_F(ElasticGangTest, BehindTheHeadItTakesOnlyNodesThatTheHeadCanSpare) {
  AddNodes("abcdefgh");
  const int64_t first = Run(TestSpec("first", 3, 1));
  const int64_t head = cluster_.Submit(TestSpec("head", 6, 1));
  const int64_t job = cluster_.Submit(ElasticSpec("job", 2, 8));
  cluster_.RunJob(job);
  EXPECT_EQ(SizeOf(job), 2) << "the head needs 6 of 8 nodes when `first` ends";
  cluster_.ExitAll(first, 0);
  cluster_.ClearAll(first);
  EXPECT_EQ(cluster_.StateOf(head), v1::JOB_STATE_STARTING);
}

TEST_F(ElasticGangTest, AClusterThatIsSmallerThanTheMaximumAcceptsAndPlansIt) {
  AddNodes("abcde");
  const auto now = PreviewJob(cluster_.View(), ElasticSpec("job", 2, 8));
  ASSERT_TRUE(now.ok()) << now.status();
  EXPECT_TRUE(now->starts_now());
  EXPECT_EQ(now->ranks_size(), 4);
  Run(TestSpec("other", 4, 1));
  const auto later = PreviewJob(cluster_.View(), ElasticSpec("job", 2, 8));
  ASSERT_TRUE(later.ok()) << later.status();
  EXPECT_FALSE(later->starts_now());
  EXPECT_EQ(later->ranks_size(), 4) << "the placement on an empty cluster";
  EXPECT_FALSE(PreviewJob(cluster_.View(), ElasticSpec("job", 6, 8)).ok());
}

TEST_F(ElasticGangTest, WithAnAutomaticLayoutEachSizeGetsItsOwn) {
  AddNodes("abcde");
  v1::JobSpec spec = ElasticSpec("job", 2, 8);
  spec.set_auto_layout(true);
  const int64_t job = cluster_.Submit(spec);
  for (int asked = 0; asked < 10; ++asked) {
    cluster_.Settle();
    const auto questions = cluster_.View().schedule.layout_questions;
    if (questions.empty()) break;
    EXPECT_EQ(questions[0].shape.nodes, 5) << "only 5 nodes are free";
    cluster_.Do(ChooseLayout{job, ChooseLayoutFor(cluster_.Job(job).spec(), questions[0])});
  }
  ASSERT_EQ(cluster_.StateOf(job), v1::JOB_STATE_STARTING);
  EXPECT_EQ(SizeOf(job), cluster_.Attempt(job).layout().nodes());
  EXPECT_GE(SizeOf(job), 2);
  EXPECT_LE(SizeOf(job), 5);
}

TEST_F(ElasticGangTest, AProgramOfOthersUsesEverySize) {
  AddNodes("abcde");
  v1::JobSpec spec = TestSpec("job", 8, 1);
  spec.set_min_nodes(2);
  EXPECT_EQ(SizeOf(Run(spec)), 5);
}

TEST_F(ElasticGangTest, SizesWithoutALayoutAreNotTheLeastShape) {
  AddNodes("a");
  v1::JobSpec spec = ElasticSpec("job", 1, 8);
  spec.set_auto_layout(true);
  JobEntry entry;
  *entry.job.mutable_spec() = spec;
  EXPECT_EQ(LeastShape(entry).nodes, 1);
  v1::GrantedLayout& none = entry.layouts.emplace_back();
  none.set_asked_nodes(3);
  EXPECT_EQ(LeastShape(entry).nodes, 4);
}

}  // namespace
}  // namespace trainyard::controller
