// Tests the copy of a job's code that `submit` sends.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/fake_code_service.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class CodeUploadTest : public CliFixture {
 protected:
  CodeUploadTest() {
    *answers().submit.mutable_job() = QueuedJob();
    std::filesystem::create_directories(directory() + "/source/data");
    WriteFile("source/train.py", "print(1)\n");
    WriteFile("source/data/large", std::string(2'000, 'x'));
    WriteFile("source/.trainyardignore", "data/\n");
    job_file_ = WriteFile("job.yaml", absl::StrCat(kJobFile, "code: {path: source}\n"));
  }

  FakeCodeService& code() { return server().code(); }
  CliResult Submit(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"submit", job_file_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
  // Returns the code of the newest submission.
  v1::CodeSpec Submitted() {
    EXPECT_FALSE(answers().submit_requests.empty());
    if (answers().submit_requests.empty()) return {};
    return answers().submit_requests.back().spec().code();
  }
  void Git(const std::string& arguments) const {
    const std::string command =
        absl::StrCat("cd ", directory(), "/source && git -c user.name=t -c user.email=t@t ",
                     arguments, " >/dev/null 2>&1");
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  std::string job_file_;
};

TEST_F(CodeUploadTest, ReplacesThePathWithASnapshotAndItsRecord) {
  const CliResult result = Submit();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("code: 2 files, 15 B; ignored data/ 2.0 kB\n"));
  const v1::CodeSpec spec = Submitted();
  EXPECT_THAT(code().FilesOf(spec.snapshot()),
              ElementsAre(Pair(".trainyardignore", "data/\n"), Pair("train.py", "print(1)\n")));
  EXPECT_FALSE(spec.has_path());
  EXPECT_EQ(spec.record().directory(), directory() + "/source");
  EXPECT_EQ(spec.record().files(), 2);
  EXPECT_EQ(spec.record().bytes(), 15);
  EXPECT_EQ(spec.record().left_out_files(), 1);
  EXPECT_EQ(spec.record().left_out_bytes(), 2'000);
}

TEST_F(CodeUploadTest, SendsOnlyWhatTheControllerLacks) {
  ASSERT_EQ(Submit().exit_code, 0);
  EXPECT_EQ(code().sent.size(), 3U) << "the manifest and two files";
  code().sent.clear();
  ASSERT_EQ(Submit().exit_code, 0);
  EXPECT_THAT(code().sent, IsEmpty());
  WriteFile("source/train.py", "print(2)\n");
  ASSERT_EQ(Submit().exit_code, 0);
  EXPECT_EQ(code().sent.size(), 2U) << "the manifest and one file";
  EXPECT_EQ(code().sent.back(), "print(2)\n");
}

TEST_F(CodeUploadTest, StartsAgainIfAFileChangesDuringTheUpload) {
  bool has_changed = false;
  code().before_store = [&] {
    if (!std::exchange(has_changed, true)) WriteFile("source/train.py", "print('changed')\n");
  };
  const CliResult result = Submit();
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(code().FilesOf(Submitted().snapshot())["train.py"], "print('changed')\n");
}

TEST_F(CodeUploadTest, AFileThatKeepsChangingIsNamedAndNoJobIsSubmitted) {
  int version = 0;
  code().before_store = [&] {
    WriteFile("source/train.py", absl::StrCat("print(", version++, ")"));
  };
  const CliResult result = Submit();
  EXPECT_NE(result.exit_code, 0) << result.out;
  EXPECT_THAT(result.err, HasSubstr("train.py changed while it was read; submit again when no "
                                    "program writes it"));
  EXPECT_THAT(answers().submit_requests, IsEmpty());
  EXPECT_EQ(version, 2) << "one more try";
}

TEST_F(CodeUploadTest, AControllerThatLosesPacksIsReported) {
  code().loses_packs = true;
  const CliResult result = Submit();
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("after all were sent; submit again"));
  EXPECT_THAT(answers().submit_requests, IsEmpty());
}

TEST_F(CodeUploadTest, ATooLargeTreeIsRefusedWithItsLargestFiles) {
  const CliResult result = Submit({"--set", "code.max_size=10"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("the largest files are train.py 9 B, .trainyardignore 6 B"));
  EXPECT_THAT(code().sent, IsEmpty());
  EXPECT_THAT(answers().submit_requests, IsEmpty());
}

TEST_F(CodeUploadTest, RecordsTheCommitAndSendsTheUncommittedChanges) {
  Git("init -b main");
  Git("add train.py");
  Git("commit -m first");
  WriteFile("source/train.py", "print(2)\n");
  ASSERT_EQ(Submit().exit_code, 0);
  const v1::CodeRecord record = Submitted().record();
  EXPECT_EQ(record.commit().size(), 40U);
  EXPECT_EQ(record.branch(), "main");
  EXPECT_TRUE(record.dirty());
  EXPECT_THAT(code().BlobOf(record.diff()), HasSubstr("-print(1)\n+print(2)\n"));
  EXPECT_FALSE(record.diff_cut());

  ASSERT_EQ(Submit({"--set", "code.git=false"}).exit_code, 0);
  EXPECT_FALSE(Submitted().record().has_commit());
}

TEST_F(CodeUploadTest, CodeInPlaceIsNotCopied) {
  ASSERT_EQ(Submit({"--set", "code.in_place=true"}).exit_code, 0);
  EXPECT_EQ(Submitted().path(), directory() + "/source");
  EXPECT_FALSE(Submitted().has_snapshot());
  EXPECT_THAT(code().sent, IsEmpty());
}

}  // namespace
}  // namespace trainyard::cli
