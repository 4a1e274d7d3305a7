#include "trainer/state/training_state.h"

#include <gtest/gtest.h>

namespace trainyard::trainer {
namespace {

using nlohmann::json;

TrainingState FullState() {
  TrainingState state{.step = 7, .samples = 56, .tokens = 896, .skip = {{8, 16}}};
  state.noise = {.gradient = 0.5, .trace = 2};
  state.loss_scale = {
      .scale = 1024, .good_steps = 3, .hysteresis = 2, .skipped_steps = 4, .skipped_in_row = 1};
  state.evaluation = {6, {{"val", 2.5}}};
  state.best = {5, "val", 2.25};
  return state;
}

RunConfig ConfigOfState() {
  RunConfig config;
  config.data.seed = 11;
  config.train.seq_length = 16;
  return config;
}

// Other versions of the program read these keys, so they must not change.
TEST(TrainingStateTest, HasTheKeysOfTheFormat) {
  EXPECT_EQ(TrainingStateToJson(FullState(), ConfigOfState()), json::parse(R"({
    "version": 1, "step": 7, "samples": 56, "tokens": 896, "skip_samples": "8:16",
    "data_seed": 11, "data_shares": [1], "seq_length": 16,
    "gradient_noise": {"gradient": 0.5, "trace": 2.0},
    "loss_scale": {"scale": 1024.0, "good_steps": 3, "hysteresis": 2, "skipped_steps": 4,
                   "skipped_in_row": 1},
    "evaluation": {"step": 6, "losses": {"val": 2.5}},
    "best_evaluation": {"step": 5, "set": "val", "loss": 2.25}})"));
}

TEST(TrainingStateTest, IsReadAsItWasWritten) {
  const TrainingState state = FullState();
  const TrainingState read = TrainingStateFromJson(TrainingStateToJson(state, ConfigOfState()));
  EXPECT_EQ(read.step, 7);
  EXPECT_EQ(read.samples, 56);
  EXPECT_EQ(read.tokens, 896);
  EXPECT_EQ(SkipRangesToText(read.skip), "8:16");
  EXPECT_EQ(read.noise, state.noise);
  EXPECT_EQ(read.loss_scale, state.loss_scale);
  EXPECT_EQ(read.evaluation.step, 6);
  EXPECT_EQ(read.evaluation.LossOn("val"), 2.5);
  EXPECT_EQ(read.best.step, 5);
  EXPECT_EQ(read.best.set, "val");
  EXPECT_EQ(read.best.loss, 2.25);
}

}  // namespace
}  // namespace trainyard::trainer
