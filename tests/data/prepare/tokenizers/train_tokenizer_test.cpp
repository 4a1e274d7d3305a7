#include "data/prepare/tokenizers/train_tokenizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "data/tokenizer/load_tokenizer.h"
#include "tests/data/prepare/splits/prepared_data.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TrainTokenizerOptions TrainingOn(const TextDirectory& directory) {
  TrainTokenizerOptions options;
  options.inputs = {directory / "in"};
  options.out = directory / "tokenizer.json";
  options.vocab_size = 400;
  options.special = "[UNK],[BOS],[EOS]";
  options.jobs = 2;
  return options;
}

absl::StatusOr<TrainedSummary> TrainQuietly(const TrainTokenizerOptions& options,
                                            const std::atomic<bool>& cancelled = kNeverCancelled) {
  Progress progress = QuietProgress();
  return TrainTokenizer(options, &progress, cancelled);
}

TEST(TrainTokenizerTest, PrepareCanUseTheResult) {
  const TextDirectory directory;
  const std::string text = Prose(300000, 1) + "\xC3\xA9\xE4\xB8\xAD\n";
  directory.Write("in/a.txt", text);
  const auto trained = TrainQuietly(TrainingOn(directory));
  ASSERT_TRUE(trained.ok()) << trained.status();
  EXPECT_GT(trained->merges, 30);
  EXPECT_EQ(trained->tokens, trained->merges + 256 + 3);
  EXPECT_THAT(TrainedText(*trained), HasSubstr("--tokenizer " + trained->path + " --out DIR\n"));

  const auto prepared = PrepareQuietly(TrainOnly(directory, trained->path));
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  EXPECT_EQ(prepared->vocab_size, trained->tokens);
  EXPECT_LT(prepared->train.tokens, static_cast<int64_t>(text.size()) / 2);
  const auto tokenizer = LoadTokenizer(trained->path, {});
  ASSERT_TRUE(tokenizer.ok());
  EXPECT_EQ((*tokenizer)->end_of_document(), 2u);
  EXPECT_TRUE((*tokenizer)->Decode(IdsOf(directory / "out/train")) == text);
}

TEST(TrainTokenizerTest, ThreadsAndMemoryChangeNothing) {
  const TextDirectory directory;
  directory.Write("in/a.txt", Prose(2500000, 2));
  directory.Write("in/b.jsonl", "{\"text\": \"one\\n\\ntwo\"}\nbad\n");
  std::string first;
  for (const int jobs : {1, 2, 7}) {
    TrainTokenizerOptions options = TrainingOn(directory);
    options.jobs = jobs;
    options.memory_mib = 64 * jobs;
    options.bad_fraction = 0.9;
    options.force = true;
    const auto trained = TrainQuietly(options);
    ASSERT_TRUE(trained.ok()) << trained.status();
    EXPECT_THAT(trained->bad_lines, HasSubstr("1 of 2 lines"));
    if (jobs == 1) first = ReadFile(options.out);
    EXPECT_TRUE(first == ReadFile(options.out)) << jobs;
  }
  EXPECT_THAT(directory.Names(), ElementsAre("in", "tokenizer.json"));
}

// "\n\n" is a word of a document with empty lines, but not of a line.
TEST(TrainTokenizerTest, TheUnitDecidesWhetherLinesAreJoined) {
  const TextDirectory directory;
  std::string text;
  for (int i = 0; i < 30000; ++i) text += "a\n\n\n";  // more than one stretch of text
  directory.Write("in/a.txt", text);
  TrainTokenizerOptions options = TrainingOn(directory);
  ASSERT_TRUE(TrainQuietly(options).ok());
  const std::string joined = "\xC4\x8A\xC4\x8A\":";  // two line ends in the byte alphabet
  EXPECT_THAT(ReadFile(options.out), Not(HasSubstr(joined)));
  options.unit = "document";
  options.force = true;
  ASSERT_TRUE(TrainQuietly(options).ok());
  EXPECT_THAT(ReadFile(options.out), HasSubstr(joined));
}

TEST(TrainTokenizerTest, RefusesUnusableOptionsAndInputs) {
  const TextDirectory directory;
  directory.Write("in/a.txt", Prose(10000, 1));
  const auto error = [](const TrainTokenizerOptions& options) {
    return std::string(TrainQuietly(options).status().message());
  };
  TrainTokenizerOptions options = TrainingOn(directory);
  options.special = "a,,b";
  EXPECT_THAT(error(options), HasSubstr("a special token is empty"));
  options.special = "a,";
  EXPECT_THAT(error(options), HasSubstr("a special token is empty"));
  options.special = "a,b,a";
  EXPECT_THAT(error(options), HasSubstr("special token a is listed twice"));
  options = TrainingOn(directory);
  options.vocab_size = 258;
  EXPECT_THAT(error(options), HasSubstr("--vocab-size is less than the 259"));
  options = TrainingOn(directory);
  options.out = directory / "in";
  EXPECT_THAT(error(options), HasSubstr("exists and is not a file"));
  options.out = directory.Write("old.json", "{}");
  const auto exists = TrainQuietly(options);
  EXPECT_TRUE(absl::IsAlreadyExists(exists.status()));
  EXPECT_THAT(std::string(exists.status().message()), HasSubstr("--force"));
  EXPECT_EQ(ReadFile(options.out), "{}");
  options = TrainingOn(directory);
  EXPECT_TRUE(absl::IsCancelled(TrainQuietly(options, true).status()));
  options.inputs = {directory.Write("empty.txt", "")};
  EXPECT_THAT(error(options), HasSubstr("contain no text"));
  EXPECT_THAT(directory.Names(), ElementsAre("empty.txt", "in", "old.json"));
}

TEST(TrainTokenizerTest, NamesTheMissingEndToken) {
  const TextDirectory directory;
  directory.Write("in/a.txt", Prose(10000, 1));
  TrainTokenizerOptions options = TrainingOn(directory);
  options.special = "[UNK],[BOS]";
  const auto trained = TrainQuietly(options);
  ASSERT_TRUE(trained.ok()) << trained.status();
  EXPECT_THAT(TrainedText(*trained), HasSubstr("--end-of-document TOKEN\n"));
  PrepareOptions prepare = TrainOnly(directory, trained->path);
  EXPECT_THAT(std::string(PrepareQuietly(prepare).status().message()),
              HasSubstr("--end-of-document"));
  prepare.tokenizer_options.end_of_document = "[BOS]";
  EXPECT_TRUE(PrepareQuietly(prepare).ok());
  EXPECT_EQ(IdsOf(directory / "out/train").back(), 1u);
}

}  // namespace
}  // namespace trainyard::data
