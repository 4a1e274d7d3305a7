// Tests `diff`, which compares the code of two jobs.
#include <map>
#include <string>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/fake_code_service.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CodeDiffTest : public CliFixture {
 protected:
  // Makes `id` a job with this code.
  void AddJob(int64_t id, const std::map<std::string, std::string>& files) {
    v1::CodeSpec& code = *AddJobWithoutCode(id).mutable_spec()->mutable_code();
    code.set_snapshot(server().code().AddSnapshot(files));
    code.mutable_record()->set_files(static_cast<int64_t>(files.size()));
  }
  v1::Job& AddJobWithoutCode(int64_t id) {
    v1::Job& job = *answers().jobs[std::to_string(id)].mutable_job();
    job = EndedJob(v1::JOB_STATE_SUCCEEDED);
    job.set_id(id);
    return job;
  }
};

TEST_F(CodeDiffTest, ShowsFilesAndLinesThatDiffer) {
  AddJob(1, {{"model.py", "a = 1\nb = 2\n"}, {"old.py", "old\n"}, {"same.py", "same\n"}});
  AddJob(2, {{"model.py", "a = 1\nb = 3\n"}, {"new.py", "new\n"}, {"same.py", "same\n"}});
  const CliResult result = Run({"diff", "1", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("job 1 tiny: 3 files, "));
  EXPECT_THAT(result.out, HasSubstr("job 2 tiny: 3 files, "));
  EXPECT_THAT(result.out, HasSubstr("--- a/model.py\n+++ b/model.py\n@@ -1,2 +1,2 @@\n a = 1\n"
                                    "-b = 2\n+b = 3\n"));
  EXPECT_THAT(result.out, HasSubstr("--- a/old.py\n+++ /dev/null\n"));
  EXPECT_THAT(result.out, HasSubstr("--- /dev/null\n+++ b/new.py\n"));
  EXPECT_THAT(result.out, Not(HasSubstr("same.py")));
}

TEST_F(CodeDiffTest, ListsFilesWithoutLines) {
  AddJob(1, {{"model.py", "1\n"}});
  AddJob(2, {{"model.py", "22\n"}, {"new.py", "new\n"}});
  const CliResult table = Run({"diff", "1", "2", "--files"});
  EXPECT_THAT(table.out, HasSubstr("changed"));
  EXPECT_THAT(table.out, Not(HasSubstr("@@")));
  const auto rows = nlohmann::json::parse(Run({"diff", "1", "2", "-o", "json"}).out);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(
      rows[0],
      (nlohmann::json{
          {"change", "changed"}, {"file", "model.py"}, {"bytes_before", 2}, {"bytes_after", 3}}));
  EXPECT_EQ(rows[1]["change"], "added");
}

TEST_F(CodeDiffTest, NamesFilesWhoseLinesAreNotShown) {
  const std::string binary("a\0b", 3);
  AddJob(1, {{"weights", binary}, {"empty", ""}});
  AddJob(2, {{"weights", binary + "c"}, {"empty", "text\n"}});
  const CliResult result = Run({"diff", "1", "2"});
  EXPECT_THAT(result.out, HasSubstr("weights: binary, or too many lines differ"));
  EXPECT_THAT(result.out, HasSubstr("--- a/empty\n+++ b/empty\n@@ -0,0 +1 @@\n+text\n"));
}

TEST_F(CodeDiffTest, EqualCodeAndMissingCodeAreStated) {
  AddJob(1, {{"train.py", "1\n"}});
  AddJob(2, {{"train.py", "1\n"}});
  AddJobWithoutCode(3);
  EXPECT_THAT(Run({"diff", "1", "2"}).out, HasSubstr("both jobs run the same code\n"));
  const CliResult result = Run({"diff", "1", "3"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("job 3 has no copy of its code; `code: {path: .}`"));
}

TEST_F(CodeDiffTest, ShowsTheUncommittedChangesOfOneJob) {
  AddJob(1, {{"train.py", "1\n"}});
  EXPECT_THAT(Run({"diff", "1"}).err, HasSubstr("job 1 has no stored uncommitted changes; name a "
                                                "second job to compare their code"));
  v1::CodeRecord& record =
      *answers().jobs["1"].mutable_job()->mutable_spec()->mutable_code()->mutable_record();
  record.set_diff(server().code().Add("-one\n+two\n"));
  record.set_diff_cut(true);
  const CliResult result = Run({"diff", "1"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.out, "-one\n+two\n");
  EXPECT_THAT(result.err, HasSubstr("only the first megabyte of the uncommitted changes"));
}

TEST_F(CodeDiffTest, CodeThatTheControllerLacksIsAnError) {
  AddJob(1, {{"train.py", "1\n"}});
  AddJobWithoutCode(2).mutable_spec()->mutable_code()->set_snapshot(std::string(64, 'a'));
  const CliResult result = Run({"diff", "1", "2"});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("the store has no blob"));
}

}  // namespace
}  // namespace trainyard::cli
