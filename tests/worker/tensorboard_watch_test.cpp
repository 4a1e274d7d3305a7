#include "worker/tensorboard_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "proto/parsers/tf_record.h"
#include "tests/worker/spool/temporary_dir.h"
#include "trainyard/v1/tensorboard_event.pb.h"

namespace trainyard::worker {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Event(int64_t step, const std::string& tag, float value) {
  v1::TensorboardEvent event;
  event.set_wall_time(1'700'000'000.25);
  event.set_step(step);
  v1::TensorboardValue& scalar = *event.mutable_summary()->add_value();
  scalar.set_tag(tag);
  scalar.set_simple_value(value);
  return TfRecord(event.SerializeAsString());
}

class TensorboardWatchTest : public testing::Test {
 protected:
  TensorboardWatchTest() {
    WriteText(dir_.File("telemetry"), "");
    Restart();
  }

  // As a restarted worker.
  void Restart() {
    watch_ = std::make_unique<TensorboardWatch>(
        TensorboardWatch::Options{.name = "job 1",
                                  .directory = dir_.File("runs"),
                                  .telemetry = dir_.File("telemetry"),
                                  .state_path = dir_.File("state")});
  }
  void Append(const std::string& path, const std::string& bytes) {
    const std::filesystem::path file = dir_.File("runs/" + path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary | std::ios::app) << bytes;
  }
  std::string Telemetry() const { return ReadText(dir_.File("telemetry")); }
  // Returns the telemetry that a look adds.
  std::string Added(WatchLook look = WatchLook::kRunning) {
    const std::size_t before = Telemetry().size();
    while (watch_->Look(look)) {
    }
    return Telemetry().substr(before);
  }

  TemporaryDir dir_;
  std::unique_ptr<TensorboardWatch> watch_;
};

constexpr char kFile[] = "a/events.out.tfevents.1700000000.host.1.0";

TEST_F(TensorboardWatchTest, ReadsCompleteStepsOfNewFiles) {
  watch_->Begin();
  EXPECT_EQ(Added(), "") << "the program has not created the directory yet";
  Append(kFile, Event(1, "train/loss", 2.5F) + Event(1, "lr", 0.5F) + Event(2, "train/loss", 2));
  EXPECT_EQ(Added(),
            "{\"type\":\"metrics\",\"time_ms\":1700000000250,\"step\":1,\"loss\":2.5,"
            "\"lr\":0.5}\n");
  EXPECT_EQ(Added(), "");
  EXPECT_THAT(Added(WatchLook::kSaved), HasSubstr("\"step\":2"));
  EXPECT_EQ(Added(WatchLook::kSaved), "");
}

TEST_F(TensorboardWatchTest, WaitsForTheRestOfAHalfWrittenRecord) {
  watch_->Begin();
  const std::string second = Event(2, "loss", 2) + Event(3, "loss", 1);
  Append(kFile, Event(1, "loss", 3) + second.substr(0, 10));
  EXPECT_EQ(Added(), "");
  Append(kFile, second.substr(10, 40));
  EXPECT_THAT(Added(), AllOf(HasSubstr("\"step\":1"), Not(HasSubstr("\"step\":2"))));
  Append(kFile, second.substr(50));
  EXPECT_THAT(Added(), HasSubstr("\"step\":2"));
  EXPECT_THAT(Telemetry(), Not(HasSubstr("damaged")));
}

TEST_F(TensorboardWatchTest, IgnoresBytesOfEarlierAttempts) {
  Append(kFile, Event(1, "loss", 3) + Event(2, "loss", 2));
  watch_->Begin();
  // A restarted program writes the last steps again, to a file of its own or to the same file.
  Append("events.out.tfevents.1700000009.host.2.0", Event(2, "loss", 4) + Event(3, "loss", 5));
  Append(kFile, Event(2, "loss", 6) + Event(3, "loss", 7));
  const std::string added = Added(WatchLook::kSaved);
  EXPECT_THAT(added, Not(HasSubstr("\"step\":1,")));
  EXPECT_THAT(added, Not(HasSubstr("\"loss\":2")));
  for (const char* loss : {":4", ":5", ":6", ":7"}) EXPECT_THAT(added, HasSubstr(loss));
}

TEST_F(TensorboardWatchTest, ARestartedWorkerContinues) {
  watch_->Begin();
  Append(kFile, Event(1, "loss", 3) + Event(2, "loss", 2));
  EXPECT_THAT(Added(), HasSubstr("\"step\":1"));
  Restart();
  Append(kFile, Event(3, "loss", 1));
  const std::string added = Added(WatchLook::kFailed);
  EXPECT_THAT(added, Not(HasSubstr("\"step\":1")));
  EXPECT_THAT(added, AllOf(HasSubstr("\"step\":2"), HasSubstr("\"step\":3")));
}

TEST_F(TensorboardWatchTest, ReportsADamagedFileOnceAndReadsTheOthers) {
  watch_->Begin();
  std::string damaged = Event(2, "loss", 2);
  damaged[15] ^= 1;
  Append(kFile, Event(1, "loss", 3) + damaged + Event(3, "loss", 1));
  Append("b/events.out.tfevents.1700000001.host.1.0", Event(7, "loss", 4) + Event(8, "loss", 5));
  const std::string added = Added(WatchLook::kSaved);
  EXPECT_THAT(added, AllOf(HasSubstr("\"step\":1"), HasSubstr("\"step\":8")));
  EXPECT_THAT(added, AllOf(HasSubstr("\"code\":\"tensorboard\""), HasSubstr("is damaged after")));
  EXPECT_THAT(added, Not(HasSubstr("\"step\":3,")));
  EXPECT_EQ(Added(WatchLook::kSaved), "");
}

TEST_F(TensorboardWatchTest, ReadsFilesOfManyMegabytesInParts) {
  watch_->Begin();
  std::string bytes;
  for (int step = 1; bytes.size() < 3 * TensorboardWatch::kMostLookBytes; ++step) {
    bytes += Event(step, std::string(1000, 'x'), 1);
  }
  Append(kFile, bytes);
  Append(kFile, Event(1'000'000, "loss", 1));
  EXPECT_TRUE(watch_->Look(WatchLook::kRunning));
  EXPECT_THAT(Added(WatchLook::kSaved), HasSubstr("\"step\":1000000"));
}

}  // namespace
}  // namespace trainyard::worker
