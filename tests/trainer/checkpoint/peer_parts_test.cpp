#include "trainer/checkpoint/peer_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <future>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "tests/trainer/checkpoint/recorded_events.h"
#include "trainer/checkpoint/checkpoint_writer.h"

namespace trainyard::trainer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Kind = CheckpointEvent::Kind;

// Rank 1 cannot write. Rank 0 must learn this at once and abandon the checkpoint.
TEST(PeerPartsTest, ARankThatFailsFailsTheSave) {
  const CheckpointDirectory directory;
  RecordedEvents events;
  CheckpointWriterOptions options = directory.Options();
  options.world_size = 2;
  options.on_event = events.Recorder();
  CheckpointWriter first(options);
  first.Save(1, {}, Weights(1));
  options.rank = 1;
  std::filesystem::create_directories(directory.Step(1) + ".tmp-e1-1/rank_00001.safetensors");
  CheckpointWriter second(options);
  second.Save(1, {}, {});
  second.Finish();
  first.Finish();
  const std::vector<CheckpointEvent> taken = events.Taken();
  ASSERT_EQ(taken.size(), 2u);
  for (const CheckpointEvent& event : taken) {
    EXPECT_EQ(event.kind, Kind::kFailed);
    EXPECT_THAT(event.message, HasSubstr("cannot create"));
  }
  EXPECT_THAT(directory.Names(), IsEmpty());
}

// Outside of a job, every run is attempt 1, so the files of two runs have the same names. Rank 1 of
// the previous run left a list. Rank 0 must not use it while rank 1 of the present run is still
// writing its own list.
TEST(PeerPartsTest, TakesNoPartOfAnEarlierRunForOneOfThisRun) {
  const CheckpointDirectory directory;
  CheckpointWriterOptions options = directory.Options();
  options.world_size = 2;
  options.rank = 1;
  CheckpointWriter(options).Save(1, {}, {WholeTensor("b", torch::full({3}, 1))});  // Then it dies.
  options.rank = 0;
  options.peer_timeout_seconds = 0.05;
  RecordedEvents events;
  options.on_event = events.Recorder();
  CheckpointWriter again(options);
  again.Save(1, {}, {WholeTensor("w", torch::full({64, 3}, 2))});
  again.Finish();
  EXPECT_THAT(events.Taken().at(0).message, HasSubstr("rank 1 did not write its part"));
  EXPECT_TRUE(ListCheckpoints(directory.path()).empty());
}

// If a peer's list is invalid or unreadable, only that save is abandoned. The error code must not
// be that of a damaged checkpoint or of a missing input, because the checkpoint from which the
// attempt started is not the cause.
TEST(PeerPartsTest, AListOfNoUseCostsOneCheckpoint) {
  const CheckpointDirectory directory;
  RecordedEvents events;
  CheckpointWriterOptions options = directory.Options();
  options.world_size = 2;
  options.on_event = events.Recorder();
  bool readable = false;
  std::optional<NoDescriptors> none;
  options.on_phase = [&](SavePhase phase) {
    if (phase == SavePhase::kEntriesWritten && !readable) none.emplace();
  };
  CheckpointWriter writer(options);
  writer.Save(1, {}, Weights(1));
  EXPECT_TRUE(writer.WaitUntilIdle(std::chrono::seconds(30)));
  none.reset();
  readable = true;
  std::filesystem::create_directories(directory.Step(2) + ".tmp-e1-2");
  std::ofstream(directory.Step(2) + ".tmp-e1-2/rank_00001.json") << "{\"files\": 7";
  EXPECT_EQ(CodeOf([&] { writer.Save(2, {}, Weights(1)); }), ExitCode::kOk);
  EXPECT_EQ(CodeOf([&] { writer.Finish(); }), ExitCode::kOk);
  const std::vector<CheckpointEvent> taken = events.Taken();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_THAT(taken[0].message, HasSubstr("rank_00000.json: Too many open files"));
  EXPECT_THAT(taken[1].message, HasSubstr("the file list of rank 1 is invalid"));
}

TEST(PeerPartsTest, DoesNotWaitForALostRankForEver) {
  const CheckpointDirectory directory;
  RecordedEvents events;
  CheckpointWriterOptions options = directory.Options();
  options.world_size = 2;
  options.peer_timeout_seconds = 0.05;
  options.on_event = events.Recorder();
  CheckpointWriter writer(options);
  writer.Save(1, {}, Weights(1));
  writer.Finish();
  EXPECT_THAT(events.Taken().at(0).message, HasSubstr("rank 1 did not write its part"));
  options.peer_timeout_seconds = 600;
  CheckpointWriter abandoned(options);
  abandoned.Save(2, {}, Weights(1));  // The destructor must not wait ten minutes.
}

// Two ranks save together, each with its own tensor. The test destroys the writers before the save
// is complete, as happens in a process that ends after an error. One rank's writer thread is
// blocked at a given phase.
class LeavingTest : public testing::Test {
 protected:
  LeavingTest() {
    options_.world_size = 2;
    options_.on_event = events_.Recorder();
  }

  void Save(int slow_rank, SavePhase slow_phase) {
    for (int rank : {0, 1}) {
      CheckpointWriterOptions options = options_;
      options.rank = rank;
      if (rank == slow_rank) {
        options.on_phase = [this, slow_phase](SavePhase phase) {
          if (phase == slow_phase) gate_.get_future().wait();
        };
      }
      writers_[rank] = std::make_unique<CheckpointWriter>(options);
    }
    writers_[0]->Save(1, {}, {WholeTensor("w", torch::full({64, 3}, 1))});
    writers_[1]->Save(1, {}, {WholeTensor("b", torch::full({3}, 1))});
  }

  std::future<void> Leave(int rank) {
    return std::async(std::launch::async, [this, rank] { writers_[rank].reset(); });
  }

  static bool IsOver(const std::future<void>& leaving) {
    return leaving.wait_for(std::chrono::seconds(1)) == std::future_status::ready;
  }

  const CheckpointDirectory directory_;
  CheckpointWriterOptions options_ = directory_.Options();
  RecordedEvents events_;
  std::promise<void> gate_;
  std::array<std::unique_ptr<CheckpointWriter>, 2> writers_;
};

// All ranks end because of a non-finite loss while the last good checkpoint is still being written.
// The checkpoint must not be lost.
TEST_F(LeavingTest, RankZeroWaitsForARankThatIsStillWriting) {
  Save(1, SavePhase::kCopied);
  const std::future<void> first = Leave(0);
  EXPECT_FALSE(IsOver(first));
  const std::future<void> second = Leave(1);
  gate_.set_value();
  first.wait();
  EXPECT_EQ(LatestCheckpoint(directory_.path())->path, directory_.Step(1));
  EXPECT_THAT(VerifyCheckpoint(directory_.Step(1)), IsEmpty());
}

// The controller stops the gang soon after the first rank has exited with an error. Therefore rank
// 1 must not exit before rank 0 has published.
TEST_F(LeavingTest, OtherRanksWaitForRankZeroToPublish) {
  Save(0, SavePhase::kManifestWritten);
  writers_[1]->Finish();
  const std::future<void> second = Leave(1);
  EXPECT_FALSE(IsOver(second));
  gate_.set_value();
  second.wait();
  EXPECT_TRUE(LatestCheckpoint(directory_.path()));
}

// The kernel releases the lock of a killed rank, so rank 0 can detect that the rank is gone. Here
// the rank is a child process that is killed while it writes its part.
TEST_F(LeavingTest, NoRankWaitsForOneThatIsGone) {
  const pid_t child = fork();
  if (child == 0) {
    options_.rank = 1;
    options_.on_phase = [](SavePhase phase) {
      if (phase == SavePhase::kChunksWritten) _exit(42);
    };
    CheckpointWriter(options_).Save(1, {}, {WholeTensor("b", torch::full({3}, 1))});
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(WEXITSTATUS(status), 42);
  const std::string lost = directory_.Step(1) + ".tmp-e1-1";
  ASSERT_TRUE(std::filesystem::exists(lost + "/rank_00001.safetensors"));
  std::filesystem::rename(lost, directory_.path() + "/kept");  // Rank 0 would remove the directory.
  writers_[0] = std::make_unique<CheckpointWriter>(options_);
  std::filesystem::rename(directory_.path() + "/kept", lost);
  writers_[0]->Save(1, {}, Weights(1));
  writers_[0].reset();
  const std::vector<CheckpointEvent> taken = events_.Taken();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_THAT(taken[0].message, HasSubstr("the trainer is ending, and rank 1 has disconnected"));
  EXPECT_THAT(directory_.Names(), IsEmpty());
}

}  // namespace
}  // namespace trainyard::trainer
