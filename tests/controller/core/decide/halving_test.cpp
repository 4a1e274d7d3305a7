#include "controller/core/decide/halving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "controller/core/event_log/snapshot.h"
#include "controller/core/observations/evaluated_losses.h"
#include "controller/core/state/jobs/array_elements.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

bool Stops(std::optional<double> metric, const RungField& field, double keep = 0.5) {
  return DecideRung(metric, field, keep).stopped();
}

TEST(DecideRungTest, TheFirstElementContinues) {
  EXPECT_FALSE(Stops(9, {}));
  EXPECT_FALSE(Stops(std::nullopt, {}));
  EXPECT_FALSE(Stops(9, {}, 0.001));
}

TEST(DecideRungTest, ElementsWithinTheKeptPartContinue) {
  const RungField field{.metrics = {1, 2, 3}};
  const v1::ArrayRung second = DecideRung(1.5, field, 0.5);
  EXPECT_EQ(second.rank(), 2);
  EXPECT_EQ(second.compared(), 4);
  EXPECT_FALSE(second.stopped());
  EXPECT_TRUE(Stops(2.5, field));
  EXPECT_FALSE(Stops(2.5, field, 0.75));
  // The number that continues is rounded up: 1.2 of 4 means 2.
  EXPECT_FALSE(Stops(1.5, field, 0.3));
}

TEST(DecideRungTest, AnEqualMetricRanksBehindEarlierElements) {
  EXPECT_EQ(DecideRung(1, {.metrics = {1, 1}}, 0.5).rank(), 3);
  EXPECT_TRUE(Stops(1, {.metrics = {1}}));
}

TEST(DecideRungTest, ANotFiniteMetricRanksBehindAllNumbers) {
  const v1::ArrayRung rung = DecideRung(std::nullopt, {.metrics = {9, std::nullopt}}, 0.5);
  EXPECT_EQ(rung.rank(), 3);
  EXPECT_FALSE(rung.has_metric());
  EXPECT_EQ(DecideRung(9, {.metrics = {std::nullopt}}, 0.5).rank(), 1);
}

TEST(DecideRungTest, FailedElementsRankLast) {
  EXPECT_TRUE(Stops(2, {.metrics = {1}}));
  EXPECT_FALSE(Stops(2, {.metrics = {1}, .failed = 1}));
  EXPECT_EQ(DecideRung(std::nullopt, {.failed = 3}, 0.5).rank(), 1);
}

class HalvingTest : public testing::Test {
 protected:
  HalvingTest() { cluster_.AddNode("a", 4); }

  void Submit(const std::string& metric, const std::vector<std::string>& steps) {
    v1::JobSpec spec = TestSpec("sweep", 1, 1);
    (*spec.mutable_matrix())["env.SEED"] = "1..4";
    spec.mutable_halving()->set_metric(metric);
    spec.mutable_halving()->mutable_at_step()->Assign(steps.begin(), steps.end());
    array_ = cluster_.Submit(spec);
    cluster_.Settle();
    const auto& live = LiveElements(cluster_.state, array_);
    elements_.assign(live.begin(), live.end());
    for (const int64_t id : elements_) cluster_.StartAll(id);
  }

  void Report(int element, int64_t step, double loss) {
    v1::Progress& progress = cluster_.observations.progress[elements_[element]];
    progress.set_loss(loss);
    progress.set_loss_step(step);
    cluster_.Settle();
  }

  v1::JobState StateOf(int element) const { return cluster_.StateOf(elements_[element]); }

  TestCluster cluster_;
  int64_t array_ = 0;
  std::vector<int64_t> elements_;
};

TEST_F(HalvingTest, AWorseElementStopsAtTheRung) {
  Submit("loss", {"100", "200"});
  Report(0, 100, 2.0);
  Report(1, 99, 9.0);
  EXPECT_EQ(StateOf(1), v1::JOB_STATE_RUNNING);
  Report(1, 101, 9.0);
  EXPECT_EQ(StateOf(0), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(StateOf(1), v1::JOB_STATE_STOPPING);
  cluster_.ExitAll(elements_[1], 143);
  cluster_.ClearAll(elements_[1]);
  EXPECT_EQ(StateOf(1), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(cluster_.Job(elements_[1]).verdict().cause(), v1::VERDICT_CAUSE_HALVED);
  EXPECT_EQ(cluster_.Job(array_).array().halved(), 1);
  EXPECT_THAT(cluster_.state.jobs.at(array_).elements.at(0).reason(), HasSubstr("halving"));
}

TEST_F(HalvingTest, EachRungIsDecidedOncePerElement) {
  Submit("loss", {"100", "200"});
  Report(0, 100, 2.0);
  Report(0, 150, 8.0);
  EXPECT_THAT(cluster_.state.jobs.at(array_).rungs, SizeIs(1));
  Report(0, 250, 8.0);
  EXPECT_THAT(cluster_.state.jobs.at(array_).rungs, SizeIs(2));
  Report(0, 900, 8.0);
  EXPECT_THAT(cluster_.state.jobs.at(array_).rungs, SizeIs(2));
  EXPECT_EQ(cluster_.Job(elements_[0]).array_rungs(), 2);
}

TEST_F(HalvingTest, ASnapshotKeepsTheDecisions) {
  Submit("loss", {"100"});
  Report(0, 100, std::numeric_limits<double>::quiet_NaN());
  Report(1, 100, 1.0);
  const ClusterState copy = FromSnapshot(ToSnapshot(cluster_.state, 0));
  EXPECT_EQ(Bytes(copy), Bytes(cluster_.state));
  cluster_.state = copy;
  Report(2, 100, 2.0);
  EXPECT_EQ(StateOf(0), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(StateOf(1), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(StateOf(2), v1::JOB_STATE_RUNNING);
  Report(3, 100, 3.0);
  EXPECT_EQ(StateOf(3), v1::JOB_STATE_STOPPING);
}

TEST_F(HalvingTest, TheValidationLossCountsFromItsOwnStep) {
  Submit("validation_loss", {"100"});
  for (const int element : {0, 1}) {
    v1::Progress& progress = cluster_.observations.progress[elements_[element]];
    SetEvaluatedLoss("val", 50, 1.0, progress);
    Report(element, 100, 1.0);
  }
  EXPECT_THAT(cluster_.state.jobs.at(array_).rungs, IsEmpty());
  SetEvaluatedLoss("val", 100, 1.0, cluster_.observations.progress[elements_[0]]);
  SetEvaluatedLoss("val", 120, 2.0, cluster_.observations.progress[elements_[1]]);
  cluster_.Settle();
  EXPECT_EQ(StateOf(0), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(StateOf(1), v1::JOB_STATE_STOPPING);
}

// Elements that a halving stopped have not failed.
TEST_F(HalvingTest, AnArrayWithStoppedElementsSucceeds) {
  Submit("loss", {"100"});
  for (int element = 0; element < 4; ++element) Report(element, 100, element);
  for (int element = 0; element < 4; ++element) {
    cluster_.ExitAll(elements_[element], StateOf(element) == v1::JOB_STATE_STOPPING ? 143 : 0);
    cluster_.ClearAll(elements_[element]);
  }
  cluster_.Settle();
  EXPECT_EQ(cluster_.StateOf(array_), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(cluster_.Job(array_).array().halved(), 3);
}

}  // namespace
}  // namespace trainyard::controller
