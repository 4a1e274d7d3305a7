// Runs that end early: crashes, errors, a full disk, interruptions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "data/stages/run_directory.h"
#include "data/stages/run_stage.h"
#include "tests/data/stages/stage_runs.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;

class ResumeTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(runs_.Run(DropRed(), "whole"), absl::OkStatus());
    whole_ = runs_.Contents("whole");
  }

  void CopyWhole(const std::string& name) const {
    fs::remove_all(runs_.out(name));
    fs::copy(runs_.out("whole"), runs_.out(name));
  }

  // Runs in a child process and returns its wait status.
  int RunInChild(const Stage& stage, const std::function<void()>& before = nullptr) const {
    const pid_t child = fork();
    if (child == 0) {
      if (before) before();
      _exit(runs_.Run(stage, "out").ok() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }

  void ExpectResumes() const {
    ASSERT_EQ(runs_.Run(DropRed(), "out"), absl::OkStatus());
    EXPECT_EQ(runs_.Contents("out"), whole_);
  }

  StageRuns runs_;
  std::map<std::string, std::string> whole_;
};

TEST_F(ResumeTest, ACompleteRunIsNotRepeated) {
  const Stage stage = DropRed([](int64_t) { return absl::InternalError("called"); });
  EXPECT_EQ(runs_.Run(stage, "whole"), absl::OkStatus());
  EXPECT_EQ(runs_.recorded(), runs_.blocks());
  EXPECT_EQ(runs_.Contents("whole"), whole_);
}

TEST_F(ResumeTest, ALogThatIsCutAnywhereLosesOnlyTheCutRecords) {
  const std::string log = ReadFile(runs_.out("whole/records.log"));
  ASSERT_EQ(std::count(log.begin(), log.end(), '\n'), static_cast<int64_t>(runs_.blocks()));
  const size_t last = log.rfind('\n', log.size() - 2) + 1;
  size_t resumed = 0;
  // Each position in the last two records, and some of the others.
  for (size_t end = 0; end < log.size();
       end += end + 2 * (log.size() - last) < log.size() ? 397 : 23) {
    CopyWhole("out");
    fs::remove(runs_.out("out/report.json"));
    WriteFile(runs_.out("out/records.log"), log.substr(0, end));
    ExpectResumes();
    EXPECT_EQ(static_cast<int64_t>(runs_.recorded()),
              std::count(log.begin(), log.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    resumed += runs_.recorded();
  }
  EXPECT_GT(resumed, 0u);
}

// The log then has a record of each block, and two of the one whose part was missing.
TEST_F(ResumeTest, LaterRunsUseTheRecordsOfAResumedRun) {
  CopyWhole("out");
  fs::resize_file(runs_.out("out/records.log"), fs::file_size(runs_.out("out/records.log")) - 9);
  fs::remove(runs_.out("out/part-00001.jsonl.zst"));
  ExpectResumes();
  EXPECT_EQ(runs_.recorded() + 2, runs_.blocks());
  ExpectResumes();
  EXPECT_EQ(runs_.recorded(), runs_.blocks());
}

TEST_F(ResumeTest, ADamagedRecordIsNotUsed) {
  std::string log = ReadFile(runs_.out("whole/records.log"));
  const size_t first = log.find('\n') + 1;
  for (size_t at = first; at < log.find('\n', first); at += 29) {
    CopyWhole("out");
    std::string damaged = log;
    damaged[at] ^= 1;
    WriteFile(runs_.out("out/records.log"), damaged);
    ExpectResumes();
    EXPECT_EQ(runs_.recorded(), 1u);
  }
}

// report.json states that a run is complete, so that it may not remain from before.
TEST_F(ResumeTest, ARunThatLostAPartHasNoReport) {
  CopyWhole("out");
  fs::remove(runs_.out("out/part-00001.jsonl.zst"));
  const Stage stage = DropRed([](int64_t) { return absl::InternalError("fault"); });
  EXPECT_EQ(runs_.Run(stage, "out"), absl::InternalError("fault"));
  EXPECT_THAT(runs_.Contents("out"), Not(Contains(Key("report.json"))));
  ExpectResumes();
}

// Without plan.json, the rest of an earlier run would be refused as files of another program.
TEST_F(ResumeTest, AReplacementThatFailsKeepsThePlan) {
  CopyWhole("out");
  fs::remove(runs_.out("out/part-00001.jsonl.zst"));
  fs::create_directory(runs_.out("out/part-00001.jsonl.zst"));
  EXPECT_THAT(runs_.Run(DropRed(), "out", {.replace = true}).message(), HasSubstr("cannot remove"));
  EXPECT_TRUE(fs::exists(runs_.out("out/plan.json")));
  fs::remove(runs_.out("out/part-00001.jsonl.zst"));
  ASSERT_EQ(runs_.Run(DropRed(), "out", {.replace = true}), absl::OkStatus());
  EXPECT_EQ(runs_.Contents("out"), whole_);
}

TEST_F(ResumeTest, PartsWithoutRecordsAndRecordsWithoutPartsAreReplaced) {
  CopyWhole("out");
  fs::remove(runs_.out("out/part-00001.jsonl.zst"));
  fs::resize_file(runs_.out("out/dropped-00002.jsonl.zst"), 3);
  WriteFile(runs_.out("out/part-99999.jsonl.zst"), "cut");
  WriteFile(runs_.out("out/notes.txt"), "of the user");
  ASSERT_EQ(runs_.Run(DropRed(), "out"), absl::OkStatus());
  EXPECT_EQ(runs_.recorded() + 2, runs_.blocks());
  EXPECT_EQ(ReadFile(runs_.out("out/notes.txt")), "of the user");
  fs::remove(runs_.out("out/notes.txt"));
  EXPECT_EQ(runs_.Contents("out"), whole_);
}

// The size of a part does not show damage, such as zeros after a power failure.
TEST_F(ResumeTest, ADamagedPartOfTheSameSizeIsReplaced) {
  CopyWhole("out");
  const std::string part = runs_.out("out/part-00001.jsonl.zst");
  std::string damaged = ReadFile(part);
  damaged.back() ^= 1;
  WriteFile(part, damaged);
  ASSERT_EQ(runs_.Run(DropRed(), "out"), absl::OkStatus());
  EXPECT_EQ(runs_.recorded() + 1, runs_.blocks());
  EXPECT_EQ(runs_.Contents("out"), whole_);
}

TEST_F(ResumeTest, AProcessKilledAtAnyDocumentLosesOneBlockPerThread) {
  for (int64_t killed_at = 0; killed_at < 312; killed_at += 19) {
    fs::remove_all(runs_.out("out"));
    const Stage stage = DropRed([&](int64_t documents) {
      if (documents == killed_at) kill(getpid(), SIGKILL);
      return absl::OkStatus();
    });
    const int status = RunInChild(stage);
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_THAT(runs_.Contents("out"), Not(Contains(Key("report.json"))));
    ExpectResumes();
  }
}

TEST_F(ResumeTest, AProcessKilledAtAnyTimeResumes) {
  int killed = 0;
  for (int i = 0; i < 15; ++i) {
    fs::remove_all(runs_.out("out"));
    const pid_t child = fork();
    if (child == 0) _exit(runs_.Run(DropRed(), "out").ok() ? 0 : 1);
    usleep(static_cast<useconds_t>(i * 3000));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    killed += WIFSIGNALED(status) ? 1 : 0;
    ExpectResumes();
  }
  EXPECT_GT(killed, 0);
}

TEST_F(ResumeTest, AnErrorInAnyDocumentKeepsTheFinishedBlocks) {
  for (int64_t failed_at = 0; failed_at < 312; failed_at += 31) {
    fs::remove_all(runs_.out("out"));
    const Stage stage = DropRed([&](int64_t documents) {
      return documents == failed_at ? absl::InternalError("failure") : absl::OkStatus();
    });
    EXPECT_EQ(runs_.Run(stage, "out", {.threads = 1}), absl::InternalError("failure"));
    const auto contents = runs_.Contents("out");
    EXPECT_THAT(contents, Not(Contains(Key("report.json"))));
    ExpectResumes();
    // An error removes the parts of the failed block.
    EXPECT_EQ(static_cast<size_t>(
                  std::count_if(contents.begin(), contents.end(),
                                [](const auto& file) { return file.first.starts_with("part-"); })),
              runs_.recorded());
  }
}

TEST_F(ResumeTest, AFullDiskKeepsTheFinishedBlocks) {
  int failed = 0;
  for (rlim_t bytes = 10; bytes < 6000; bytes = bytes * 5 / 4) {
    fs::remove_all(runs_.out("out"));
    const int status = RunInChild(DropRed(), [bytes] {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit = {bytes, bytes};  // writes beyond it fail
      setrlimit(RLIMIT_FSIZE, &limit);
    });
    ASSERT_TRUE(WIFEXITED(status));
    failed += WEXITSTATUS(status);
    ExpectResumes();
  }
  EXPECT_GT(failed, 5);
}

TEST_F(ResumeTest, AnInterruptedRunContinues) {
  const Stage stage = DropRed([&](int64_t documents) {
    if (documents == 200) runs_.cancelled() = true;
    return absl::OkStatus();
  });
  const absl::Status status = runs_.Run(stage, "out", {.threads = 1});
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_THAT(status.message(), HasSubstr("repeat the command to continue"));
  runs_.cancelled() = false;
  ExpectResumes();
  EXPECT_GT(runs_.recorded(), 0u);
}

TEST_F(ResumeTest, RefusesAChangedPlanWithTheChanges) {
  runs_.files().Write("in/a.jsonl", Lines(201, 0));
  fs::remove(runs_.out("in/f.jsonl"));
  runs_.files().Write("in/z.jsonl", Lines(1, 0));
  const absl::Status status = runs_.Run(DropRed(), "whole");
  EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
  EXPECT_THAT(status.message(), AllOf(HasSubstr("a.jsonl has changed"), HasSubstr("z.jsonl is new"),
                                      HasSubstr("f.jsonl is missing")));
  EXPECT_EQ(runs_.Contents("whole"), whole_);
}

TEST_F(ResumeTest, RefusesChangedSettings) {
  Stage stage = DropRed();
  stage.settings["word"] = "blue";
  EXPECT_THAT(runs_.Run(stage, "whole").message(),
              HasSubstr(R"(run: setting red.word was "red" and is now "blue"; repeat)"));
  EXPECT_THAT(runs_.Run(DropRed(), "whole", {.block_bytes = 999}).message(),
              HasSubstr("setting block_bytes was 2000 and is now 999"));
  EXPECT_EQ(runs_.Run(stage, "whole", {.replace = true}), absl::OkStatus());
  EXPECT_EQ(runs_.recorded(), 0u);
}

TEST_F(ResumeTest, RefusesADirectoryThatIsInUse) {
  const auto plan = runs_.MakePlan(DropRed());
  std::vector<BlockRecord> records;
  {
    const auto open = RunDirectory::Open(runs_.out("whole"), *plan, false, &records);
    ASSERT_TRUE(open.ok()) << open.status();
    EXPECT_THAT(runs_.Run(DropRed(), "whole", {.replace = true}).message(),
                HasSubstr("whole is in use by process " + std::to_string(getpid())));
  }
  EXPECT_EQ(runs_.Run(DropRed(), "whole"), absl::OkStatus());
}

TEST_F(ResumeTest, RefusesADirectoryWithOtherFiles) {
  runs_.files().Write("other/plan.json", "{\"plan\": \"of the user\"}");
  for (const bool replace : {false, true}) {
    EXPECT_THAT(runs_.Run(DropRed(), "other", {.replace = replace}).message(),
                HasSubstr("contains files of other programs"));
  }
  EXPECT_THAT(runs_.Contents("other"), testing::ElementsAre(Key("plan.json")));
  // A crash before the first plan.json.
  runs_.files().Write("out/.lock", "1");
  runs_.files().Write("out/plan.json.tmp", "{");
  ASSERT_EQ(runs_.Run(DropRed(), "out"), absl::OkStatus());
}

TEST_F(ResumeTest, NeitherOutputNorInputMayContainTheOther) {
  const std::string in = runs_.out("in");
  EXPECT_FALSE(CheckOutsideInputs(in + "/x/out", {in}).ok());
  EXPECT_FALSE(CheckOutsideInputs(in, {in + "/../in/"}).ok());
  EXPECT_FALSE(CheckOutsideInputs(in, {in + "/a.jsonl"}).ok());
  EXPECT_FALSE(CheckOutsideInputs(runs_.out("."), {in}).ok());
  EXPECT_TRUE(CheckOutsideInputs(in + "2", {in, in + "/a.jsonl"}).ok());
}

}  // namespace
}  // namespace trainyard::data
