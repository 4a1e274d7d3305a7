#include "worker/watched_attempt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>

#include "proto/parsers/tf_record.h"
#include "tests/worker/spool/temporary_dir.h"
#include "trainyard/v1/tensorboard_event.pb.h"
#include "worker/checkpoint_watch.h"

namespace trainyard::worker {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class WatchedAttemptTest : public testing::Test {
 protected:
  WatchedAttemptTest() {
    std::filesystem::create_directory(dir_.File("ckpt"));
    WriteText(dir_.File("telemetry"), "");
    command_.set_job_id(3);
    command_.set_attempt(2);
    command_.set_node_count(1);
    command_.set_checkpoint_dir(dir_.File("ckpt"));
    command_.mutable_spec()->mutable_checkpoint()->set_watch("ckpt_*.pt");
    command_.mutable_spec()->mutable_checkpoint()->set_keep_last(1);
  }

  WatchPlaces Places() const {
    return {.telemetry = dir_.File("telemetry"), .state_path = dir_.File("watch.pb"), .marks = {}};
  }
  void Save(const std::string& name) { WriteText(dir_.File("ckpt/" + name), "weights"); }
  std::string Telemetry() const { return ReadText(dir_.File("telemetry")); }

  // Looks until the telemetry contains the text.
  bool LookUntil(WatchedAttempt& attempt, const std::string& text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (Telemetry().find(text) == std::string::npos) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      attempt.Look(WatchLook::kRunning, 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
  }

  TemporaryDir dir_;
  v1::StartAttempt command_;
};

TEST_F(WatchedAttemptTest, RecordsCheckpointsAndRemovesOldOnes) {
  Save("ckpt_5.pt");
  Save("notes.txt");
  WatchedAttempt attempt(command_, Places());
  attempt.Begin();
  Save("ckpt_10.pt");
  ASSERT_TRUE(LookUntil(attempt, "\"step\":10")) << Telemetry();
  EXPECT_THAT(Telemetry(), HasSubstr("\"bytes\":7"));
  Save("ckpt_20.pt");
  ASSERT_TRUE(LookUntil(attempt, "\"deleted\":true")) << Telemetry();
  EXPECT_FALSE(std::filesystem::exists(dir_.File("ckpt/ckpt_10.pt")));
  EXPECT_TRUE(std::filesystem::exists(dir_.File("ckpt/ckpt_20.pt")));
  // A file of an earlier attempt without a record is neither recorded nor removed.
  EXPECT_TRUE(std::filesystem::exists(dir_.File("ckpt/ckpt_5.pt")));
  EXPECT_THAT(Telemetry(), Not(HasSubstr("ckpt_5")));
}

TEST_F(WatchedAttemptTest, RestartedWorkerKnowsWhatExistedBefore) {
  Save("ckpt_5.pt");
  WatchedAttempt(command_, Places()).Begin();
  Save("ckpt_10.pt");
  WatchedAttempt again(command_, Places());
  ASSERT_TRUE(LookUntil(again, "\"step\":10")) << Telemetry();
  EXPECT_THAT(Telemetry(), Not(HasSubstr("ckpt_5")));
  const std::string before = Telemetry();
  WatchedAttempt third(command_, Places());
  EXPECT_FALSE(third.Look(WatchLook::kRunning, 0));
  EXPECT_EQ(Telemetry(), before);
}

TEST_F(WatchedAttemptTest, RecordWaitsForTheEndOfTheProgramsLine) {
  WatchedAttempt attempt(command_, Places());
  attempt.Begin();
  WriteText(dir_.File("telemetry"), "{\"type\":");
  Save("ckpt_10.pt");
  // The file is complete at the third look.
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(attempt.Look(WatchLook::kRunning, 0));
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
  }
  EXPECT_EQ(Telemetry(), "{\"type\":");
  WriteText(dir_.File("telemetry"), "{\"type\":1}\n");
  ASSERT_TRUE(LookUntil(attempt, "\"step\":10"));
  EXPECT_THAT(Telemetry(), testing::StartsWith("{\"type\":1}\n{"));
}

TEST_F(WatchedAttemptTest, ReplacedDirectoryIsReportedAndDeletesNoRecord) {
  WatchedAttempt attempt(command_, Places());
  attempt.Begin();
  Save("ckpt_10.pt");
  ASSERT_TRUE(LookUntil(attempt, "\"step\":10"));
  std::filesystem::rename(dir_.File("ckpt"), dir_.File("away"));
  EXPECT_FALSE(attempt.Look(WatchLook::kRunning, 0));
  std::filesystem::create_directory(dir_.File("ckpt"));
  EXPECT_FALSE(attempt.Look(WatchLook::kRunning, 0));
  EXPECT_FALSE(attempt.Look(WatchLook::kRunning, 0));
  EXPECT_THAT(Telemetry(), HasSubstr("checkpoint_watch"));
  EXPECT_THAT(Telemetry(), HasSubstr("another directory has replaced it"));
  EXPECT_THAT(Telemetry(), Not(HasSubstr("deleted")));
}

TEST_F(WatchedAttemptTest, UnknownStepIsReportedOnce) {
  command_.mutable_spec()->mutable_checkpoint()->set_watch("*.pt");
  WatchedAttempt attempt(command_, Places());
  attempt.Begin();
  Save("last.pt");
  ASSERT_TRUE(LookUntil(attempt, "the step of last.pt is unknown"));
  const std::string before = Telemetry();
  attempt.Look(WatchLook::kRunning, 0);
  EXPECT_EQ(Telemetry(), before);
}

TEST_F(WatchedAttemptTest, ReadsTensorboardFilesBelowTheWorkingDirectory) {
  command_.mutable_spec()->mutable_checkpoint()->clear_watch();
  command_.mutable_spec()->set_tensorboard("runs");
  EXPECT_TRUE(CheckpointWatch::Watches(command_, {{3, 2}, 0}));
  EXPECT_FALSE(CheckpointWatch::Watches(command_, {{3, 2}, 1}));
  WatchPlaces places = Places();
  places.working_directory = dir_.path();
  WatchedAttempt attempt(command_, places);
  attempt.Begin();
  v1::TensorboardEvent event;
  event.set_step(5);
  v1::TensorboardValue& loss = *event.mutable_summary()->add_value();
  loss.set_tag("train/loss");
  loss.set_simple_value(2.5F);
  std::filesystem::create_directory(dir_.File("runs"));
  WriteText(dir_.File("runs/events.out.tfevents.1.host"), TfRecord(event.SerializeAsString()));
  EXPECT_FALSE(attempt.Look(WatchLook::kSaved, 0));
  EXPECT_THAT(Telemetry(), HasSubstr("\"step\":5,\"loss\":2.5}"));
  EXPECT_THAT(Telemetry(), Not(HasSubstr("checkpoint")));
}

}  // namespace
}  // namespace trainyard::worker
