// Tests real ranks under real shims. The test acts as the controller.
#include "worker/attempt_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <filesystem>
#include <optional>

#include "absl/strings/str_cat.h"
#include "tests/fakes/no_threads.h"
#include "tests/worker/core/action_text.h"
#include "tests/worker/spool/temporary_dir.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class AttemptKeeperTest : public testing::Test {
 protected:
  AttemptKeeperTest() : data_dir_(*DataDir::Open(dir_.File("data"))) {
    EXPECT_EQ(data_dir_->MakeIdentity(), absl::OkStatus());
    Reopen();
  }

  // Running ranks must not outlive the test.
  ~AttemptKeeperTest() override {
    WriteText(dir_.File("go"), "");
    keeper_->kernel().StopAll(0, keeper_->Now());
    EXPECT_TRUE(RunUntil([&] { return !keeper_->kernel().attempts().AnyAlive(); }));
  }

  // Restarts the keeper as if the worker had been killed with SIGKILL. The ranks keep running.
  void Reopen() {
    Close();
    loop_.emplace();
    auto keeper = AttemptKeeper::Open(
        *loop_, *data_dir_, clock_,
        {.worker_program = SHIM_PROGRAM, .trainer_program = "/bin/true", .inventory = {}},
        {.on_stream_added = [this](auto source) { sources_.push_back(std::move(source)); },
         .on_attempt_removed = [this](const AttemptKey& key) { removed_.push_back(key); },
         .on_fact_recorded = [this](const v1::Fact&) { ++recorded_; }});
    ASSERT_TRUE(keeper.ok()) << keeper.status();
    keeper_ = *std::move(keeper);
  }

  void Close() {
    sources_.clear();
    keeper_ = nullptr;
  }

  bool RunUntil(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      loop_->restart();
      loop_->run_one_for(std::chrono::milliseconds(20));
      keeper_->kernel().Tick(keeper_->Now());
    }
    return true;
  }

  v1::StartAttempt Shell(int64_t attempt_number, const std::string& script, int ranks = 1) {
    v1::StartAttempt command = StartOf(1, attempt_number, ranks);
    for (const char* word : {"/bin/sh", "-c"}) command.mutable_spec()->add_command(word);
    command.mutable_spec()->add_command(script);
    return command;
  }

  // Returns a script for a rank. The script prints "up" and then waits for the file "go".
  std::string WaitForGo() {
    return "echo up; until [ -e " + dir_.File("go") + " ]; do sleep 0.02; done";
  }

  std::vector<std::string> Facts() {
    Actions actions;
    for (const v1::Fact& fact : keeper_->facts().facts()) actions.push_back(RecordFact{fact});
    return Text(actions);
  }

  bool AwaitFacts(std::size_t count) {
    return RunUntil([&] { return keeper_->facts().facts().size() >= count; });
  }

  const v1::RankExited& ExitFact(std::size_t index) {
    return keeper_->facts().facts().at(index).rank_exited();
  }

  TemporaryDir dir_;
  SystemClock clock_;
  std::unique_ptr<DataDir> data_dir_;
  std::optional<boost::asio::io_context> loop_;
  std::vector<std::unique_ptr<StreamSource>> sources_;
  std::vector<AttemptKey> removed_;
  int recorded_ = 0;
  std::unique_ptr<AttemptKeeper> keeper_;
};

TEST_F(AttemptKeeperTest, RecordsTheLifeOfARankAndWhereItsOutputEnds) {
  keeper_->kernel().Start(Shell(1, "echo oops; exit 3"), keeper_->Now());
  ASSERT_TRUE(AwaitFacts(3));
  EXPECT_THAT(Facts(), ElementsAre("started 1/1/0", "exited 1/1/0 3", "cleared 1/1"));
  EXPECT_EQ(recorded_, 3);
  EXPECT_GT(keeper_->facts().facts()[0].rank_started().pid(), 0);
  EXPECT_THAT(ExitFact(1).log_tail(), HasSubstr("oops"));
  EXPECT_GT(ExitFact(1).time_ms(), 0);
  const auto reports = keeper_->kernel().Reports();
  ASSERT_THAT(reports, SizeIs(1));
  EXPECT_TRUE(reports[0].cleared());
  ASSERT_THAT(reports[0].stream_ends(), SizeIs(2));
  EXPECT_EQ(reports[0].stream_ends(1).end_offset(), 5);
  EXPECT_THAT(sources_, SizeIs(2));
}

// A launcher has the files and the streams of one rank, and the state of all its ranks.
TEST_F(AttemptKeeperTest, ALauncherReportsItsStateForAllRanksAndItsErrorFile) {
  v1::StartAttempt command = LauncherOf(1, 1, 2);
  command.mutable_spec()->set_torchrun_env(true);
  for (const char* word : {"/bin/sh", "-c"}) command.mutable_spec()->add_command(word);
  command.mutable_spec()->add_command(
      R"(echo '{"message": {"message": "ValueError: no shard 7"}}' > $TORCHELASTIC_ERROR_FILE
         echo '{"type": "phase", "phase": "train", "step": 5}' >> $TRAINYARD_TELEMETRY
         echo ranks $PET_NPROC_PER_NODE; exit 3)");
  keeper_->kernel().Start(command, keeper_->Now());
  ASSERT_TRUE(AwaitFacts(3));
  EXPECT_THAT(Facts(), ElementsAre("started 1/1/0", "exited 1/1/0 3", "cleared 1/1"));
  EXPECT_THAT(ExitFact(1).further_ranks(), ElementsAre(1));
  EXPECT_THAT(ExitFact(1).log_tail(), HasSubstr("ranks 2"));
  EXPECT_THAT(ExitFact(1).log_tail(), HasSubstr("ValueError: no shard 7"));
  const auto reports = keeper_->kernel().Reports();
  ASSERT_THAT(reports, SizeIs(1));
  ASSERT_THAT(reports[0].ranks(), SizeIs(2));
  EXPECT_EQ(reports[0].ranks(1).rank(), 1);
  EXPECT_EQ(reports[0].ranks(1).step(), 5);
  for (const v1::StreamEnd& end : reports[0].stream_ends()) EXPECT_EQ(end.stream().rank(), 0);
}

TEST_F(AttemptKeeperTest, SuccessNeedsNoTailOfOutput) {
  keeper_->kernel().Start(Shell(1, "echo fine"), keeper_->Now());
  ASSERT_TRUE(AwaitFacts(3));
  EXPECT_EQ(ExitFact(1).exit_code(), 0);
  EXPECT_EQ(ExitFact(1).log_tail(), "");
}

TEST_F(AttemptKeeperTest, RankGetsItsSpecAndItsCheckpointDirectory) {
  v1::StartAttempt command =
      Shell(1, "test -d $TRAINYARD_CHECKPOINT_DIR && grep -q '\"name\": \"tiny\"' $TRAINYARD_SPEC");
  command.mutable_spec()->set_name("tiny");
  command.set_checkpoint_dir(dir_.File("ck/deep"));
  keeper_->kernel().Start(command, keeper_->Now());
  ASSERT_TRUE(AwaitFacts(3));
  EXPECT_EQ(ExitFact(1).exit_code(), 0);
}

// Returns a command whose checkpoints are watched.
v1::StartAttempt Watched(v1::StartAttempt command, const std::string& directory) {
  command.set_node_count(1);
  command.set_checkpoint_dir(directory);
  command.mutable_spec()->mutable_checkpoint()->set_watch("ckpt_*.pt");
  command.mutable_spec()->mutable_checkpoint()->set_keep_last(100'000);
  return command;
}

TEST_F(AttemptKeeperTest, CheckpointSavedOnStopIsRecordedBeforeTheRankIsGone) {
  const std::string save = "trap 'echo weights > ckpt_7.pt; exit 143' TERM; ";
  v1::StartAttempt command =
      Watched(Shell(1, save + ": > up; while :; do sleep 0.02; done"), dir_.File("ck"));
  command.mutable_spec()->set_working_directory(dir_.File("ck"));
  command.mutable_spec()->mutable_stop_grace()->set_seconds(20);
  std::filesystem::create_directory(dir_.File("ck"));
  WriteText(dir_.File("ck/ckpt_1.pt"), "of an earlier attempt");
  keeper_->kernel().Start(command, keeper_->Now());
  ASSERT_TRUE(RunUntil([&] { return std::filesystem::exists(dir_.File("ck/up")); }));
  const std::string telemetry = dir_.File("data/runs/1/1/rank0/telemetry.jsonl");
  keeper_->kernel().StopAll(20'000, keeper_->Now());
  ASSERT_TRUE(AwaitFacts(3));
  EXPECT_THAT(Facts(), ElementsAre("started 1/1/0", "exited 1/1/0 143", "cleared 1/1"));
  const std::string text = ReadText(telemetry);
  EXPECT_THAT(text, HasSubstr("\"step\":7"));
  EXPECT_THAT(text, testing::Not(HasSubstr("ckpt_1.pt")));
  EXPECT_EQ(keeper_->kernel().Reports()[0].stream_ends(0).end_offset(),
            static_cast<int64_t>(text.size()));
}

TEST_F(AttemptKeeperTest, FileThatAKilledProgramHasHalfWrittenIsNotRecorded) {
  v1::StartAttempt command =
      Watched(Shell(1, "cd " + dir_.File("ck") + "; exec 3> ckpt_7.pt; echo half >&3; kill -9 $$"),
              dir_.File("ck"));
  keeper_->kernel().Start(command, keeper_->Now());
  ASSERT_TRUE(AwaitFacts(3));
  EXPECT_EQ(ExitFact(1).signal(), 9);
  EXPECT_TRUE(std::filesystem::exists(dir_.File("ck/ckpt_7.pt")));
  EXPECT_EQ(ReadText(dir_.File("data/runs/1/1/rank0/telemetry.jsonl")), "");
}

TEST_F(AttemptKeeperTest, MissingProgramIsASpawnError) {
  v1::StartAttempt command = StartOf(1, 1, 1);
  command.mutable_spec()->add_command("/nowhere/trainer");
  keeper_->kernel().Start(command, keeper_->Now());
  ASSERT_TRUE(RunUntil([&] { return !Facts().empty() && Facts().back() == "cleared 1/1"; }));
  // A started fact may precede the exit fact, because the worker may see the process before its
  // exec fails.
  const std::size_t exit_index = Facts().size() - 2;
  EXPECT_EQ(ExitFact(exit_index).exit_code(), 127);
  EXPECT_THAT(ExitFact(exit_index).spawn_error(), HasSubstr("/nowhere/trainer"));
  EXPECT_EQ(ExitFact(exit_index).start_fault(), v1::START_FAULT_JOB);
}

TEST_F(AttemptKeeperTest, CheckpointDirectoryThatCannotBeMadeIsASpawnError) {
  WriteText(dir_.File("file"), "");
  v1::StartAttempt command = Shell(1, "exit 0");
  command.set_checkpoint_dir(dir_.File("file/ck"));
  keeper_->kernel().Start(command, keeper_->Now());
  ASSERT_TRUE(AwaitFacts(2));
  EXPECT_THAT(Facts(), ElementsAre("exited 1/1/0 127", "cleared 1/1"));
  EXPECT_THAT(ExitFact(0).spawn_error(), HasSubstr(dir_.File("file")));
  EXPECT_EQ(ExitFact(0).start_fault(), v1::START_FAULT_JOB) << "the path may be right elsewhere";
}

TEST_F(AttemptKeeperTest, FolderThatCannotBeMadeEndsEveryRank) {
  WriteText(dir_.File("data/attempts/1"), "in the way");
  keeper_->kernel().Start(Shell(1, "exit 0", 2), keeper_->Now());
  ASSERT_TRUE(AwaitFacts(3));
  EXPECT_THAT(Facts(), ElementsAre("exited 1/1/0 127", "exited 1/1/1 127", "cleared 1/1"));
  EXPECT_EQ(ExitFact(0).start_fault(), v1::START_FAULT_NODE);
}

TEST_F(AttemptKeeperTest, StopSendsTermAndThenKill) {
  keeper_->kernel().Start(Shell(1, "trap 'echo kept on' TERM; " + WaitForGo()), keeper_->Now());
  ASSERT_TRUE(RunUntil([&] { return sources_.size() == 2 && sources_[1]->Read(0).has_value(); }));
  keeper_->kernel().Stop(StopOf(1, 1, 300), keeper_->Now());
  ASSERT_TRUE(AwaitFacts(3));
  EXPECT_EQ(ExitFact(1).signal(), 9);
  EXPECT_THAT(ExitFact(1).log_tail(), HasSubstr("kept on"));
}

TEST_F(AttemptKeeperTest, ARankThatExceedsALimitIsKilledAndItsExitSaysWhy) {
  keeper_->kernel().Start(Shell(1, "trap '' TERM; " + WaitForGo()), keeper_->Now());
  ASSERT_TRUE(AwaitFacts(1));
  keeper_->kernel().EndForLimit({{1, 1}, 0}, "it wrote too much");
  ASSERT_TRUE(AwaitFacts(3));
  EXPECT_EQ(ExitFact(1).signal(), 9);
  EXPECT_EQ(ExitFact(1).limit_exceeded(), "it wrote too much");
}

TEST_F(AttemptKeeperTest, RankIsFoundAgainAfterARestart) {
  keeper_->kernel().Start(Shell(1, WaitForGo()), keeper_->Now());
  ASSERT_TRUE(AwaitFacts(1));
  Reopen();
  EXPECT_THAT(Text(keeper_->kernel().Reports()), ElementsAre("1/1: 0 running"));
  EXPECT_THAT(sources_, SizeIs(2));
  WriteText(dir_.File("go"), "");
  ASSERT_TRUE(AwaitFacts(3));
  EXPECT_THAT(Facts(), ElementsAre("started 1/1/0", "exited 1/1/0 0", "cleared 1/1"));
}

TEST_F(AttemptKeeperTest, EndWhileTheWorkerWasAwayIsPickedUpOnce) {
  keeper_->kernel().Start(Shell(1, WaitForGo() + "; exit 4"), keeper_->Now());
  ASSERT_TRUE(AwaitFacts(1));
  Close();
  WriteText(dir_.File("go"), "");
  const std::string exit_file = dir_.File("data/attempts/1/1/rank0/exit.json");
  for (int i = 0; i < 1000 && !std::filesystem::exists(exit_file); ++i) usleep(10'000);
  Reopen();
  ASSERT_TRUE(AwaitFacts(3));
  EXPECT_THAT(Facts(), ElementsAre("started 1/1/0", "exited 1/1/0 4", "cleared 1/1"));
  Reopen();
  EXPECT_THAT(Text(keeper_->kernel().Reports()), ElementsAre("1/1 cleared: 0"));
  EXPECT_FALSE(keeper_->kernel().attempts().AnyAlive());
  EXPECT_THAT(Facts(), SizeIs(3));
}

TEST_F(AttemptKeeperTest, ForgottenAttemptLeavesNoFileButItsNumber) {
  keeper_->kernel().Start(Shell(2, "exit 0"), keeper_->Now());
  ASSERT_TRUE(AwaitFacts(3));
  keeper_->kernel().Forget(ForgetOf(1, 2), keeper_->Now());
  EXPECT_FALSE(std::filesystem::exists(dir_.File("data/attempts/1")));
  EXPECT_THAT(removed_, ElementsAre(AttemptKey{1, 2}));
  EXPECT_THAT(keeper_->kernel().Reports(), IsEmpty());
  Reopen();
  keeper_->kernel().Start(Shell(2, "exit 0"), keeper_->Now());
  keeper_->kernel().Start(Shell(1, "exit 0"), keeper_->Now());
  EXPECT_THAT(Text(keeper_->kernel().Reports()), ElementsAre("1/1 cleared:", "1/2 cleared:"))
      << "refused, and the controller is told that nothing is here";
}

TEST_F(AttemptKeeperTest, WithoutAThreadRunDirectoriesAreRemovedAtTheNextStart) {
  keeper_->kernel().Start(Shell(2, "exit 0"), keeper_->Now());
  ASSERT_TRUE(AwaitFacts(3));
  {
    const NoThreads none;
    keeper_->kernel().Forget(ForgetOf(1, 2), keeper_->Now());
  }
  EXPECT_TRUE(std::filesystem::exists(dir_.File("data/runs/removed-1-2")));
  Reopen();
  EXPECT_TRUE(
      RunUntil([&] { return !std::filesystem::exists(dir_.File("data/runs/removed-1-2")); }));
}

TEST_F(AttemptKeeperTest, StopOfAnUnknownAttemptHoldsAfterARestart) {
  keeper_->kernel().Stop(StopOf(1, 3, 0), keeper_->Now());
  EXPECT_THAT(Facts(), ElementsAre("cleared 1/3"));
  Reopen();
  keeper_->kernel().Start(Shell(3, "exit 0"), keeper_->Now());
  EXPECT_THAT(Text(keeper_->kernel().Reports()), ElementsAre("1/3 cleared:"));
}

TEST_F(AttemptKeeperTest, UnknownAttemptIsForgottenWithItsAcknowledgement) {
  keeper_->kernel().Stop(StopOf(1, 3, 0), keeper_->Now());
  EXPECT_THAT(Text(keeper_->kernel().Reports()), ElementsAre("1/3 cleared:"));
  keeper_->facts().Acknowledge(keeper_->facts().last_sequence());
  ASSERT_TRUE(keeper_->kernel().FactsAcknowledged().ok());
  EXPECT_THAT(keeper_->kernel().Reports(), IsEmpty());
}

TEST_F(AttemptKeeperTest, RankThatRemovesItsFilesIsNotStartedAgain) {
  keeper_->kernel().Start(Shell(1, "rm -rf ./* ./.[!.]*; " + WaitForGo()), keeper_->Now());
  ASSERT_TRUE(RunUntil([&] { return sources_.size() == 2 && sources_[1]->Read(0).has_value(); }));
  std::filesystem::remove_all(dir_.File("data/runs"));
  Reopen();
  EXPECT_THAT(Text(keeper_->kernel().Reports()), ElementsAre("1/1: 0 running"));
  WriteText(dir_.File("go"), "");
  ASSERT_TRUE(AwaitFacts(3));
  EXPECT_THAT(Facts(), ElementsAre("started 1/1/0", "exited 1/1/0 0", "cleared 1/1"));
}

class LostAttemptTest : public AttemptKeeperTest {
 protected:
  // Starts a rank of attempt 1 with this script. Closes the worker while the rank runs.
  void StartAndClose(const std::string& script) {
    keeper_->kernel().Start(Shell(1, script), keeper_->Now());
    ASSERT_TRUE(AwaitFacts(1));
    ASSERT_TRUE(RunUntil([&] { return sources_.size() == 2 && sources_[1]->Read(0).has_value(); }));
    rank_ = static_cast<pid_t>(keeper_->facts().facts()[0].rank_started().pid());
    Close();
  }

  // Expects that a newer attempt starts only after all processes of the older attempt have ended.
  void ExpectEndedBeforeTheNextStarts() {
    Reopen();
    keeper_->kernel().Start(Shell(2, WaitForGo()), keeper_->Now());
    ASSERT_TRUE(RunUntil([&] { return Facts().back() == "started 1/2/0"; }));
    EXPECT_FALSE(std::filesystem::exists(absl::StrCat("/proc/", rank_)));
    EXPECT_THAT(Facts(), testing::Contains("cleared 1/1"));
  }

  pid_t rank_ = 0;
};

TEST_F(LostAttemptTest, IsStoppedAndSaysWhy) {
  StartAndClose("trap 'exit 143' TERM; " + WaitForGo());
  WriteText(dir_.File("data/attempts/1/1/start.pb"), "damaged");
  Reopen();
  ASSERT_TRUE(AwaitFacts(3));
  EXPECT_THAT(Facts(), ElementsAre("started 1/1/0", "exited 1/1/0 143", "cleared 1/1"));
  EXPECT_THAT(ExitFact(1).log_tail(), HasSubstr("start.pb in the worker's data directory"));
  keeper_->kernel().Forget(ForgetOf(1, 1), keeper_->Now());
  EXPECT_FALSE(std::filesystem::exists(dir_.File("data/attempts/1")));
}

TEST_F(LostAttemptTest, WithoutItsCommandItEndsBeforeANewerOneStarts) {
  StartAndClose("trap '' TERM; " + WaitForGo());
  std::filesystem::remove(dir_.File("data/attempts/1/1/start.pb"));
  ExpectEndedBeforeTheNextStarts();
}

TEST_F(LostAttemptTest, WithoutAnyRecordItEndsBeforeANewerOneStarts) {
  StartAndClose("trap '' TERM; " + WaitForGo());
  std::filesystem::remove_all(dir_.File("data/attempts"));
  ExpectEndedBeforeTheNextStarts();
}

TEST_F(LostAttemptTest, RankWhoseRecordsAreLostIsNotStartedAgain) {
  StartAndClose(WaitForGo());
  WriteText(dir_.File("go"), "");
  const std::string records = dir_.File("data/attempts/1/1/rank0");
  for (int i = 0; i < 1000 && !std::filesystem::exists(records + "/exit.json"); ++i) usleep(10'000);
  std::filesystem::remove_all(records);
  std::filesystem::create_directory(records);
  Reopen();
  ASSERT_TRUE(AwaitFacts(3));
  EXPECT_THAT(Facts(), ElementsAre("started 1/1/0", "exited 1/1/0 0", "cleared 1/1"));
  EXPECT_EQ(ExitFact(1).signal(), 9);
  EXPECT_THAT(ExitFact(1).log_tail(), HasSubstr("records of this rank are lost"));
}

TEST_F(LostAttemptTest, ProcessesOfALostDataDirectoryEndBeforeThereIsANewIdentity) {
  StartAndClose("trap '' TERM; setsid sleep 1000 & " + WaitForGo());
  const RankMarks before(data_dir_->path(), data_dir_->node_id());
  EXPECT_EQ(before.KillStrays().killed, 0) << "its own ranks are no strays";
  data_dir_ = nullptr;
  std::filesystem::remove_all(dir_.File("data"));
  data_dir_ = *DataDir::Open(dir_.File("data"));
  const RankMarks after(data_dir_->path(), data_dir_->node_id());
  const RankMarks::Strays strays = after.KillStrays();
  EXPECT_GE(strays.killed, 2);
  EXPECT_TRUE(strays.all_ended);
  EXPECT_FALSE(std::filesystem::exists(absl::StrCat("/proc/", rank_)));
  EXPECT_NE(after.PlaceOfBoot(), "");
  EXPECT_EQ(after.PlaceOfBoot(), before.PlaceOfBoot());
  EXPECT_NE(RankMarks(dir_.File("other"), "").PlaceOfBoot(), before.PlaceOfBoot());
  ASSERT_EQ(data_dir_->MakeIdentity(), absl::OkStatus());
  Reopen();
  EXPECT_THAT(keeper_->kernel().Reports(), IsEmpty());
}

TEST_F(AttemptKeeperTest, NewerAttemptStartsOnlyAfterTheOlderIsGone) {
  keeper_->kernel().Start(Shell(1, WaitForGo(), 2), keeper_->Now());
  ASSERT_TRUE(AwaitFacts(2));
  keeper_->kernel().Start(Shell(2, WaitForGo()), keeper_->Now());
  ASSERT_TRUE(AwaitFacts(6));
  const std::vector<std::string> facts = Facts();
  EXPECT_EQ(facts[4], "cleared 1/1");
  EXPECT_EQ(facts[5], "started 1/2/0");
  EXPECT_EQ(ExitFact(2).signal(), 9);
}

}  // namespace
}  // namespace trainyard::worker
