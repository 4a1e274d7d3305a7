#include "cli/commands/checkpoints/checkpoint_program.h"

#include "cli/commands/checkpoints/diff.h"
#include "cli/commands/checkpoints/export.h"
#include "cli/commands/checkpoints/import.h"
#include "cli/commands/checkpoints/reshard.h"
#include "cli/commands/checkpoints/verify.h"
#include "gmock/gmock.h"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(CheckpointWordsTest, OptionsThatAreNotGivenAreLeftToTheProgram) {
  EXPECT_THAT(VerifyWords({"dir", false}), ElementsAre("verify", "--", "dir"));
  EXPECT_THAT(DiffWords({"a", "b", "", "", false}, OutputFormat::kTable),
              ElementsAre("diff", "--", "a", "b"));
  EXPECT_THAT(ReshardWords({"in", "out", 0, false, false}),
              ElementsAre("reshard", "--", "in", "out"));
  EXPECT_THAT(ImportWords({"in", "out", false}), ElementsAre("import", "--", "in", "out"));
  EXPECT_THAT(ExportWords({"in", "out", "", 0, false}), ElementsAre("export", "--", "in", "out"));
}

TEST(CheckpointWordsTest, EveryOptionReachesTheProgram) {
  EXPECT_THAT(VerifyWords({"-dir", true}), ElementsAre("verify", "--all", "--", "-dir"));
  EXPECT_THAT(DiffWords({"a", "b", "1e-5", "model.", true}, OutputFormat::kJson),
              ElementsAre("diff", "--tolerance=1e-5", "--only=model.", "--all", "--output=json",
                          "--", "a", "b"));
  EXPECT_THAT(ReshardWords({"in", "out", 12, true, true}),
              ElementsAre("reshard", "--files=12", "--weights-only", "--force", "--", "in", "out"));
  EXPECT_THAT(ImportWords({"in", "out", true}),
              ElementsAre("import", "--force", "--", "in", "out"));
  EXPECT_THAT(
      ExportWords({"in", "out", "bf16", 100, true}),
      ElementsAre("export", "--dtype=bf16", "--shard-bytes=100", "--force", "--", "in", "out"));
}

class CheckpointProgramTest : public CliFixture {
 protected:
  CheckpointProgramTest() { environment_.program_directory = directory(); }
};

TEST_F(CheckpointProgramTest, TheAbsenceOfTheProgramIsExplained) {
  for (const std::vector<std::string>& line : {std::vector<std::string>{"ckpt", "verify", "x"},
                                               {"ckpt", "diff", "x", "y"},
                                               {"ckpt", "reshard", "x", "y"}}) {
    const CliResult result = Run(line);
    EXPECT_EQ(result.exit_code, 3) << "not 1, which says that checkpoints differ";
    EXPECT_THAT(
        result.err,
        HasSubstr(
            "cannot start " + directory() +
            "/trainyard-ckpt: No such file or directory\n  this program is part of the trainer"));
  }
}

TEST_F(CheckpointProgramTest, WrongCommandLinesAreRefusedAtOnce) {
  const auto expect = [this](const std::vector<std::string>& words, const std::string& part) {
    std::vector<std::string> line = {"ckpt"};
    line.insert(line.end(), words.begin(), words.end());
    const CliResult result = Run(line);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr(part));
    EXPECT_THAT(result.out, IsEmpty());
  };
  expect({"verify"}, "dir is required");
  expect({"verify", "x", "--al"}, "has no option `--al`; did you mean `--all`?");
  expect({"verify", "x", "-o", "json"}, "this command supports only -o table");
  expect({"diff", "x"}, "b is required");
  expect({"diff", "x", "y", "z"}, "unexpected `z`");
  expect({"diff", "x", "y", "--tolerance", "-1"}, "--tolerance");
  expect({"diff", "x", "y", "--only", ""}, "must not be empty");
  expect({"diff", "x", "y", "-o", "csv"}, "this command supports only -o table or json");
  expect({"reshard", "x", "y", "--files", "0"}, "--files");
  expect({"reshard", "x", "y", "-o", "yaml"}, "this command supports only -o table");
}

}  // namespace
}  // namespace trainyard::cli
