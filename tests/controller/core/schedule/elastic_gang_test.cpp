#include "controller/core/schedule/elastic_gang.h"

#include <string>
#include <vector>

#include "controller/core/explain/explain.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/explain/preview.h"
#include "controller/core/schedule/layout_choice.h"
#include "controller/core/state/attempts/gang.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/jobspec/fields/node_range.h"
#include "tests/controller/core/elastic_fixture.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;

class ElasticGangTest : public ElasticFixture {
 protected:
  v1::PendingReason Why(int64_t job) const {
    return WhyPending(cluster_.View(), cluster_.state.jobs.at(job));
  }
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
  EXPECT_EQ(cluster_.Attempt(job).size_change(), "shrunk from 8 to 6 nodes: node c is lost");
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

TEST_F(ElasticGangTest, BehindTheHeadItLeavesTheHeadItsPartOfTheLimit) {
  AddNodes("abcdefgh");
  LimitQueue(10);
  const int64_t first = Run(TestSpec("first", 3, 1));
  const int64_t head = cluster_.Submit(TestSpec("head", 6, 1));
  const int64_t job = cluster_.Submit(ElasticSpec("job", 1, 8));
  cluster_.RunJob(job);
  EXPECT_EQ(SizeOf(job), 1) << "`first` has 3 of 10 slots, and the head needs 6 of them";
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
