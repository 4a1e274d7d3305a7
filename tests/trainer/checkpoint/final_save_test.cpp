// Tests the last save of a run. On a full disk, this save must wait for free space, because the
// steps since the preceding checkpoint would otherwise be lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <mutex>

#include "tests/fakes/full_disk.h"
#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "trainer/checkpoint/retention.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = CheckpointEvent::Kind;

// Records the SaveEvents that a writer sends from its background thread. Lets a test wait for the
// first kBlocked.
class SaveEvents {
 public:
  CheckpointWriterOptions RecordedBy(CheckpointWriterOptions options) {
    options.on_event = [this](const CheckpointEvent& event) {
      const std::lock_guard<std::mutex> lock(mutex_);
      events_.push_back(event);
      if (event.kind == Kind::kBlocked) blocked_.set_value();
    };
    return options;
  }
  bool AwaitBlocked() {
    return blocked_.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready;
  }
  std::vector<CheckpointEvent> Taken() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(events_, {});
  }

 private:
  std::mutex mutex_;
  std::promise<void> blocked_;
  std::vector<CheckpointEvent> events_;
};

TEST(FinalSaveTest, FailsOnceItHasWaitedForSpace) {
  const CheckpointDirectory directory;
  CheckpointWriterOptions options = directory.Options();
  options.final_wait_seconds = 0.3;
  CheckpointWriter writer(options);
  std::string message;
  {
    const FullDisk full(600);
    writer.Save(1, {}, Weights(1), SaveKind::kFinal);
    try {
      writer.Finish();
    } catch (const TrainerError& error) {
      EXPECT_EQ(error.code(), ExitCode::kCannotWrite);
      message = error.what();
    }
  }
  EXPECT_THAT(message, HasSubstr(directory.path()));
}

// One file of the save is a link to /dev/full, so that writes to the file fail as on a full disk.
class BlockedSaveTest : public testing::TestWithParam<const char*> {};

TEST_P(BlockedSaveTest, IsToldOnceAndGoesOnWithSpace) {
  const CheckpointDirectory directory;
  SaveEvents events;
  const CheckpointWriterOptions options = events.RecordedBy(directory.Options());
  CheckpointWriter writer(options);
  const std::string building = directory.path() + "/" + TemporaryName(7, options.writer, 1);
  std::filesystem::create_directories(building);
  const std::string full = building + "/" + GetParam();
  std::filesystem::create_symlink("/dev/full", full);
  writer.Save(7, {}, Weights(7), SaveKind::kFinal);
  ASSERT_TRUE(events.AwaitBlocked());
  EXPECT_THAT(directory.Names(), ElementsAre(testing::StartsWith("step_000000007.tmp")));
  std::filesystem::remove(full);
  writer.Finish();
  const std::vector<CheckpointEvent> taken = events.Taken();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_THAT(taken[0].message, HasSubstr("No space left on device"));
  EXPECT_EQ(taken[1].kind, Kind::kPublished);
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000007"));
}

INSTANTIATE_TEST_SUITE_P(EveryFile, BlockedSaveTest,
                         testing::Values("rank_00000.safetensors", "rank_00000.json.tmp",
                                         "manifest.json.tmp"));

// A rank that lacks disk space retries only its own writes. The other ranks do not write again.
TEST(FinalSaveTest, RankZeroWaitsForARankThatWaitsForSpace) {
  const CheckpointDirectory directory;
  CheckpointWriterOptions options = directory.Options();
  options.world_size = 2;
  CheckpointWriter first(options);
  first.Save(7, {}, Weights(7), SaveKind::kFinal);
  SaveEvents events;
  options = events.RecordedBy(options);
  options.rank = 1;
  const std::string in_the_way =
      directory.path() + "/" + TemporaryName(7, options.writer, 1) + "/rank_00001.safetensors";
  std::filesystem::create_directories(in_the_way);
  CheckpointWriter second(options);
  second.Save(7, {}, {}, SaveKind::kFinal);
  ASSERT_TRUE(events.AwaitBlocked());
  std::filesystem::remove(in_the_way);
  second.Finish();
  first.Finish();
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000007"));
}

TEST(FinalSaveTest, APeriodicSaveThatWasLostIsKnownUntilTheNextOne) {
  const CheckpointDirectory directory;
  CheckpointWriter writer(directory.Options());
  {
    const FullDisk full(600);
    writer.Save(1, {}, Weights(1));
    writer.Finish();
  }
  EXPECT_TRUE(writer.HasLostSave());
  writer.Save(1, {}, Weights(1), SaveKind::kFinal);
  writer.Finish();
  EXPECT_FALSE(writer.HasLostSave());
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000001"));
}

}  // namespace
}  // namespace trainyard::trainer
