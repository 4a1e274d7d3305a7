#include "data/prepare/tokenizers/count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/data/prepare/splits/prepared_data.h"

namespace trainyard::data {
namespace {

using testing::HasSubstr;

CountOptions Count(const TextDirectory& directory, std::vector<std::string> tokenizers) {
  CountOptions options;
  options.inputs = {directory / "in"};
  options.tokenizers = std::move(tokenizers);
  options.jobs = 2;
  return options;
}

absl::StatusOr<CountResult> CountQuietly(const CountOptions& options) {
  // Each look at the clock takes half a second.
  double now = 0;
  Progress progress({false, nullptr, [&now] { return now += 0.5; }});
  return CountTokens(options, &progress, kNeverCancelled);
}

TEST(CountTokensTest, AgreesWithPrepare) {
  const TextDirectory directory;
  directory.Write("in/a.txt", Prose(2500000, 1));
  directory.Write("in/b.jsonl", "{\"text\": \"one <|endoftext|>\"}\n{\"text\": \"\"}\n");
  directory.Write("in/c.pod", "=head1 NAME\n\n" + Prose(90000, 6));
  const auto result = CountQuietly(Count(directory, {"gpt2", "byte"}));
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(result->files, 3);
  ASSERT_EQ(result->tokenizers.size(), 2u);
  for (const TokenizerCount& count : result->tokenizers) {
    const auto prepared = PrepareQuietly(TrainOnly(directory, count.source, count.source));
    ASSERT_TRUE(prepared.ok()) << prepared.status();
    EXPECT_EQ(count.documents, 3) << "a document without text is not counted";
    EXPECT_EQ(count.documents, prepared->train.documents);
    EXPECT_EQ(count.bytes, prepared->train.source_bytes);
    EXPECT_EQ(count.tokens, prepared->train.tokens - prepared->train.documents);
    EXPECT_EQ(count.special_documents, count.source == "gpt2" ? 1 : 0);
    EXPECT_GE(count.seconds, 0.5);
    EXPECT_EQ(count.fingerprint,
              JsonFile(directory / (count.source + "/tokenizer.json"))["fingerprint"]);
  }
}

// The clock advances only when Perl starts.
TEST(CountTokensTest, TheTimeExcludesTheConversionOfPod) {
  const TextDirectory directory;
  directory.Write("in/a.pod", "=head1 NAME\n\ntext\n");
  directory.Write("bin/perl",
                  "#!/bin/sh\necho run >> " + directory / "runs" + "\nexec /usr/bin/perl \"$@\"\n");
  std::filesystem::permissions(directory / "bin/perl", std::filesystem::perms::owner_all);
  const std::string path = getenv("PATH");
  setenv("PATH", (directory / "bin:" + path).c_str(), 1);
  const auto seconds = [&directory] {
    std::ifstream runs(directory / "runs");
    return static_cast<double>(std::count(std::istreambuf_iterator<char>(runs), {}, '\n'));
  };
  Progress progress({false, nullptr, seconds});
  const auto result = CountTokens(Count(directory, {"byte", "gpt2"}), &progress, kNeverCancelled);
  setenv("PATH", path.c_str(), 1);
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(seconds(), 1) << "the text is cached";
  for (const TokenizerCount& count : result->tokenizers) EXPECT_EQ(count.seconds, 0);
}

TEST(CountTokensTest, PrintsTextAndJson) {
  CountResult result;
  result.files = 2;
  result.bad_lines = "1 of 9 lines skipped";
  result.tokenizers = {{"gpt2", "gpt2", "00ff", 50257, 12345, 2000000, 500000, 3, 0.5}};
  const std::string text = CountText(result);
  EXPECT_THAT(text, HasSubstr("TOKENIZER"));
  EXPECT_THAT(text, HasSubstr("12,345"));
  EXPECT_THAT(text, HasSubstr("500,000        4.000      0.50      4.0\n"));
  EXPECT_THAT(text, HasSubstr("3 documents contain special tokens of gpt2\n"));
  EXPECT_THAT(text, HasSubstr("bad lines: 1 of 9 lines skipped\n"));
  const nlohmann::json json = nlohmann::json::parse(CountJson(result));
  EXPECT_EQ(json["files"], 2);
  EXPECT_EQ(json["tokenizers"][0]["tokens"], 500000);
  EXPECT_EQ(json["tokenizers"][0]["bytes_per_token"], 4.0);
  EXPECT_EQ(json["tokenizers"][0]["megabytes_per_second"], 4.0);
}

// All tokenizers are loaded before the first one counts.
TEST(CountTokensTest, RefusesUnknownTokenizersAtOnce) {
  const TextDirectory directory;
  directory.Write("in/a.txt", "text");
  const absl::Status status = CountQuietly(Count(directory, {"gpt2", "none"})).status();
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("none: cannot open"));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("name the path of a tokenizer, gpt2 or byte"));
  EXPECT_THAT(std::string(CountQuietly(Count(directory, {"bpe"})).status().message()),
              HasSubstr("a bpe tokenizer is trained by data prepare"));
}

}  // namespace
}  // namespace trainyard::data
