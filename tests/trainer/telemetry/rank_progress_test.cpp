#include "trainer/telemetry/rank_progress.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

class RankProgressTest : public testing::Test {
 protected:
  RankProgressTest() {
    telemetry_.emplace(directory_.File("telemetry.jsonl"), [] { return int64_t{1}; });
    progress_.emplace(*telemetry_, [this] { return now_; });
  }

  std::vector<json> Records() const {
    std::ifstream in(directory_.File("telemetry.jsonl"));
    std::vector<json> records;
    for (std::string line; std::getline(in, line);) records.push_back(json::parse(line));
    return records;
  }

  TemporaryDirectory directory_;
  double now_ = 100;
  std::optional<TelemetryWriter> telemetry_;
  std::optional<RankProgress> progress_;
};

TEST_F(RankProgressTest, PhasesAreTimedAndFinalWithTheirEnd) {
  now_ += 2;
  progress_->EnterPhase(Phase::kLoad, 0);
  now_ += 3;
  progress_->EnterPhase(Phase::kTrain, 40);
  now_ += 10;
  progress_->EnterPhase(Phase::kEval, 50);
  now_ += 4;
  progress_->EnterPhase(Phase::kCheckpoint, 50);
  now_ += 0.5;
  progress_->EnterPhase(Phase::kTrain, 50);
  now_ += 1;
  progress_->EnterPhase(Phase::kEval, 51);
  now_ += 1;
  progress_->EnterPhase(Phase::kDone, 51);
  const json last = Records().back();
  EXPECT_EQ(last["type"], "rank");
  EXPECT_EQ(last["step"], 51);
  EXPECT_EQ(last["init_seconds"], 2);
  EXPECT_EQ(last["load_seconds"], 3);
  EXPECT_EQ(last["evaluation_seconds"], 5);
  EXPECT_EQ(last["checkpoint_seconds"], 0.5);
  EXPECT_EQ(Records()[0],
            json({{"type", "phase"}, {"time_ms", 1}, {"phase", "load"}, {"step", 0}}));
}

TEST_F(RankProgressTest, StepTimeIsTheMeanSinceTheRecordBefore) {
  progress_->Step(1, 0.25, 0.1);
  progress_->Step(2, 0.75, 0.3);
  progress_->Write(1000);
  json last = Records().back();
  EXPECT_EQ(last["step"], 2);
  EXPECT_EQ(last["step_seconds"], 0.5);
  EXPECT_EQ(last["data_stall_seconds"], 0.3);
  EXPECT_EQ(last["memory_bytes"], 1000);
  progress_->Step(3, 2, 0.3);
  progress_->Write(2000);
  EXPECT_EQ(Records().back()["step_seconds"], 2);
  // No step has been completed since the last record, so step time and memory use are unchanged.
  progress_->Write();
  EXPECT_EQ(Records().back()["step_seconds"], 2);
  EXPECT_EQ(Records().back()["memory_bytes"], 2000);
}

TEST_F(RankProgressTest, AGenerationThatEvaluatesItsRestoredStepIsTold) {
  progress_->SetGeneration(2);
  progress_->EnterPhase(Phase::kTrain, 40);
  EXPECT_FALSE(Records().back().contains("generation")) << "it may still lose a peer";
  progress_->EnterPhase(Phase::kEval, 40);
  EXPECT_EQ(Records().back()["generation"], 2);
}

TEST_F(RankProgressTest, TheFirstStepOfAGenerationIsWrittenAtOnce) {
  progress_->Step(4, 1, 0);
  progress_->SetGeneration(2);
  progress_->EnterPhase(Phase::kTrain, 4);
  EXPECT_FALSE(Records().back().contains("generation")) << "no step was made in it";
  EXPECT_FALSE(progress_->IsDue());
  progress_->Step(5, 1, 0);
  EXPECT_TRUE(progress_->IsDue());
  progress_->Write(1);
  EXPECT_EQ(Records().back()["generation"], 2);
  EXPECT_EQ(Records().back()["step"], 5);
  EXPECT_FALSE(progress_->IsDue());
}

TEST_F(RankProgressTest, ARankWritesAtMostOnceASecond) {
  EXPECT_FALSE(progress_->IsDue());
  now_ += 0.999;
  EXPECT_FALSE(progress_->IsDue());
  now_ += 0.001;
  EXPECT_TRUE(progress_->IsDue());
  progress_->Write(1);
  EXPECT_FALSE(progress_->IsDue());
}

}  // namespace
}  // namespace trainyard::trainer
