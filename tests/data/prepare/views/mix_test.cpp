#include "data/prepare/views/mix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "data/tokens/output_directory.h"
#include "tests/data/prepare/splits/prepared_data.h"

namespace trainyard::data {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Returns JSON lines with about this number of bytes of text.
std::string TextLines(size_t bytes) {
  std::string lines;
  for (size_t i = 0; i < bytes / 200; ++i) {
    lines += json{{"text", Prose(200, i)}}.dump() + "\n";
  }
  return lines;
}

// Prepares the data sets web (about 200,000 tokens) and Code (about 20,000).
class MixTest : public testing::Test {
 protected:
  MixTest() {
    Prepare("web", 200'000, "byte");
    Prepare("Code", 20'000, "byte");
    options_.file = directory_ / "mix.yaml";
    options_.out = directory_ / "mixed";
    WriteMix("blend: [0.67 web, 0.30 Code]\n");
  }

  void Prepare(const std::string& name, size_t bytes, const std::string& tokenizer,
               const std::string& format = "trainyard") {
    directory_.Write(name + "-text/a.jsonl", TextLines(bytes));
    PrepareOptions options;
    options.inputs = {directory_ / (name + "-text")};
    options.out = directory_ / name;
    options.tokenizer = tokenizer;
    options.vocab_size = 512;
    options.format = format;
    const auto summary = PrepareQuietly(options);
    ASSERT_TRUE(summary.ok()) << summary.status();
  }

  void WriteMix(const std::string& text) { directory_.Write("mix.yaml", text); }

  int64_t TokensIn(const std::string& name) const {
    return JsonFile(directory_ / (name + "/train.json"))["tokens"];
  }

  std::string ErrorOfMix(absl::StatusCode code) const {
    const auto result = MixData(options_);
    EXPECT_EQ(result.status().code(), code);
    EXPECT_FALSE(std::filesystem::exists(options_.out));
    return std::string(result.status().message());
  }

  std::string ErrorOfFile(const std::string& text) {
    WriteMix(text);
    return ErrorOfMix(absl::StatusCode::kInvalidArgument);
  }

  const TextDirectory directory_;
  MixOptions options_;
};

TEST_F(MixTest, WritesTheBlendAsAJobFile) {
  const auto result = MixData(options_);
  ASSERT_TRUE(result.ok()) << result.status();
  const std::string path = directory_.path();
  EXPECT_THAT(ReadFile(options_.out + "/data.yaml"),
              HasSubstr("\ndata:\n  blend:\n    - \"67 " + path + "/web\"\n    - \"30 " + path +
                        "/Code\"\n"));
  const json description = JsonFile(options_.out + "/" + kMixFile);
  EXPECT_EQ(description["weight_sum"], 0.97);
  EXPECT_EQ(description["sources"][1]["name"], "code");
  EXPECT_EQ(description["sources"][1]["tokens"], TokensIn("Code"));
  EXPECT_EQ(description["sources"][1]["xxh64"]["train.bin"],
            JsonFile(directory_ / "Code/train.json")["xxh64"]);
  EXPECT_EQ(description["stages"][0]["weights"][0], 67.0 / 97);
  EXPECT_FALSE(description["sources"][0].contains("epochs"));
  EXPECT_THAT(MixText(*result),
              AllOf(HasSubstr("the weights sum to 0.97 and are normalized to 1\n"),
                    HasSubstr("69.07 %"), HasSubstr("30.93 %"), Not(HasSubstr("EPOCHS")),
                    HasSubstr("tokenizer: byte of 257 ids\n"), Not(HasSubstr("warning"))));
}

TEST_F(MixTest, WarnsAboveFourPasses) {
  WriteMix("blend: [0.5 web, 0.5 Code]\n");
  options_.tokens = 8 * TokensIn("Code");
  auto result = MixData(options_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->uses[1].tokens, 4.0 * static_cast<double>(TokensIn("Code")));
  EXPECT_EQ(result->uses[1].passes, 4);
  EXPECT_THAT(result->warnings, IsEmpty());
  EXPECT_THAT(MixText(*result), AllOf(HasSubstr("EPOCHS"), Not(HasSubstr("sum to"))));
  options_.tokens += 1000;
  options_.force = true;
  result = MixData(options_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->warnings, ElementsAre(AllOf(HasSubstr("/Code is read 4.0"),
                                                  HasSubstr("lower its weight, or add data"))));
  EXPECT_THAT(MixText(*result), HasSubstr("\nwarning: "));
}

TEST_F(MixTest, StagesCountByTheirSteps) {
  WriteMix("blend: [1 web, 0 Code]\nblend_stages: [11 web=.5 code=1.5, 100 code=1]\n");
  options_.tokens = 20'000;
  options_.step_tokens = 1000;
  const auto result = MixData(options_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->uses[0].tokens, 12'500);
  EXPECT_EQ(result->uses[1].tokens, 7'500);
  EXPECT_THAT(result->warnings,
              ElementsAre(HasSubstr("the weights of step 100 are not used, because the tokens")));
  EXPECT_THAT(ReadFile(options_.out + "/data.yaml"),
              HasSubstr("  blend_stages:\n    - \"11 web=1 code=3\"\n    - \"100 code=1\"\n"));
  EXPECT_THAT(MixText(*result), HasSubstr("from step 11: web 25 %, code 75 %\n"));
}

TEST_F(MixTest, StagesNeedTheTokensOfAStep) {
  WriteMix("blend: [1 web, 0 Code]\nblend_stages: [11 code=1]\n");
  options_.tokens = 20'000;
  EXPECT_THAT(ErrorOfMix(absl::StatusCode::kInvalidArgument),
              HasSubstr("--tokens needs --step-tokens"));
  options_.tokens = 0;
  EXPECT_TRUE(MixData(options_).ok());
}

TEST_F(MixTest, EqualInputsGiveEqualFiles) {
  options_.tokens = 1'000'000;
  ASSERT_TRUE(MixData(options_).ok());
  const std::string settings = ReadFile(options_.out + "/data.yaml");
  const std::string description = ReadFile(options_.out + "/" + kMixFile);
  EXPECT_EQ(MixData(options_).status().code(), absl::StatusCode::kAlreadyExists);
  options_.force = true;
  ASSERT_TRUE(MixData(options_).ok());
  EXPECT_EQ(ReadFile(options_.out + "/data.yaml"), settings);
  EXPECT_EQ(ReadFile(options_.out + "/" + kMixFile), description);
}

TEST_F(MixTest, RefusesOtherTokenizers) {
  std::filesystem::remove_all(directory_ / "Code");
  Prepare("Code", 20'000, "bpe");
  EXPECT_THAT(ErrorOfMix(absl::StatusCode::kInvalidArgument),
              AllOf(HasSubstr("/Code has another tokenizer"), HasSubstr("byte of 257 ids")));
}

TEST_F(MixTest, NanogptNeedsOneFormat) {
  std::filesystem::remove_all(directory_ / "Code");
  Prepare("Code", 20'000, "byte", "nanogpt");
  EXPECT_THAT(ErrorOfMix(absl::StatusCode::kInvalidArgument),
              HasSubstr("prepare all data sets in the same format"));
  WriteMix("blend: [1 Code]\n");
  ASSERT_TRUE(MixData(options_).ok());
  EXPECT_THAT(ReadFile(options_.out + "/data.yaml"), HasSubstr("\n  format: nanogpt\n"));
}

TEST_F(MixTest, RefusesDamagedDataSets) {
  directory_.Write("Code/train.bin", "x");
  EXPECT_THAT(ErrorOfMix(absl::StatusCode::kDataLoss),
              AllOf(HasSubstr("Code/train.bin: has 1 bytes instead of"),
                    HasSubstr("run `trainyard data verify ")));
  std::filesystem::remove(directory_ / "Code/train.bin");
  EXPECT_THAT(ErrorOfMix(absl::StatusCode::kDataLoss), HasSubstr("train.bin: cannot be read: "));
  WriteMix("blend: [1 web, 1 none]\n");
  EXPECT_THAT(ErrorOfMix(absl::StatusCode::kNotFound), HasSubstr("/none: has neither train.json"));
  directory_.Write("web/tokenizer.json", "{}");
  EXPECT_THAT(ErrorOfMix(absl::StatusCode::kDataLoss), HasSubstr("does not describe a tokenizer"));
}

TEST_F(MixTest, WarnsAboutAMissingValidationSplit) {
  std::filesystem::remove(directory_ / "Code/val.bin");
  std::filesystem::remove(directory_ / "Code/val.json");
  const auto result = MixData(options_);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_THAT(result->warnings, ElementsAre(HasSubstr("/Code has no validation split")));
}

TEST_F(MixTest, RefusesBadFilesWithTheirLine) {
  EXPECT_THAT(ErrorOfFile("blend: [1 web]\nweights: 1\n"),
              HasSubstr("mix.yaml:2: unknown key `weights`; use blend or blend_stages"));
  EXPECT_THAT(ErrorOfFile("blend: [1 web]\nblend: [1 web]\n"), HasSubstr(":2: second `blend`"));
  EXPECT_THAT(ErrorOfFile("blend: 1 web\n"), HasSubstr("`blend` must be a list of at most 64"));
  EXPECT_THAT(ErrorOfFile("blend: [[1, web]]\n"), HasSubstr("must be a text such as 0.7 c4"));
  EXPECT_THAT(ErrorOfFile("blend: []\n"), HasSubstr("has no `blend`"));
  EXPECT_THAT(ErrorOfFile(""), HasSubstr("must be a mapping with `blend`"));
  EXPECT_THAT(ErrorOfFile("blend: [1 web\n"), HasSubstr("not valid YAML"));
  EXPECT_THAT(ErrorOfFile("blend: [\"1 \\xFF\"]\n\xFF"), HasSubstr("not UTF-8"));
  EXPECT_THAT(ErrorOfFile("blend: [0 web]\n"), HasSubstr("write each entry as WEIGHT PATH"));
  EXPECT_THAT(ErrorOfFile("blend: [1 web]\nblend_stages: [5 Web=1]\n"),
              HasSubstr("names `Web`, which is not a source"));
  EXPECT_THAT(ErrorOfFile(std::string((1 << 20) + 1, '#')), HasSubstr("larger than 1 MiB"));
  options_.file = directory_ / "missing.yaml";
  EXPECT_THAT(ErrorOfMix(absl::StatusCode::kNotFound), HasSubstr("missing.yaml: cannot read"));
}

}  // namespace
}  // namespace trainyard::data
