#include "trainer/saving/saver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "tests/fakes/full_disk.h"
#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "trainer/process/signals.h"
#include "trainer/start/shared_directory.h"

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A single rank on a CPU. Calls that save return only after the checkpoint is published.
class SaverTest : public testing::Test {
 protected:
  SaverTest() {
    config_.resources.device = DeviceKind::kCpu;
    config_.layout.dp = 1;
    config_.train.threads = 1;
    config_.data.path = "data";
    config_.checkpoint.every_steps = 0;
    config_.checkpoint.async = false;
  }

  void Open(const FirstState& first = {}) {
    RuntimeEnvironment env;
    env.checkpoint_dir = directory_.path();
    setup_.emplace(config_, env, telemetry_, progress_);
    const ClaimedDirectory claim =
        ClaimDirectory(*setup_->groups.world, setup_->device, setup_->env, true);
    saver_.emplace(*setup_, first, claim, [] { return Weights(1); });
  }

  // Returns the number of published saves.
  int64_t Saves() const {
    std::ifstream file(TelemetryPath());
    int64_t saves = 0;
    for (std::string line; std::getline(file, line);) {
      if (line.find("\"type\":\"checkpoint\"") != std::string::npos) ++saves;
    }
    return saves;
  }

  // Completes `step` steps.
  void Reach(int64_t step) {
    state_.step = step;
    saver_->SaveIfDue(state_);
  }

  std::string TelemetryPath() const { return records_.path() + "/telemetry.jsonl"; }

  const CheckpointDirectory directory_;
  const CheckpointDirectory records_;
  RunConfig config_;
  TelemetryWriter telemetry_{TelemetryPath()};
  RankProgress progress_{telemetry_};
  std::optional<RankSetup> setup_;
  std::optional<Saver> saver_;
  TrainingState state_;
};

TEST_F(SaverTest, SavesAtTheStepsOfTheSettings) {
  config_.checkpoint.every_steps = 2;
  Open();
  EXPECT_FALSE(saver_->MayBeginAt(3));
  EXPECT_TRUE(saver_->MayBeginAt(4));
  for (int64_t step = 1; step <= 5; ++step) Reach(step);
  EXPECT_THAT(directory_.Names(), ElementsAre("step_000000002", "step_000000004"));
}

TEST_F(SaverTest, ARequestSavesTheNextStateOnce) {
  Open();
  Reach(1);
  EXPECT_FALSE(saver_->MayBeginAt(2));
  saver_->Request();
  EXPECT_TRUE(saver_->MayBeginAt(2));
  Reach(2);
  Reach(3);
  EXPECT_THAT(directory_.Names(), ElementsAre("step_000000002"));
}

TEST_F(SaverTest, EvaluationsSaveOnlyIfTheSettingsAskForIt) {
  Open();
  saver_->NoteEvaluation(true);
  Reach(1);
  EXPECT_THAT(directory_.Names(), IsEmpty());
}

TEST_F(SaverTest, SavesTheBestEvaluations) {
  config_.checkpoint.always_save_checkpoint = false;
  Open();
  saver_->NoteEvaluation(false);
  Reach(1);
  saver_->NoteEvaluation(true);
  Reach(2);
  EXPECT_THAT(directory_.Names(), ElementsAre("step_000000002"));
}

TEST_F(SaverTest, SavesEachEvaluation) {
  config_.checkpoint.always_save_checkpoint = true;
  Open();
  saver_->NoteEvaluation(false);
  Reach(1);
  EXPECT_THAT(directory_.Names(), ElementsAre("step_000000001"));
}

TEST_F(SaverTest, TheEndSavesTheLastState) {
  Open();
  Reach(3);
  saver_->Finish(state_);
  EXPECT_THAT(directory_.Names(), ElementsAre("step_000000003"));
}

TEST_F(SaverTest, TheEndDoesNotSaveASavedState) {
  config_.checkpoint.every_steps = 1;
  config_.train.steps = 1;
  Open();
  Reach(1);
  saver_->Finish(state_);
  EXPECT_EQ(Saves(), 1);
}

TEST_F(SaverTest, TheEndDoesNotSaveTheLoadedState) {
  Open({.step = 7, .is_saved = true, .resumed_from = directory_.Step(7)});
  state_.step = 7;
  saver_->Finish(state_);
  EXPECT_EQ(Saves(), 0);
}

TEST_F(SaverTest, TheEndRepeatsALostSave) {
  config_.checkpoint.every_steps = 1;
  config_.train.steps = 1;
  Open();
  {
    const FullDisk full(600);
    Reach(1);
  }
  EXPECT_THAT(directory_.Names(), IsEmpty());
  saver_->Finish(state_);
  EXPECT_EQ(Saves(), 1);
  EXPECT_THAT(directory_.Names(), ElementsAre("step_000000001"));
}

TEST_F(SaverTest, ARequestSurvivesTheLossOfItsStep) {
  Open();
  RepeatSaveRequest();
  EXPECT_TRUE(saver_->TakeRequest(5));
  EXPECT_FALSE(saver_->TakeRequest(6));
  saver_->Drop(4);
  EXPECT_TRUE(TakeSaveRequest());
  saver_->Drop(5);
  EXPECT_FALSE(TakeSaveRequest());
}

}  // namespace
}  // namespace trainyard::trainer
