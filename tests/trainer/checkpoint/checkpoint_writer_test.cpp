#include "trainer/checkpoint/checkpoint_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <future>

#include "tests/fakes/full_disk.h"
#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "tests/trainer/checkpoint/read_tensor.h"
#include "trainer/checkpoint/fence.h"
#include "trainer/checkpoint/retention.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Kind = CheckpointEvent::Kind;

// Events of a writer, which come from its background thread.
class Events {
 public:
  auto Recorder() {
    return [this](const CheckpointEvent& event) {
      const std::lock_guard<std::mutex> lock(mutex_);
      events_.push_back(event);
    };
  }
  CheckpointWriterOptions RecordedBy(CheckpointWriterOptions options) {
    options.on_event = Recorder();
    return options;
  }
  std::vector<CheckpointEvent> Taken() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(events_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<CheckpointEvent> events_;
};

ExitCode CodeOf(const std::function<void()>& call, std::string* message = nullptr) {
  try {
    call();
    return ExitCode::kOk;
  } catch (const TrainerError& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
}

TEST(CheckpointWriterTest, PublishesAndReports) {
  const CheckpointDirectory directory;
  Events events;
  const CheckpointWriterOptions options = events.RecordedBy(directory.Options(7));
  CheckpointWriter writer(options);
  const double blocking = writer.Save(100, {{"samples", 5}}, Weights(1));
  writer.Finish();
  const std::vector<CheckpointEvent> taken = events.Taken();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].kind, Kind::kPublished);
  EXPECT_EQ(taken[0].step, 100);
  EXPECT_EQ(taken[0].attempt, 7);
  EXPECT_EQ(taken[0].path, directory.Step(100));
  EXPECT_EQ(taken[0].bytes, ListCheckpoints(directory.path()).at(0).bytes);
  EXPECT_GT(blocking, 0);
  EXPECT_GE(taken[0].total_seconds, taken[0].blocking_seconds);
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000100"));
}

TEST(CheckpointWriterTest, FilesAreSafetensors) {
  const CheckpointDirectory directory;
  std::vector<TensorChunk> chunks = {WholeTensor("bytes", torch::ones({3}, torch::kUInt8)),
                                     {"half", {4, 2}, {2, 0}, torch::ones({2, 2})},
                                     {"half", {4, 2}, {0, 0}, torch::zeros({2, 2})}};
  directory.SaveWhole(1, chunks);
  std::ifstream in(directory.Step(1) + "/rank_00000.safetensors", std::ios::binary);
  uint64_t length = 0;
  in.read(reinterpret_cast<char*>(&length), 8);
  EXPECT_EQ((length + 8) % 64, 0u);
  std::string header(length, '\0');
  in.read(header.data(), static_cast<std::streamsize>(length));
  const nlohmann::json json = nlohmann::json::parse(header);
  EXPECT_EQ(json["half@2,0"],
            nlohmann::json::parse(R"({"dtype":"F32","shape":[2,2],"data_offsets":[0,16]})"));
  EXPECT_EQ(json["half@0,0"]["data_offsets"], nlohmann::json({16, 32}));
  EXPECT_EQ(json["bytes"],
            nlohmann::json::parse(R"({"dtype":"U8","shape":[3],"data_offsets":[32,35]})"));
}

TEST(CheckpointWriterTest, TensorsMayChangeOnceTheyAreCopied) {
  const CheckpointDirectory directory;
  const std::vector<TensorChunk> weights = Weights(1);
  CheckpointWriterOptions options = directory.Options();
  options.on_phase = [&](SavePhase phase) {
    if (phase != SavePhase::kCopied) return;
    for (const TensorChunk& chunk : weights) chunk.tensor.data().add_(1);
  };
  CheckpointWriter writer(options);
  writer.Save(1, {}, weights);
  writer.Save(2, {}, weights);
  writer.Finish();
  EXPECT_EQ(ValueIn(directory.Step(1)), 1);
  EXPECT_EQ(ValueIn(directory.Step(2)), 2);
}

TEST(CheckpointWriterTest, ASecondSaveWaitsForTheFirst) {
  const CheckpointDirectory directory;
  std::promise<void> gate;
  std::atomic<int> copied = 0;
  CheckpointWriterOptions options = directory.Options();
  options.on_phase = [&, open = gate.get_future().share()](SavePhase phase) {
    if (phase == SavePhase::kCopied) ++copied;
    if (phase == SavePhase::kChunksWritten && copied == 1) open.wait();
  };
  CheckpointWriter writer(options);
  writer.Save(1, {}, Weights(1));
  std::future<double> second =
      std::async(std::launch::async, [&] { return writer.Save(2, {}, Weights(2)); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(30)), std::future_status::timeout);
  EXPECT_EQ(copied, 1);
  gate.set_value();
  second.get();
  writer.Finish();
  EXPECT_EQ(ListCheckpoints(directory.path()).size(), 2u);
}

TEST(CheckpointWriterTest, CountsWhatTheCallerHasWaitedAsBlocking) {
  const CheckpointDirectory directory;
  Events events;
  const CheckpointWriterOptions options = events.RecordedBy(directory.Options());
  CheckpointWriter writer(options);
  writer.Save(1, {}, Weights(1), SaveKind::kPeriodic, 7.5);
  writer.Finish();
  const CheckpointEvent published = events.Taken().at(0);
  EXPECT_GT(published.blocking_seconds, 7.5);
  EXPECT_GE(published.total_seconds, published.blocking_seconds);
}

TEST(CheckpointWriterTest, TellsWhetherTheNextSaveWouldWait) {
  const CheckpointDirectory directory;
  std::promise<void> gate;
  CheckpointWriterOptions options = directory.Options();
  options.on_phase = [open = gate.get_future().share()](SavePhase phase) {
    if (phase == SavePhase::kChunksWritten) open.wait();
  };
  CheckpointWriter writer(options);
  EXPECT_TRUE(writer.WaitUntilIdle(std::chrono::milliseconds(0)));
  writer.Save(1, {}, Weights(1));
  EXPECT_FALSE(writer.WaitUntilIdle(std::chrono::milliseconds(5)));
  gate.set_value();
  EXPECT_TRUE(writer.WaitUntilIdle(std::chrono::seconds(30)));
  writer.Finish();
}

TEST(CheckpointWriterTest, MemoryMadeInAdvanceMayBeTooSmallOrTooLarge) {
  const CheckpointDirectory directory;
  CheckpointWriter writer(directory.Options());
  writer.Reserve({WholeTensor("a", torch::zeros({2})), WholeTensor("b", torch::zeros({100}))});
  const torch::Tensor large = torch::arange(1000), small = torch::arange(3);
  writer.Save(1, {}, {WholeTensor("a", large), WholeTensor("b", small)});
  writer.Finish();
  const CheckpointReader reader(directory.Step(1));
  EXPECT_TRUE(ReadBox(reader, "a", {0}, {1000}).equal(large));
  EXPECT_TRUE(ReadBox(reader, "b", {0}, {3}).equal(small));
}

TEST(CheckpointWriterTest, ReplacesACheckpointOfTheSameStep) {
  const CheckpointDirectory directory;
  directory.SaveWhole(5, Weights(1), 1);
  directory.SaveWhole(5, Weights(2), 2);
  EXPECT_EQ(ValueIn(directory.Step(5)), 2);
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000005"));
}

TEST(CheckpointWriterTest, RetentionSparesWhatTheAttemptResumedFrom) {
  const CheckpointDirectory directory;
  directory.SaveWhole(10, Weights(1), 1);
  Events events;
  CheckpointWriterOptions options = directory.Options(2);
  options.retention = {2, 40};
  options.resumed_from = directory.Step(10) + "/";
  options.on_event = events.Recorder();
  CheckpointWriter writer(options);
  for (int64_t step = 20; step <= 70; step += 10) writer.Save(step, {}, Weights(2));
  writer.Finish();
  EXPECT_THAT(directory.Names(),
              ElementsAre("step_000000010", "step_000000040", "step_000000060", "step_000000070"));
  std::vector<int64_t> deleted;
  for (const CheckpointEvent& event : events.Taken()) {
    if (event.kind != Kind::kDeleted) continue;
    deleted.push_back(event.step);
    EXPECT_EQ(event.attempt, 2);
    EXPECT_EQ(event.path, directory.Step(event.step));
  }
  EXPECT_THAT(deleted, ElementsAre(20, 30, 50));
}

// The new checkpoint is reported before older ones are deleted: the receiver of the report may know
// only checkpoints that are deleted.
TEST(CheckpointWriterTest, TellsOfTheNewBeforeItRetiresTheOld) {
  const CheckpointDirectory directory;
  std::vector<std::vector<std::string>> there;
  CheckpointWriterOptions options = directory.Options();
  options.retention.keep_last = 1;
  options.on_event = [&](const CheckpointEvent& event) {
    if (event.kind == Kind::kPublished) there.push_back(directory.Names());
  };
  CheckpointWriter writer(options);
  writer.Save(10, {}, Weights(1));
  writer.Save(20, {}, Weights(2));
  writer.Finish();
  EXPECT_THAT(there, ElementsAre(ElementsAre("step_000000010"),
                                 ElementsAre("step_000000010", "step_000000020")));
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000020"));
}

// A later job begins at step 1 again in the directory of a job that has ended: neither deletes the
// other's checkpoints.
TEST(CheckpointWriterTest, RetentionLeavesWhatAnotherJobHasPublished) {
  const CheckpointDirectory directory;
  directory.SaveWhole(100, Weights(1), AttemptKey{7, 5});
  directory.SaveWhole(200, Weights(1), AttemptKey{7, 5});
  CheckpointWriterOptions options = directory.Options({8, 1});
  options.retention.keep_last = 1;
  CheckpointWriter writer(options);
  writer.Save(10, {}, Weights(2));
  writer.Save(20, {}, Weights(2));
  writer.Finish();
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000020", "step_000000100", "step_000000200"));
  EXPECT_EQ(LatestCheckpoint(directory.path())->path, directory.Step(20));
}

TEST(CheckpointWriterTest, AnAttemptThatIsOverCannotPublishOrDelete) {
  const CheckpointDirectory directory;
  directory.SaveWhole(10, Weights(1), 1);
  CheckpointWriterOptions options = directory.Options(1);
  options.retention.keep_last = 1;
  options.on_phase = [&](SavePhase phase) {
    if (phase == SavePhase::kManifestWritten) RaiseFence(directory.path(), {{0, 2}});
  };
  CheckpointWriter writer(options);
  writer.Save(20, {}, Weights(2));
  EXPECT_EQ(CodeOf([&] { writer.Save(30, {}, Weights(3)); }), ExitCode::kFenced);
  EXPECT_EQ(CodeOf([&] { writer.Finish(); }), ExitCode::kFenced);
  const CheckpointWriter next(directory.Options(2));
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000010"));
  EXPECT_EQ(CodeOf([&] { CheckpointWriter(directory.Options(1)); }), ExitCode::kFenced);
}

// The next attempt begins on another node, which the lock does not reach, between the check of the
// fence and the publication.
TEST(CheckpointWriterTest, AnAttemptThatEndsWhileItPublishesIsFencedWithoutALock) {
  const CheckpointDirectory directory;
  CheckpointWriterOptions options = directory.Options(1);
  options.on_phase = [&](SavePhase phase) {
    const LockFile lock_nobody = [](int, int) { return 0; };
    if (phase == SavePhase::kFenceHeld) RaiseFence(directory.path(), {{0, 2}}, lock_nobody);
  };
  CheckpointWriter writer(options);
  writer.Save(10, {}, Weights(1));
  EXPECT_EQ(CodeOf([&] { writer.Finish(); }), ExitCode::kFenced);
  EXPECT_FALSE(LatestCheckpoint(directory.path()));
  CheckpointWriter next(directory.Options(2));
  EXPECT_THAT(directory.Names(), IsEmpty());
}

TEST(CheckpointWriterTest, RefusesChunksThatDoNotFitTogether) {
  const CheckpointDirectory directory;
  CheckpointWriter outside(directory.Options());
  EXPECT_EQ(CodeOf([&] {
              outside.Save(1, {}, {{"w", {4}, {3}, torch::ones({2})}});
            }),
            ExitCode::kInternal);
  CheckpointWriter halves(directory.Options());
  TensorChunk chunk = WholeTensor("w", torch::ones({2}, torch::kBFloat16));
  chunk.low_bits = torch::ones({3}, torch::kInt16);
  EXPECT_EQ(CodeOf([&] { halves.Save(1, {}, {chunk}); }), ExitCode::kInternal);
  CheckpointWriter hole(directory.Options());
  hole.Save(1, {}, {{"w", {4}, {0}, torch::ones({2})}});
  std::string message;
  EXPECT_EQ(CodeOf([&] { hole.Finish(); }, &message), ExitCode::kInternal);
  EXPECT_THAT(message, HasSubstr("tensor w"));
  EXPECT_THAT(directory.Names(), IsEmpty());
}

TEST(CheckpointWriterTest, AFullDiskCostsOneCheckpointAndNotTheRun) {
  const CheckpointDirectory directory;
  Events events;
  const CheckpointWriterOptions options = events.RecordedBy(directory.Options());
  CheckpointWriter writer(options);
  {
    const FullDisk full(600);
    EXPECT_EQ(CodeOf([&] { writer.Save(1, {}, Weights(1)); }), ExitCode::kOk);
    EXPECT_EQ(CodeOf([&] { writer.Finish(); }), ExitCode::kOk);
  }
  const std::vector<CheckpointEvent> taken = events.Taken();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].kind, Kind::kFailed);
  EXPECT_EQ(taken[0].step, 1);
  EXPECT_THAT(taken[0].message, HasSubstr("cannot write"));
  EXPECT_THAT(directory.Names(), IsEmpty());
  writer.Save(2, {}, Weights(2));
  writer.Finish();
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000002"));
}

// Rank 1 cannot write: rank 0 learns it at once and abandons this checkpoint.
TEST(CheckpointWriterTest, ARankThatFailsFailsTheSave) {
  const CheckpointDirectory directory;
  Events events;
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

// Outside of a job every run is attempt 1. The list that rank 1 of the run before has left must not
// pass for one of this run: its file is being written.
TEST(CheckpointWriterTest, TakesNoPartOfAnEarlierRunForOneOfThisRun) {
  const CheckpointDirectory directory;
  CheckpointWriterOptions options = directory.Options();
  options.world_size = 2;
  options.rank = 1;
  CheckpointWriter(options).Save(1, {}, {WholeTensor("b", torch::full({3}, 1))});  // and then dies
  options.rank = 0;
  options.peer_timeout_seconds = 0.05;
  Events events;
  options.on_event = events.Recorder();
  CheckpointWriter again(options);
  again.Save(1, {}, {WholeTensor("w", torch::full({64, 3}, 2))});
  again.Finish();
  EXPECT_THAT(events.Taken().at(0).message, HasSubstr("rank 1 did not write its part"));
  EXPECT_TRUE(ListCheckpoints(directory.path()).empty());
}

// A peer's list that cannot be believed or read costs one save: the checkpoint that the attempt has
// started from is not to blame, and the input is not missing.
TEST(CheckpointWriterTest, AListOfNoUseCostsOneCheckpoint) {
  const CheckpointDirectory directory;
  Events events;
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
  EXPECT_THAT(taken[1].message, HasSubstr("the list of what rank 1 has written is unusable"));
}

TEST(CheckpointWriterTest, DoesNotWaitForALostRankForEver) {
  const CheckpointDirectory directory;
  Events events;
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
  abandoned.Save(2, {}, Weights(1));  // its destructor must not wait ten minutes
}

// Two ranks that save together, each with a tensor of its own, as one process would end them after
// an error: by their destructors. The thread of one rank is held up at one phase.
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
  Events events_;
  std::promise<void> gate_;
  std::array<std::unique_ptr<CheckpointWriter>, 2> writers_;
};

// A loss that is not finite ends all ranks while the last good checkpoint is being written.
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

// The controller ends a gang soon after its first rank has left with an error.
TEST_F(LeavingTest, OtherRanksWaitForRankZeroToPublish) {
  Save(0, SavePhase::kManifestWritten);
  writers_[1]->Finish();
  const std::future<void> second = Leave(1);
  EXPECT_FALSE(IsOver(second));
  gate_.set_value();
  second.wait();
  EXPECT_TRUE(LatestCheckpoint(directory_.path()));
}

// A rank that is killed releases its lock: here a child process, in the middle of its part.
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
  std::filesystem::rename(lost, directory_.path() + "/kept");  // rank 0 would remove it
  writers_[0] = std::make_unique<CheckpointWriter>(options_);
  std::filesystem::rename(directory_.path() + "/kept", lost);
  writers_[0]->Save(1, {}, Weights(1));
  writers_[0].reset();
  const std::vector<CheckpointEvent> taken = events_.Taken();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_THAT(taken[0].message, HasSubstr("the trainer is ending, and rank 1 has disconnected"));
  EXPECT_THAT(directory_.Names(), IsEmpty());
}

// One file of a save is a link to /dev/full, so that writes to it fail as on a full disk.
class NoSpaceTest : public testing::TestWithParam<const char*> {};

TEST_P(NoSpaceTest, CostsOneCheckpointAndNotTheRun) {
  const CheckpointDirectory directory;
  Events events;
  const CheckpointWriterOptions options = events.RecordedBy(directory.Options());
  CheckpointWriter writer(options);
  const std::string building = directory.path() + "/" + TemporaryName(1, options.writer, 1);
  std::filesystem::create_directories(building);
  std::filesystem::create_symlink("/dev/full", building + "/" + GetParam());
  EXPECT_EQ(CodeOf([&] { writer.Save(1, {}, Weights(1)); }), ExitCode::kOk);
  EXPECT_EQ(CodeOf([&] { writer.Save(2, {}, Weights(2)); }), ExitCode::kOk);
  EXPECT_EQ(CodeOf([&] { writer.Finish(); }), ExitCode::kOk);
  const std::vector<CheckpointEvent> taken = events.Taken();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_EQ(taken[0].kind, Kind::kFailed);
  EXPECT_THAT(taken[0].message, HasSubstr("No space left on device; free disk space"));
  EXPECT_EQ(taken[1].kind, Kind::kPublished);
  EXPECT_THAT(directory.Names(), ElementsAre("step_000000002"));
}

INSTANTIATE_TEST_SUITE_P(EveryFile, NoSpaceTest,
                         testing::Values("rank_00000.safetensors", "rank_00000.json.tmp",
                                         "manifest.json.tmp"));

}  // namespace
}  // namespace trainyard::trainer
