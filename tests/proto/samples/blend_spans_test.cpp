#include "proto/samples/blend_spans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Places = std::vector<std::pair<int64_t, int64_t>>;  // Source and index.

// Three sources: the third one is used from step 4 on, and alone from step 7 on.
const std::vector<BlendStage> kStages = {{1, {3, 1, 0}}, {4, {1, 1, 2}}, {7, {0, 0, 1}}};

BatchPlan PlanOf(int32_t global_batch) {
  TrainConfig train;
  train.global_batch = global_batch;
  return BatchPlan(train);
}

StagedOrder OrderOf(const std::vector<BlendStage>& stages, const BlendStart& start = {},
                    int32_t global_batch = 4) {
  return StagedOrder(ContinuedSpans(stages, PlanOf(global_batch), start));
}

// The start of a run that resumes after `step` steps of 4 samples, none of them skipped.
BlendStart ResumedAfter(int64_t step, const StagedOrder& earlier) {
  return {step, 4 * step, 4 * step, earlier.spans()};
}

Places PlacesOf(const StagedOrder& order, int64_t first, int64_t last) {
  Places places;
  for (int64_t position = first; position < last; ++position) {
    const BlendOrder::Place place = order.At(position);
    places.emplace_back(place.source, place.index);
  }
  return places;
}

// Checks that each source is read in its own order without gaps, given the counts before.
void ExpectContinues(const StagedOrder& order, int64_t first, std::vector<int64_t> taken) {
  for (int64_t position = first; position < first + 200; ++position) {
    for (size_t i = 0; i < taken.size(); ++i) {
      ASSERT_EQ(order.Count(static_cast<int64_t>(i), position), taken[i]) << position;
    }
    const BlendOrder::Place place = order.At(position);
    ASSERT_EQ(place.index, taken[place.source]++) << "position " << position;
  }
}

TEST(BlendSpansTest, StagesBeginAtTheirSteps) {
  const StagedOrder order = OrderOf(kStages);
  ExpectContinues(order, 0, {0, 0, 0});
  EXPECT_EQ(order.Count(2, 12), 0);
  EXPECT_EQ(order.Count(2, 24), 6);
  EXPECT_EQ(order.Count(2, 124), 106);
  EXPECT_EQ(order.Count(0, 124), order.Count(0, 24));
}

// Checkpoints depend on this order. If it changed, every resumed run would break.
TEST(BlendSpansTest, NeverChanges) {
  EXPECT_EQ(PlacesOf(OrderOf(kStages), 9, 27), (Places{{0, 7},
                                                       {0, 8},
                                                       {1, 2},
                                                       {2, 0},
                                                       {0, 9},
                                                       {1, 3},
                                                       {2, 1},
                                                       {2, 2},
                                                       {0, 10},
                                                       {1, 4},
                                                       {2, 3},
                                                       {2, 4},
                                                       {0, 11},
                                                       {1, 5},
                                                       {2, 5},
                                                       {2, 6},
                                                       {2, 7},
                                                       {2, 8}}));
}

TEST(BlendSpansTest, AResumedRunContinuesTheOrder) {
  const StagedOrder whole = OrderOf(kStages);
  for (int64_t step = 0; step < 12; ++step) {
    const StagedOrder resumed = OrderOf(kStages, ResumedAfter(step, whole));
    EXPECT_EQ(PlacesOf(resumed, 4 * step, 100), PlacesOf(whole, 4 * step, 100)) << step;
    const StagedOrder again = OrderOf(kStages, ResumedAfter(step + 3, resumed));
    EXPECT_EQ(PlacesOf(again, 4 * step + 12, 100), PlacesOf(whole, 4 * step + 12, 100)) << step;
  }
}

TEST(BlendSpansTest, ChangedWeightsApplyFromTheResumedStepWithoutRepeats) {
  const StagedOrder before = OrderOf(kStages);
  const StagedOrder after = OrderOf({{1, {1, 9, 0}}, {7, {0, 1, 1}}}, ResumedAfter(5, before));
  ExpectContinues(after, 20, {before.Count(0, 20), before.Count(1, 20), before.Count(2, 20)});
  EXPECT_EQ(after.Count(2, 24), before.Count(2, 20)) << "step 6 has the new weights";
  EXPECT_EQ(after.Count(2, 34), before.Count(2, 20) + 5) << "step 7 begins the new stage";
}

TEST(BlendSpansTest, AStageThatMovesToUnusedStepsChangesNoEarlierSample) {
  const StagedOrder before = OrderOf({{1, {3, 1}}, {4, {1, 3}}});
  const StagedOrder later = OrderOf({{1, {3, 1}}, {9, {1, 3}}}, ResumedAfter(3, before));
  EXPECT_EQ(PlacesOf(later, 12, 32), PlacesOf(OrderOf({{1, {3, 1}}}), 12, 32));
  const StagedOrder earlier = OrderOf({{1, {3, 1}}, {2, {1, 3}}}, ResumedAfter(3, before));
  EXPECT_EQ(PlacesOf(earlier, 12, 60), PlacesOf(before, 12, 60));
}

TEST(BlendSpansTest, StagesBeginAtTheirStepsAfterAChangeOfTheBatchSize) {
  const StagedOrder before = OrderOf(kStages);
  const StagedOrder after = OrderOf(kStages, ResumedAfter(2, before), 10);
  ExpectContinues(after, 8, {6, 2, 0});
  EXPECT_EQ(after.Count(2, 18), 0);
  EXPECT_EQ(after.Count(2, 48), 15);  // Steps 4 to 6 have the positions 18 to 47.
  EXPECT_EQ(after.Count(2, 58), 25);
  const StagedOrder late = OrderOf(kStages, ResumedAfter(5, before), 10);
  ExpectContinues(late, 20, {before.Count(0, 20), before.Count(1, 20), before.Count(2, 20)});
}

// The positions of steps that were not trained again stay unused.
TEST(BlendSpansTest, SkippedPositionsCount) {
  const StagedOrder whole = OrderOf(kStages);
  const BlendStart start = {4, 16, 30, whole.spans()};
  EXPECT_EQ(PlacesOf(OrderOf(kStages, start), 30, 60), PlacesOf(whole, 30, 60));
}

TEST(BlendSpansTest, AnotherNumberOfSourcesBeginsANewOrder) {
  const StagedOrder before = OrderOf({{1, {3, 1}}});
  EXPECT_EQ(PlacesOf(OrderOf(kStages, ResumedAfter(2, before)), 8, 60),
            PlacesOf(OrderOf(kStages), 8, 60));
}

TEST(BlendSpansTest, FindsTheSpanOfTheLatestSample) {
  const std::vector<BlendSpan> spans = {{0, {1}, {0}}, {8, {1}, {8}}, {12, {1}, {12}}};
  EXPECT_EQ(SpanBefore(spans, 0), nullptr);
  EXPECT_EQ(SpanBefore(spans, 8), &spans[0]);
  EXPECT_EQ(SpanBefore(spans, 9), &spans[1]);
  EXPECT_EQ(SpanBefore(spans, 1000), &spans[2]);
}

TEST(BlendSpansTest, StepsBeyondAllSamplesAreNeverReached) {
  const StagedOrder order = OrderOf({{1, {1, 0}}, {1'000'000'000'000, {0, 1}}}, {}, 16777216);
  EXPECT_EQ(order.At(int64_t{1} << 61).source, 0);
  EXPECT_EQ(order.spans().size(), 2u);
}

}  // namespace
}  // namespace trainyard
