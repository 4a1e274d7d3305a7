#include "worker/core/watched_checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace trainyard::worker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

v1::StartAttempt WatchCommand(int64_t attempt = 1) {
  v1::StartAttempt command;
  command.set_attempt(attempt);
  command.set_node_count(1);
  command.set_checkpoint_dir("/ckpt/");
  command.mutable_spec()->mutable_checkpoint()->set_watch("ckpt_*.pt");
  command.mutable_spec()->mutable_checkpoint()->set_keep_last(100'000);
  return command;
}

void AddEarlier(const std::string& path, int64_t step, int64_t bytes, v1::StartAttempt& command) {
  v1::Checkpoint& earlier = *command.add_checkpoints();
  earlier.set_path(path);
  earlier.set_step(step);
  earlier.set_attempt(1);
  earlier.set_bytes(bytes);
}

std::string RecordText(const v1::CheckpointRecord& record) {
  return absl::StrCat(record.deleted() ? "deleted " : "saved ", record.step(), " of ",
                      record.attempt(), " ", record.path());
}

std::vector<int64_t> RecordedSteps(const WatchedCheckpoints& watched) {
  const v1::WatchState state = watched.State();
  std::vector<int64_t> steps;
  for (const v1::WatchedFile& file : state.files()) {
    if (file.recorded()) steps.push_back(file.step());
  }
  return steps;
}

// A directory of files, and a clock.
class WatchedCheckpointsTest : public testing::Test {
 protected:
  void Write(const std::string& path, int64_t bytes) {
    Remove(path);
    const int64_t modified = ++files_written_;
    entries_.push_back(
        {.path = path, .bytes = bytes, .modified_ns = modified, .own_modified_ns = modified});
  }

  void Remove(const std::string& path) {
    std::erase_if(entries_, [&](const WatchedEntry& entry) { return entry.path == path; });
  }

  WatchedEntry& Entry(const std::string& path) {
    return *std::ranges::find(entries_, path, &WatchedEntry::path);
  }

  std::vector<std::string> Look(WatchedCheckpoints& watched, Timestamp after = 500,
                                WatchLook look = WatchLook::kRunning) {
    now_ += after;
    newest_ = watched.Note(entries_, look, step_, now_);
    std::vector<std::string> texts;
    for (const v1::CheckpointRecord& record : newest_.records) texts.push_back(RecordText(record));
    return texts;
  }

  // Looks until every complete file is recorded. Returns all records.
  std::vector<std::string> LookOften(WatchedCheckpoints& watched) {
    std::vector<std::string> all;
    for (int i = 0; i < 4; ++i) {
      for (std::string& text : Look(watched)) all.push_back(std::move(text));
    }
    return all;
  }

  std::vector<WatchedEntry> entries_;
  int64_t files_written_ = 0;
  Timestamp now_ = 1'000'000;
  int64_t step_ = 0;
  WatchOutcome newest_;
};

TEST_F(WatchedCheckpointsTest, FileIsRecordedOnceItIsStable) {
  WatchedCheckpoints watched(WatchCommand());
  watched.Begin({});
  Write("ckpt_100.pt", 7);
  EXPECT_THAT(Look(watched), IsEmpty());
  EXPECT_TRUE(newest_.pending);
  EXPECT_THAT(Look(watched), IsEmpty());
  EXPECT_THAT(Look(watched), ElementsAre("saved 100 of 1 /ckpt/ckpt_100.pt"));
  EXPECT_EQ(newest_.records[0].bytes(), 7);
  EXPECT_THAT(LookOften(watched), IsEmpty());
  EXPECT_FALSE(newest_.pending);
}

TEST_F(WatchedCheckpointsTest, GrowingOpenAndEmptyFilesAreNotRecorded) {
  WatchedCheckpoints watched(WatchCommand());
  watched.Begin({});
  Write("ckpt_1.pt", 0);
  Write("ckpt_2.pt", 5);
  Entry("ckpt_2.pt").in_progress = true;
  for (int64_t bytes = 1; bytes < 10; ++bytes) {
    Write("ckpt_3.pt", bytes);
    EXPECT_THAT(Look(watched), IsEmpty());
  }
  Entry("ckpt_2.pt").in_progress = false;
  EXPECT_THAT(LookOften(watched),
              ElementsAre("saved 3 of 1 /ckpt/ckpt_3.pt", "saved 2 of 1 /ckpt/ckpt_2.pt"));
}

TEST_F(WatchedCheckpointsTest, FilesOfSeveralNodesMustBeStableForLonger) {
  v1::StartAttempt command = WatchCommand();
  command.set_node_count(2);
  WatchedCheckpoints watched(command);
  watched.Begin({});
  Write("ckpt_100.pt", 7);
  EXPECT_THAT(LookOften(watched), IsEmpty());
  EXPECT_THAT(Look(watched, 4'000), SizeIs(1));
}

TEST_F(WatchedCheckpointsTest, FileThatAFailedProgramMayHaveHalfWrittenIsNeverRecorded) {
  WatchedCheckpoints watched(WatchCommand());
  watched.Begin({});
  Write("ckpt_1.pt", 7);
  Look(watched);
  Look(watched, 2'000);
  Write("ckpt_2.pt", 7);
  Entry("ckpt_2.pt").in_progress = true;
  Look(watched, 2'000);
  Write("ckpt_3.pt", 7);
  Entry("ckpt_2.pt").in_progress = false;
  for (int i = 0; i < 4; ++i) {
    EXPECT_THAT(Look(watched, 60'000, WatchLook::kFailed), IsEmpty());
  }

  // The next attempt finds these files, too.
  WatchedCheckpoints next(WatchCommand(2));
  next.Begin(entries_);
  EXPECT_THAT(LookOften(next), IsEmpty());
  EXPECT_FALSE(newest_.pending);
  Write("ckpt_2.pt", 9);
  EXPECT_THAT(LookOften(next), ElementsAre("saved 2 of 2 /ckpt/ckpt_2.pt"));
}

TEST_F(WatchedCheckpointsTest, FileThatIsOpenedAgainMustBecomeStableAgain) {
  WatchedCheckpoints watched(WatchCommand());
  watched.Begin({});
  Write("ckpt_1.pt", 7);
  Look(watched, 100);
  Look(watched, 100);
  Entry("ckpt_1.pt").in_progress = true;
  EXPECT_THAT(Look(watched, 2'000), IsEmpty());
  Entry("ckpt_1.pt").in_progress = false;
  EXPECT_THAT(Look(watched, 100, WatchLook::kFailed), IsEmpty());
}

TEST_F(WatchedCheckpointsTest, FailedProgramLeavesFilesThatWereClosedWhileItRan) {
  for (const int nodes : {1, 2}) {
    v1::StartAttempt command = WatchCommand();
    command.set_node_count(nodes);
    WatchedCheckpoints watched(command);
    watched.Begin({});
    Write("ckpt_1.pt", 7);
    EXPECT_THAT(Look(watched, 100), IsEmpty());
    EXPECT_THAT(Look(watched, 100), IsEmpty());
    // Another node may have written a part of the file.
    EXPECT_THAT(Look(watched, 100, WatchLook::kFailed), SizeIs(nodes == 1 ? 1 : 0));
  }
}

// The end of a killed program closes its files before the worker notices the end.
TEST_F(WatchedCheckpointsTest, OneLookMayHaveSeenAFileThatTheEndClosed) {
  WatchedCheckpoints watched(WatchCommand());
  watched.Begin({});
  Write("ckpt_1.pt", 7);
  Look(watched, 100);
  EXPECT_THAT(Look(watched, 100, WatchLook::kFailed), IsEmpty());
}

TEST_F(WatchedCheckpointsTest, StoppedProgramHasSavedItsLastFile) {
  WatchedCheckpoints watched(WatchCommand());
  watched.Begin({});
  Write("ckpt_9.pt", 7);
  EXPECT_THAT(Look(watched, 0, WatchLook::kSaved), IsEmpty());
  EXPECT_TRUE(newest_.pending);
  EXPECT_THAT(Look(watched, 300, WatchLook::kSaved), ElementsAre("saved 9 of 1 /ckpt/ckpt_9.pt"));
}

TEST_F(WatchedCheckpointsTest, OverwrittenFileHasTheStepOfItsRanks) {
  WatchedCheckpoints watched(WatchCommand());
  watched.Begin({});
  step_ = 150;
  Write("ckpt.pt", 7);
  EXPECT_THAT(LookOften(watched), ElementsAre("saved 150 of 1 /ckpt/ckpt.pt"));
  step_ = 200;
  Write("ckpt.pt", 7);
  Look(watched);
  step_ = 201;
  // The record of the old contents is withdrawn at the first change.
  EXPECT_EQ(RecordText(newest_.records[0]), "deleted 150 of 1 /ckpt/ckpt.pt");
  EXPECT_THAT(LookOften(watched), ElementsAre("saved 200 of 1 /ckpt/ckpt.pt"));
}

TEST_F(WatchedCheckpointsTest, FileWithoutStepIsReportedAndNotRecorded) {
  WatchedCheckpoints watched(WatchCommand());
  watched.Begin({});
  Write("ckpt.pt", 7);
  EXPECT_THAT(LookOften(watched), IsEmpty());
  EXPECT_EQ(newest_.without_step, "ckpt.pt");
}

TEST_F(WatchedCheckpointsTest, StepIsTheLastNumberOfTheNameOrThatOfThePattern) {
  v1::StartAttempt command = WatchCommand();
  const std::vector<std::string> names = {"epoch=3-step=500.ckpt", "global_step600",
                                          "m7/iter_0000700", "800.h5", "ckpt_0.pt"};
  WatchedCheckpoints watched(command);
  watched.Begin({});
  for (const std::string& name : names) Write(name, 1);
  LookOften(watched);
  EXPECT_THAT(RecordedSteps(watched), testing::UnorderedElementsAre(500, 600, 700, 800));

  command.mutable_spec()->mutable_checkpoint()->set_step("s(\\d+)_e");
  WatchedCheckpoints patterned(command);
  patterned.Begin(entries_);
  entries_.clear();
  Write("s12_e3.pt", 1);
  EXPECT_THAT(LookOften(patterned), ElementsAre("saved 12 of 1 /ckpt/s12_e3.pt"));
}

TEST_F(WatchedCheckpointsTest, RetentionKeepsTheNewestTheMultiplesAndTheStart) {
  v1::StartAttempt command = WatchCommand(2);
  command.mutable_spec()->mutable_checkpoint()->set_keep_last(2);
  command.mutable_spec()->mutable_checkpoint()->set_keep_every_steps(100);
  command.set_resume_from("/ckpt/ckpt_30.pt");
  for (const int step : {10, 20, 30}) {
    const std::string name = absl::StrCat("ckpt_", step, ".pt");
    AddEarlier("/ckpt/" + name, step, 1, command);
    Write(name, 1);
  }
  // Never removed: a file outside the directory, and files of others that match.
  AddEarlier("/other/ckpt_5.pt", 5, 1, command);
  Write("ckpt_7.pt", 1);
  WatchedCheckpoints watched(command);
  watched.Begin(entries_);
  EXPECT_THAT(Look(watched), ElementsAre("deleted 10 of 1 /ckpt/ckpt_10.pt"));
  EXPECT_THAT(newest_.removals, ElementsAre("ckpt_10.pt"));
  // A failed removal is repeated.
  EXPECT_THAT(Look(watched), IsEmpty());
  EXPECT_THAT(newest_.removals, ElementsAre("ckpt_10.pt"));
  Remove("ckpt_10.pt");
  for (const int step : {100, 110, 120, 130}) Write(absl::StrCat("ckpt_", step, ".pt"), 1);
  const std::vector<std::string> records = LookOften(watched);
  EXPECT_THAT(records, testing::Contains("deleted 20 of 1 /ckpt/ckpt_20.pt"));
  EXPECT_THAT(records, testing::Contains("deleted 110 of 2 /ckpt/ckpt_110.pt"));
  EXPECT_THAT(RecordedSteps(watched), testing::UnorderedElementsAre(30, 100, 120, 130));
}

TEST_F(WatchedCheckpointsTest, FileThatItsProgramRemovesIsDeletedAfterADelay) {
  WatchedCheckpoints watched(WatchCommand());
  watched.Begin({});
  Write("ckpt_1.pt", 1);
  LookOften(watched);
  const std::vector<WatchedEntry> all = entries_;
  entries_.clear();
  EXPECT_THAT(Look(watched), IsEmpty());
  // A file server that forgets a file for a moment changes nothing.
  entries_ = all;
  EXPECT_THAT(Look(watched, 20'000), IsEmpty());
  entries_.clear();
  EXPECT_THAT(Look(watched), IsEmpty());
  EXPECT_THAT(Look(watched, 10'000), ElementsAre("deleted 1 of 1 /ckpt/ckpt_1.pt"));
  EXPECT_THAT(watched.State().files(), IsEmpty());
}

TEST_F(WatchedCheckpointsTest, RestartedWorkerContinues) {
  WatchedCheckpoints before(WatchCommand());
  Write("ckpt_1.pt", 1);
  before.Begin(entries_);
  step_ = 40;
  Write("last.pt", 1);
  EXPECT_THAT(Look(before), IsEmpty());
  WatchedCheckpoints watched(WatchCommand());
  watched.Restore(before.State());
  step_ = 60;
  EXPECT_THAT(LookOften(watched), ElementsAre("saved 40 of 1 /ckpt/last.pt"));
  WatchedCheckpoints again(WatchCommand());
  again.Restore(watched.State());
  EXPECT_THAT(LookOften(again), IsEmpty());
}

TEST_F(WatchedCheckpointsTest, RecordedDirectoryIsNotMeasuredAgain) {
  WatchedCheckpoints watched(WatchCommand());
  watched.Begin({});
  Write("step-5", 10);
  LookOften(watched);
  EXPECT_TRUE(watched.IsRecorded("step-5"));
  Entry("step-5").unmeasured = true;
  Entry("step-5").bytes = 0;
  EXPECT_THAT(Look(watched), IsEmpty());
  EXPECT_TRUE(watched.IsRecorded("step-5"));
  // A change of the directory itself withdraws the record, and the directory is measured again.
  Entry("step-5").own_modified_ns += 5;
  EXPECT_THAT(Look(watched), ElementsAre("deleted 5 of 1 /ckpt/step-5"));
  EXPECT_FALSE(watched.IsRecorded("step-5"));
}

TEST_F(WatchedCheckpointsTest, NumberOfTrackedFilesIsBounded) {
  WatchedCheckpoints watched(WatchCommand());
  watched.Begin({});
  for (int step = 1; step <= 1'200; ++step) Write(absl::StrCat("ckpt_", step, ".pt"), 1);
  LookOften(watched);
  EXPECT_THAT(watched.State().files(), SizeIs(WatchedCheckpoints::kMostFiles));
  EXPECT_TRUE(watched.IsRecorded("ckpt_1200.pt"));
  EXPECT_THAT(LookOften(watched), IsEmpty());
}

}  // namespace
}  // namespace trainyard::worker
