#include "trainer/step/pipeline_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace trainyard::trainer {
namespace {

using Kind = StageAction::Kind;
using Schedule = std::vector<StageAction>;

struct Shape {
  int64_t stages;
  int64_t chunks;
  int64_t micro_batches;
  bool zero_bubble;
};

std::vector<Schedule> SchedulesOf(const Shape& shape) {
  std::vector<Schedule> schedules;
  for (int64_t stage = 0; stage < shape.stages; ++stage) {
    schedules.push_back(TrainingSchedule({stage, shape.stages, shape.chunks}, shape.micro_batches,
                                         shape.zero_bubble));
  }
  return schedules;
}

std::vector<Shape> Shapes() {
  std::vector<Shape> shapes;
  for (const bool zero_bubble : {false, true}) {
    for (const int64_t stages : {1, 2, 3, 4, 8}) {
      for (const int64_t micro_batches : {1, 2, 3, 8, 24}) {
        shapes.push_back({stages, 1, micro_batches, zero_bubble});
        if (stages > 1) shapes.push_back({stages, 3, micro_batches * stages, zero_bubble});
      }
    }
  }
  return shapes;
}

// Duration of each kind of action.
struct Costs {
  int64_t forward = 1;
  int64_t backward = 1;
  int64_t weights = 1;
};

// Simulates all stages. An action starts when its stage is free and its input has arrived. Returns
// the end time of the last action, or -1 if the stages deadlock.
int64_t Play(const Shape& shape, const Costs& costs) {
  const std::vector<Schedule> schedules = SchedulesOf(shape);
  const int64_t parts = shape.stages * shape.chunks;
  std::map<std::pair<int64_t, int64_t>, int64_t> forward_end,
      backward_end;  // By part and micro-batch.
  std::vector<size_t> next(shape.stages, 0);
  std::vector<int64_t> free_at(shape.stages, 0);
  int64_t left = 0;
  for (const Schedule& schedule : schedules) left += static_cast<int64_t>(schedule.size());
  bool moved = true;
  while (moved && left > 0) {
    moved = false;
    for (int64_t stage = 0; stage < shape.stages; ++stage) {
      if (next[stage] == schedules[stage].size()) continue;
      const StageAction& action = schedules[stage][next[stage]];
      const int64_t part =
          PipelinePlace{stage, shape.stages, shape.chunks}.PartOfChunk(action.chunk);
      const auto at = [&](auto& ends, int64_t of_part) {
        const auto found = ends.find({of_part, action.micro_batch});
        return found == ends.end() ? int64_t{-1} : found->second;
      };
      int64_t ready = 0;
      if (action.kind == Kind::kForward && part > 0) ready = at(forward_end, part - 1);
      if (action.kind == Kind::kBackward) {
        ready =
            at(part + 1 < parts ? backward_end : forward_end, part + 1 < parts ? part + 1 : part);
        if (at(forward_end, part) < 0) ready = -1;
      }
      if (action.kind == Kind::kWeightGradients) ready = at(backward_end, part);
      if (ready < 0) continue;
      const int64_t cost = action.kind == Kind::kForward    ? costs.forward
                           : action.kind == Kind::kBackward ? costs.backward
                                                            : costs.weights;
      const int64_t end = std::max(free_at[stage], ready) + cost;
      free_at[stage] = end;
      if (action.kind == Kind::kForward) forward_end[{part, action.micro_batch}] = end;
      if (action.kind == Kind::kBackward) backward_end[{part, action.micro_batch}] = end;
      ++next[stage];
      --left;
      moved = true;
    }
  }
  return left > 0 ? -1 : *std::max_element(free_at.begin(), free_at.end());
}

TEST(PipelineScheduleTest, EveryStageDoesEverythingOnce) {
  for (const Shape& shape : Shapes()) {
    for (const Schedule& schedule : SchedulesOf(shape)) {
      std::map<Kind, std::set<std::pair<int64_t, int64_t>>> done;
      for (const StageAction& action : schedule) {
        EXPECT_TRUE(done[action.kind].insert({action.chunk, action.micro_batch}).second);
      }
      const auto passes = static_cast<size_t>(shape.chunks * shape.micro_batches);
      EXPECT_EQ(done[Kind::kForward].size(), passes);
      EXPECT_EQ(done[Kind::kBackward].size(), passes);
      EXPECT_EQ(done[Kind::kWeightGradients].size(), shape.zero_bubble ? passes : 0);
    }
  }
}

TEST(PipelineScheduleTest, NoStagesWaitForEachOther) {
  for (const Shape& shape : Shapes()) {
    EXPECT_GT(Play(shape, {}), 0) << shape.stages << " stages, " << shape.chunks << " chunks, "
                                  << shape.micro_batches << " micro-batches";
  }
}

// The weight gradients run in the order in which the backward passes queue them.
TEST(PipelineScheduleTest, WeightGradientsFollowTheBackwardPasses) {
  for (const Shape& shape : Shapes()) {
    if (!shape.zero_bubble) continue;
    for (const Schedule& schedule : SchedulesOf(shape)) {
      std::vector<ChunkPass> backward, weights;
      for (const StageAction& action : schedule) {
        if (action.kind == Kind::kBackward) backward.push_back({action.chunk, action.micro_batch});
        if (action.kind != Kind::kWeightGradients) continue;
        weights.push_back({action.chunk, action.micro_batch});
        EXPECT_LE(weights.size(), backward.size());
      }
      EXPECT_EQ(backward, weights);
    }
  }
}

// Returns the maximum number of pairs of a micro-batch and a chunk whose activations a stage keeps
// at the same time.
int64_t MostKept(const Schedule& schedule, bool zero_bubble) {
  int64_t kept = 0, most = 0;
  for (const StageAction& action : schedule) {
    if (action.kind == Kind::kForward) most = std::max(most, ++kept);
    if (action.kind == (zero_bubble ? Kind::kWeightGradients : Kind::kBackward)) --kept;
  }
  return most;
}

TEST(PipelineScheduleTest, NoStageKeepsMoreThanTheFirst) {
  for (const bool zero_bubble : {false, true}) {
    const std::vector<Schedule> schedules = SchedulesOf({4, 1, 24, zero_bubble});
    for (int64_t stage = 0; stage < 4; ++stage) {
      EXPECT_LE(MostKept(schedules[stage], zero_bubble), zero_bubble ? 5 : 4 - stage)
          << "stage " << stage;
    }
  }
}

// The unit of time is a forward pass. A backward pass takes two units, one of them for the weight
// gradients.
TEST(PipelineScheduleTest, BubblesAreThoseOfThePapers) {
  const int64_t stages = 4, micro_batches = 12, work = 3 * micro_batches;
  const Costs joined{.forward = 1, .backward = 2};
  EXPECT_EQ(Play({stages, 1, micro_batches, false}, joined), work + (stages - 1) * 3);
  // Each stage has two chunks, each with half of the stage's layers. Times are in half units. The
  // bubble is half as long as with one chunk.
  EXPECT_EQ(Play({stages, 2, micro_batches, false}, joined), 2 * work + (stages - 1) * 3);
  // Weight gradients fill two thirds of the bubble's time.
  EXPECT_EQ(Play({stages, 1, micro_batches, true}, {}), work + (stages - 1));
}

TEST(PipelineScheduleTest, ArrivalsAreWhatTheNeighbourSends) {
  const PipelinePlace first{.stage = 0, .stages = 2, .chunks = 2};
  const PipelinePlace last = StageAfter(first);
  EXPECT_EQ(last.stage, 1);
  EXPECT_EQ(StageBefore(first).stage, 1);
  const Schedule of_last = TrainingSchedule(last, 2, false);
  // The last stage's chunk 0 sends to the first stage's chunk 1. The last stage's chunk 1 is the
  // end of the model and sends nothing.
  EXPECT_EQ(ActivationArrivals(first, of_last), (std::vector<ChunkPass>{{1, 0}, {1, 1}}));
  EXPECT_EQ(ActivationArrivals(last, TrainingSchedule(first, 2, false)).size(), 4u);
  EXPECT_EQ(GradientArrivals(last, TrainingSchedule(first, 2, false)),
            (std::vector<ChunkPass>{{0, 0}, {0, 1}}));
}

TEST(PipelineScheduleTest, AnEvaluationGoesForwardOnly) {
  for (const StageAction& action : EvaluationSchedule({1, 2, 2}, 3)) {
    EXPECT_EQ(action.kind, Kind::kForward);
  }
  EXPECT_EQ(EvaluationSchedule({1, 2, 2}, 3).size(), 6u);
}

}  // namespace
}  // namespace trainyard::trainer
