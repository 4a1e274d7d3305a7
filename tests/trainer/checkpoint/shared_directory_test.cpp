// Tests saves of a gang in which the checkpoint path of one rank leads to a different directory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "trainer/checkpoint/fence.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = CheckpointEvent::Kind;

constexpr WriterKey kWriter{{9, 3}};

class SharedDirectoryTest : public testing::Test {
 protected:
  SharedDirectoryTest() {
    std::filesystem::create_directories(Path());
    RaiseFence(Path(), kWriter);
    claimed_ = ClaimedDirectoryAt(Path(), SignClaim(Path(), kWriter));
  }

  std::string Path() const { return top_.path() + "/shared"; }
  // Replaces the directory at the path with an empty one, as if its file system had been unmounted.
  void Unmount() const {
    std::filesystem::rename(Path(), Path() + ".away");
    std::filesystem::create_directory(Path());
  }
  void MountAgain() const {
    std::filesystem::remove_all(Path());
    std::filesystem::rename(Path() + ".away", Path());
  }
  CheckpointWriterOptions Options() {
    CheckpointWriterOptions options = top_.Options(kWriter.attempt);
    options.directory = Path();
    options.claim = claimed_;
    options.on_event = [this](const CheckpointEvent& event) {
      const std::lock_guard<std::mutex> lock(mutex_);
      events_.push_back(event);
    };
    return options;
  }
  std::vector<CheckpointEvent> Events() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return events_;
  }
  bool AwaitEvent() {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (Events().empty() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return !Events().empty();
  }
  // Returns the names in the directory at the path, without the fence files.
  std::vector<std::string> Written() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(Path())) {
      const std::string name = entry.path().filename();
      if (!name.starts_with("ATTEMPT")) names.push_back(name);
    }
    return names;
  }

  const CheckpointDirectory top_;
  ClaimedDirectory claimed_;

 private:
  std::mutex mutex_;
  std::vector<CheckpointEvent> events_;
};

TEST_F(SharedDirectoryTest, TheClaimTellsDirectoriesApart) {
  EXPECT_EQ(ClaimDifference(Path(), kWriter, claimed_.nonce), "");
  EXPECT_EQ(ClaimDifference(Path(), {{9, 4}}, claimed_.nonce), "there is no ATTEMPT.9.4");
  EXPECT_EQ(ClaimDifference(Path(), kWriter, std::string(32, '1')),
            "another gang has created ATTEMPT.9.3");
  EXPECT_NE(SignClaim(Path(), kWriter), claimed_.nonce) << "a copy is another one";
  Unmount();
  EXPECT_EQ(ClaimDifference(Path(), kWriter, claimed_.nonce), "there is no ATTEMPT.9.3");
}

TEST_F(SharedDirectoryTest, ADirectoryWhoseFilesWereRemovedIsStillTheSame) {
  std::filesystem::remove(Path() + "/ATTEMPT.9.3");
  EXPECT_NO_THROW(CheckStillClaimed(Path(), kWriter, claimed_));
}

TEST_F(SharedDirectoryTest, ANewerAttemptFencesBeforeAnythingElse) {
  RaiseFence(Path(), {{9, 4}});
  try {
    CheckStillClaimed(Path(), kWriter, claimed_);
    FAIL() << "not fenced";
  } catch (const TrainerError& error) {
    EXPECT_EQ(error.code(), ExitCode::kFenced) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("attempt 3 is over, because attempt 4 has begun"));
  }
}

TEST_F(SharedDirectoryTest, NothingIsWrittenIntoAnotherDirectory) {
  CheckpointWriterOptions options = Options();
  options.rank = 1;
  options.world_size = 2;
  CheckpointWriter writer(options);
  Unmount();
  writer.Save(100, {}, Weights(1));
  writer.Finish();
  EXPECT_TRUE(writer.HasLostSave());
  ASSERT_EQ(Events().size(), 1u);
  EXPECT_EQ(Events()[0].kind, Kind::kFailed);
  EXPECT_TRUE(Events()[0].is_unshared);
  EXPECT_THAT(
      Events()[0].message,
      AllOf(HasSubstr(
                "the checkpoint directory that existed when this attempt started is no longer at"),
            HasSubstr("Mount the storage of the directory again on this node")));
  EXPECT_THAT(Written(), IsEmpty());
}

TEST_F(SharedDirectoryTest, TheLastSaveWaitsForTheDirectory) {
  CheckpointWriter writer(Options());
  Unmount();
  writer.Save(100, {}, Weights(1), SaveKind::kFinal);
  ASSERT_TRUE(AwaitEvent());
  EXPECT_EQ(Events()[0].kind, Kind::kBlocked);
  EXPECT_TRUE(Events()[0].is_unshared);
  EXPECT_THAT(BlockedSaveText(Events()[0]), testing::Not(HasSubstr("free disk space")));
  EXPECT_THAT(Written(), IsEmpty());
  MountAgain();
  writer.Finish();
  EXPECT_THAT(Written(), ElementsAre("step_000000100"));
}

TEST_F(SharedDirectoryTest, ARankWhoseFilesNeverAppearCostsOneSaveAndIsNamed) {
  CheckpointWriterOptions options = Options();
  options.world_size = 3;
  options.first_sign_seconds = 1;
  CheckpointWriter writer(options);
  const std::string building = Path() + "/" + "step_000000100.tmp-j9-e3-1";
  writer.Save(100, {}, Weights(1));
  // Once rank 0 has created the temporary directory, the test writes a file for rank 1 there. Rank
  // 2 creates no file.
  while (!std::filesystem::exists(building)) std::this_thread::yield();
  std::ofstream(building + "/rank_00001.safetensors") << "x";
  ASSERT_TRUE(AwaitEvent());
  writer.Finish();
  EXPECT_EQ(Events()[0].kind, Kind::kFailed);
  EXPECT_TRUE(Events()[0].is_unshared);
  EXPECT_THAT(Events()[0].message, HasSubstr("ranks 2 have created no file in " + building));
  EXPECT_EQ(writer.AwaitedRanks(), "2");
}

}  // namespace
}  // namespace trainyard::trainer
