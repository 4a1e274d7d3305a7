#include "controller/core/decide/element_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "controller/core/event_log/snapshot.h"
#include "controller/core/schedule/queue_order.h"
#include "controller/core/state/jobs/array_elements.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

v1::JobSpec ArraySpec(const std::string& values) {
  v1::JobSpec spec = TestSpec("sweep", 1, 1);
  (*spec.mutable_matrix())["env.SEED"] = values;
  return spec;
}

class ElementJobsTest : public testing::Test {
 protected:
  // Returns the states of the jobs of the array's elements, in the order of their numbers.
  std::vector<v1::JobState> ElementStates(int64_t array) const {
    std::vector<v1::JobState> states;
    for (const auto& [id, entry] : cluster_.state.jobs) {
      if (entry.job.array_id() == array) states.push_back(entry.job.state());
    }
    return states;
  }

  int64_t JobOf(int64_t array, int64_t index) const {
    for (const auto& [id, entry] : cluster_.state.jobs) {
      if (entry.job.array_id() == array && entry.job.array_index() == index) return id;
    }
    return 0;
  }

  void Finish(int64_t job, int exit_code = 0) {
    cluster_.StartAll(job);
    cluster_.ExitAll(job, exit_code);
    cluster_.ClearAll(job);
    cluster_.Settle();
  }

  TestCluster cluster_;
};

// At most as many elements wait as were placed in the newest tick.
TEST_F(ElementJobsTest, FewElementsWaitBesideThoseThatRun) {
  cluster_.AddNode("a", 2);
  const int64_t array = cluster_.Submit(ArraySpec("1..50"));
  EXPECT_THAT(ElementStates(array), SizeIs(0));
  cluster_.Settle();
  EXPECT_EQ(std::ranges::count(ElementStates(array), v1::JOB_STATE_STARTING), 2);
  EXPECT_EQ(std::ranges::count(ElementStates(array), v1::JOB_STATE_QUEUED), 2);
  ++cluster_.now;
  Finish(JobOf(array, 0));
  EXPECT_EQ(std::ranges::count(ElementStates(array), v1::JOB_STATE_QUEUED), 1);
  ++cluster_.now;
  Finish(JobOf(array, 1));
  EXPECT_EQ(std::ranges::count(ElementStates(array), v1::JOB_STATE_QUEUED), 1);
  const v1::Job& second = cluster_.Job(JobOf(array, 1));
  EXPECT_EQ(second.name(), "sweep.1");
  EXPECT_EQ(second.user(), "ada");
  EXPECT_EQ(second.spec().env().at("SEED"), "2");
  EXPECT_EQ(second.spec().checkpoint().dir(),
            cluster_.options.checkpoint_root + "/" + std::to_string(second.id()) + "-sweep.1");
  EXPECT_EQ(cluster_.StateOf(array), v1::JOB_STATE_QUEUED);
}

TEST_F(ElementJobsTest, AnArrayEndsAfterItsElements) {
  cluster_.AddNode("a", 1);
  const int64_t array = cluster_.Submit(ArraySpec("[\"x\",\"y\"]"));
  v1::JobSpec after = TestSpec("after", 1, 1);
  after.add_after("sweep:end");
  const int64_t later = cluster_.Submit(after);
  cluster_.Settle();
  Finish(JobOf(array, 0));
  EXPECT_EQ(cluster_.StateOf(later), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster_.StateOf(array), v1::JOB_STATE_QUEUED);
  Finish(JobOf(array, 1));
  EXPECT_EQ(cluster_.StateOf(array), v1::JOB_STATE_SUCCEEDED);
  EXPECT_THAT(cluster_.Job(array).verdict().summary(), HasSubstr("2 of 2 elements succeeded"));
  EXPECT_EQ(cluster_.StateOf(later), v1::JOB_STATE_STARTING);
  EXPECT_THAT(cluster_.state.jobs.at(array).elements, SizeIs(2));
}

TEST_F(ElementJobsTest, AFailedElementFailsTheArrayButNotTheOtherElements) {
  cluster_.AddNode("a", 1);
  v1::JobSpec spec = ArraySpec("1..2");
  spec.mutable_restart()->set_max_restarts(0);
  const int64_t array = cluster_.Submit(spec);
  cluster_.Settle();
  Finish(JobOf(array, 0), 1);
  EXPECT_EQ(cluster_.StateOf(JobOf(array, 0)), v1::JOB_STATE_FAILED);
  Finish(JobOf(array, 1));
  EXPECT_EQ(cluster_.StateOf(array), v1::JOB_STATE_FAILED);
  EXPECT_EQ(cluster_.Job(array).verdict().cause(), v1::VERDICT_CAUSE_ELEMENT_FAILED);
  EXPECT_EQ(cluster_.Job(array).array().failed(), 1);
  EXPECT_EQ(cluster_.Job(array).array().succeeded(), 1);
}

TEST_F(ElementJobsTest, MaxConcurrentLimitsTheElementsThatAreJobs) {
  cluster_.AddNode("a", 8);
  v1::JobSpec spec = ArraySpec("1..100");
  spec.set_max_concurrent(3);
  const int64_t array = cluster_.Submit(spec);
  cluster_.Settle();
  EXPECT_THAT(ElementStates(array), SizeIs(3));
  Finish(JobOf(array, 0));
  EXPECT_THAT(ElementStates(array), SizeIs(4));
  EXPECT_THAT(LiveElements(cluster_.state, array), SizeIs(3));
}

// The number of passes is logarithmic, because each pass creates as many elements as the earlier
// passes of the tick have placed.
TEST_F(ElementJobsTest, AFreeClusterIsFilledInOneTick) {
  for (int i = 0; i < 10; ++i) cluster_.AddNode("n" + std::to_string(i), 100);
  const int64_t array = cluster_.Submit(ArraySpec("1..100000"));
  cluster_.Settle();
  EXPECT_EQ(std::ranges::count(ElementStates(array), v1::JOB_STATE_STARTING), 1000);
}

TEST_F(ElementJobsTest, AHundredThousandElementsCostOneJob) {
  const v1::JobSpec job = TestSpec("job", 1, 1);
  cluster_.AddNode("a", 1);
  cluster_.Submit(job);
  cluster_.Settle();
  const std::size_t before = Bytes(cluster_.state).size();
  cluster_.Submit(ArraySpec("1..100000"));
  cluster_.Settle();
  EXPECT_LT(Bytes(cluster_.state).size() - before, 100'000);
  EXPECT_THAT(cluster_.state.jobs, SizeIs(3));
}

TEST_F(ElementJobsTest, ElementsHaveThePlaceOfTheirArrayInTheQueue) {
  cluster_.AddNode("a", 1);
  const int64_t first = cluster_.Submit("first", 1, 1);
  cluster_.Settle();
  const int64_t array = cluster_.Submit(ArraySpec("1..3"));
  const int64_t later = cluster_.Submit("later", 1, 1);
  cluster_.Settle();
  const int64_t element = JobOf(array, 0);
  EXPECT_GT(element, later);
  EXPECT_THAT(JobsInOrder(cluster_.state, v1::DEVICE_KIND_CPU, cluster_.now),
              ElementsAre(element, later));
  EXPECT_EQ(CountBefore(cluster_.state, cluster_.Job(element), cluster_.now), 0);
  EXPECT_EQ(CountBefore(cluster_.state, cluster_.Job(later), cluster_.now), 1);
  Finish(first);
  EXPECT_EQ(cluster_.StateOf(element), v1::JOB_STATE_STARTING);
  EXPECT_EQ(cluster_.StateOf(later), v1::JOB_STATE_QUEUED);
}

// Only the combination of both values breaks a rule: the last rank of the job is rank 0.
TEST_F(ElementJobsTest, AnElementThatBreaksARuleFailsWithoutAJob) {
  cluster_.AddNode("a", 4);
  v1::JobSpec spec = ArraySpec("1..1");
  spec.mutable_matrix()->clear();
  (*spec.mutable_matrix())["log_parser.rank"] = "[\"0\",\"1\"]";
  (*spec.mutable_matrix())["resources.slots_per_node"] = "[\"2\",\"1\"]";
  const int64_t array = cluster_.Submit(spec);
  cluster_.Settle();
  const auto& elements = cluster_.state.jobs.at(array).elements;
  ASSERT_THAT(elements, SizeIs(1));
  EXPECT_EQ(elements[0].index(), 3);
  EXPECT_EQ(elements[0].job_id(), 0);
  EXPECT_THAT(elements[0].reason(), HasSubstr("`log_parser.rank` is 1"));
  for (const int64_t index : {0, 1, 2}) Finish(JobOf(array, index));
  EXPECT_EQ(cluster_.StateOf(array), v1::JOB_STATE_FAILED);
}

// The controller ends between any two events and continues from a snapshot.
TEST_F(ElementJobsTest, ASnapshotInTheMiddleContinuesTheArray) {
  cluster_.AddNode("a", 2);
  const int64_t array = cluster_.Submit(ArraySpec("1..4"));
  for (int index = 0; index < 4; ++index) {
    cluster_.Settle();
    const ClusterState copy = FromSnapshot(ToSnapshot(cluster_.state, 0));
    EXPECT_EQ(Bytes(copy), Bytes(cluster_.state));
    EXPECT_EQ(DifferentIndexes(copy, cluster_.state), "");
    cluster_.state = copy;
    Finish(JobOf(array, index));
  }
  EXPECT_EQ(cluster_.StateOf(array), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(cluster_.Job(array).array().created(), 4);
}

TEST_F(ElementJobsTest, TheArrayKeepsTheLastLossesOfItsElements) {
  cluster_.AddNode("a", 1);
  const int64_t array = cluster_.Submit(ArraySpec("1..1"));
  cluster_.Settle();
  const int64_t job = JobOf(array, 0);
  cluster_.StartAll(job);
  cluster_.observations.progress[job].set_loss(2.5);
  cluster_.observations.progress[job].set_loss_step(7);
  cluster_.observations.progress[job].set_validation_loss(3.5);
  cluster_.ExitAll(job, 0);
  cluster_.ClearAll(job);
  const v1::ArrayElement& element = cluster_.state.jobs.at(array).elements.at(0);
  EXPECT_EQ(element.loss(), 2.5);
  EXPECT_EQ(element.validation_loss(), 3.5);
  EXPECT_EQ(element.state(), v1::JOB_STATE_SUCCEEDED);
}

}  // namespace
}  // namespace trainyard::controller
