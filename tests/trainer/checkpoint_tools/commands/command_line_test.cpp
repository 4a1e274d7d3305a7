#include "trainer/checkpoint_tools/commands/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/config/error_of.h"

namespace trainyard::trainer {
namespace {

using testing::HasSubstr;

template <typename Command>
Command Parsed(const std::vector<std::string>& arguments) {
  return std::get<Command>(ParseCheckpointCommand(arguments));
}

TEST(CheckpointCommandLineTest, Verify) {
  EXPECT_EQ(Parsed<VerifyOptions>({"verify", "dir"}).directory, "dir");
  EXPECT_FALSE(Parsed<VerifyOptions>({"verify", "dir"}).all);
  EXPECT_TRUE(Parsed<VerifyOptions>({"verify", "dir", "--all"}).all);
  EXPECT_EQ(Parsed<VerifyOptions>({"verify", "--", "--all"}).directory, "--all");
}

TEST(CheckpointCommandLineTest, Diff) {
  const DiffCommand plain = Parsed<DiffCommand>({"diff", "a", "b"});
  EXPECT_EQ(plain.options.a, "a");
  EXPECT_EQ(plain.options.b, "b");
  EXPECT_EQ(plain.options.tolerance, 0);
  EXPECT_EQ(plain.options.only, "");
  EXPECT_FALSE(plain.all_tensors);
  EXPECT_FALSE(plain.json);
  const DiffCommand all = Parsed<DiffCommand>(
      {"diff", "--tolerance", "1e-5", "a", "--only=weights", "--all", "--output=json", "b"});
  EXPECT_EQ(all.options.b, "b");
  EXPECT_EQ(all.options.tolerance, 1e-5);
  EXPECT_EQ(all.options.only, "weights");
  EXPECT_TRUE(all.all_tensors);
  EXPECT_TRUE(all.json);
  EXPECT_FALSE(Parsed<DiffCommand>({"diff", "--output", "table", "a", "b"}).json);
}

TEST(CheckpointCommandLineTest, Reshard) {
  const ReshardOptions plain = Parsed<ReshardOptions>({"reshard", "in", "out"});
  EXPECT_EQ(plain.from, "in");
  EXPECT_EQ(plain.to, "out");
  EXPECT_EQ(plain.files, 0);
  EXPECT_FALSE(plain.weights_only);
  EXPECT_FALSE(plain.replace);
  const ReshardOptions all = Parsed<ReshardOptions>(
      {"reshard", "--files", "8", "--weights-only", "--force", "--", "-in", "-out"});
  EXPECT_EQ(all.from, "-in");
  EXPECT_EQ(all.to, "-out");
  EXPECT_EQ(all.files, 8);
  EXPECT_TRUE(all.weights_only);
  EXPECT_TRUE(all.replace);
}

TEST(CheckpointCommandLineTest, Import) {
  const ImportOptions plain = Parsed<ImportOptions>({"import", "in", "out"});
  EXPECT_EQ(plain.from, "in");
  EXPECT_EQ(plain.to, "out");
  EXPECT_FALSE(plain.replace);
  EXPECT_TRUE(Parsed<ImportOptions>({"import", "in", "out", "--force"}).replace);
}

TEST(CheckpointCommandLineTest, Export) {
  const ExportOptions plain = Parsed<ExportOptions>({"export", "in", "out"});
  EXPECT_EQ(plain.from, "in");
  EXPECT_EQ(plain.to, "out");
  EXPECT_EQ(plain.shard_bytes, 5'000'000'000);
  EXPECT_FALSE(plain.dtype.has_value());
  EXPECT_FALSE(plain.replace);
  const ExportOptions all = Parsed<ExportOptions>(
      {"export", "--dtype=bf16", "--shard-bytes", "100", "--force", "in", "out"});
  EXPECT_EQ(all.dtype, torch::kBFloat16);
  EXPECT_EQ(all.shard_bytes, 100);
  EXPECT_TRUE(all.replace);
  EXPECT_EQ(Parsed<ExportOptions>({"export", "--dtype=fp32", "in", "out"}).dtype, torch::kFloat32);
}

TEST(CheckpointCommandLineTest, Answers) {
  EXPECT_THAT(Parsed<Answer>({"--help"}).text, HasSubstr("reshard IN OUT"));
  EXPECT_THAT(Parsed<Answer>({"--help"}).text, HasSubstr("import DIR OUT"));
  EXPECT_THAT(Parsed<Answer>({"--help"}).text, HasSubstr("export IN DIR"));
  EXPECT_THAT(Parsed<Answer>({"diff", "-h"}).text, HasSubstr("reshard IN OUT"));
  EXPECT_THAT(Parsed<Answer>({"--version"}).text, HasSubstr("trainyard-ckpt "));
}

TEST(CheckpointCommandLineTest, RefusesWhatItDoesNotKnow) {
  const auto expect = [](const std::vector<std::string>& arguments, const std::string& part) {
    const std::string error = ErrorOf([&] { ParseCheckpointCommand(arguments); }, ExitCode::kUsage);
    EXPECT_THAT(error, HasSubstr(part));
    EXPECT_THAT(error, HasSubstr("; see trainyard-ckpt --help"));
  };
  expect({}, "no command: verify, diff, reshard, import or export");
  expect({"merge"}, "unknown command `merge`");
  expect({"verify"}, "`verify` takes DIR, but got 0 arguments");
  expect({"verify", "a", "b"}, "`verify` takes DIR, but got 2 arguments");
  expect({"verify", ""}, "an argument is empty");
  expect({"verify", "a", "--al"}, "`verify` has no option `--al`");
  expect({"verify", "a", "--all=yes"}, "`--all` takes no value");
  expect({"diff", "a"}, "`diff` takes A B, but got 1 arguments");
  expect({"diff", "a", "b", "--files", "3"}, "`diff` has no option `--files`");
  expect({"diff", "a", "b", "--tolerance"}, "`--tolerance` needs a value");
  expect({"diff", "a", "b", "--only="}, "`--only` needs a value");
  expect({"diff", "a", "b", "--output", "csv"}, "`--output` must be table or json");
  for (const char* bad : {"-1", "x", "1e-5x", "nan"}) {
    expect({"diff", "a", "b", "--tolerance", bad}, "must be a number, 0 or more");
  }
  for (const char* bad : {"0", "-3", "100000", "2.5", "99999999999999999999"}) {
    expect({"reshard", "a", "b", "--files", bad}, "must be a whole number from 1 to 99999");
  }
  expect({"import", "a"}, "`import` takes DIR OUT, but got 1 arguments");
  expect({"export", "a", "b", "--files", "3"}, "`export` has no option `--files`");
  expect({"export", "a", "b", "--dtype", "fp16"}, "`--dtype fp16` must be fp32 or bf16");
  for (const char* bad : {"0", "-3", "5GB", "99999999999999999999"}) {
    expect({"export", "a", "b", "--shard-bytes", bad}, "must be a whole number of bytes, 1 or");
  }
}

}  // namespace
}  // namespace trainyard::trainer
