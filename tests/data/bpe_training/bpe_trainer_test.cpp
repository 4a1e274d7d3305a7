#include "data/bpe_training/bpe_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Words = std::vector<std::pair<std::string, uint64_t>>;

absl::StatusOr<TrainedBpe> Train(const Words& words, TrainingOptions options = {}) {
  absl::StatusOr<BpeTrainer> trainer = BpeTrainer::Create(std::move(options));
  if (!trainer.ok()) return trainer.status();
  for (const auto& [word, count] : words) {
    const absl::Status added = trainer->Add(word, count);
    if (!added.ok()) return added;
  }
  return trainer->Train();
}

// The merges as texts, such as "a+b". Fails the test on an error.
std::vector<std::string> MergesOf(const Words& words, TrainingOptions options = {}) {
  const absl::StatusOr<TrainedBpe> trained = Train(words, std::move(options));
  EXPECT_TRUE(trained.ok()) << trained.status();
  std::vector<std::string> merges;
  if (!trained.ok()) return merges;
  for (const BpeMerge& merge : trained->merges) {
    merges.push_back(trained->tokens[merge.left] + "+" + trained->tokens[merge.right]);
  }
  return merges;
}

std::vector<std::string> TokensOf(const Words& words, TrainingOptions options = {}) {
  const absl::StatusOr<TrainedBpe> trained = Train(words, std::move(options));
  EXPECT_TRUE(trained.ok()) << trained.status();
  return trained.ok() ? trained->tokens : std::vector<std::string>{};
}

TEST(BpeTrainerTest, MergesTheMostFrequentPairFirst) {
  EXPECT_THAT(MergesOf({{"hug", 10}, {"pug", 5}, {"pun", 12}, {"bun", 4}, {"hugs", 5}}),
              ElementsAre("u+g", "u+n", "h+ug", "p+un", "p+ug", "hug+s", "b+un"));
}

TEST(BpeTrainerTest, MergesTheLeastPairOfEqualCounts) {
  // Ids: a 0, b 1, c 2, d 3.
  EXPECT_THAT(MergesOf({{"cd", 3}, {"ba", 3}, {"ab", 3}, {"ac", 3}}),
              ElementsAre("a+b", "a+c", "b+a", "c+d"));
}

TEST(BpeTrainerTest, ComparesIdsAndNotTextsForEqualCounts) {
  // After "b+c", the pairs (a, b) and (bc, d) have count 2. The id of "bc" is larger.
  EXPECT_THAT(MergesOf({{"ab", 2}, {"bc", 1}, {"bcd", 2}}), ElementsAre("b+c", "a+b", "bc+d"));
}

TEST(BpeTrainerTest, ReplacesOverlapsFromTheLeft) {
  // (a, a) occurs three times in "aaaa" and is replaced twice.
  EXPECT_THAT(MergesOf({{"aaaa", 1}}), ElementsAre("a+a", "aa+aa"));
  EXPECT_THAT(MergesOf({{"aaaaa", 1}}), ElementsAre("a+a", "aa+a", "aa+aaa"));
  EXPECT_THAT(MergesOf({{"xaaa", 1}}), ElementsAre("a+a", "x+aa", "xaa+a"));
}

TEST(BpeTrainerTest, CountsTheNewSymbolAsTheLeftNeighbor) {
  EXPECT_THAT(MergesOf({{"abab", 1}}), ElementsAre("a+b", "ab+ab"));
  EXPECT_THAT(MergesOf({{"ababab", 1}, {"abab", 1}}), ElementsAre("a+b", "ab+ab", "abab+ab"));
}

TEST(BpeTrainerTest, UsesTheIdOfAnEqualSpecialToken) {
  TrainingOptions options;
  options.special_tokens = {"abc"};
  const Words words{{"abcd", 3}, {"abc", 1}};
  EXPECT_THAT(TokensOf(words, options), ElementsAre("abc", "a", "b", "c", "d", "ab", "abcd"));
  EXPECT_THAT(MergesOf(words, options), ElementsAre("a+b", "ab+c", "abc+d"));
}

TEST(BpeTrainerTest, UsesASpecialTokenOfOneByteAsThatByte) {
  TrainingOptions options;
  options.special_tokens = {"b"};
  // The pair (b, c) has a lower left id than (a, b).
  EXPECT_THAT(TokensOf({{"abc", 1}}, options), ElementsAre("b", "a", "c", "bc", "abc"));
}

TEST(BpeTrainerTest, HasSpecialTokensFirstInTheirOrder) {
  TrainingOptions options;
  options.special_tokens = {"[UNK]", "[BOS]", "é"};
  const absl::StatusOr<TrainedBpe> trained = Train({{"ba", 1}}, options);
  ASSERT_TRUE(trained.ok()) << trained.status();
  EXPECT_THAT(trained->tokens, ElementsAre("[UNK]", "[BOS]", "é", "a", "b", "ba"));
  EXPECT_EQ(trained->special_tokens, 3u);
  EXPECT_THAT(trained->merges, ElementsAre(BpeMerge{4, 3}));
}

TEST(BpeTrainerTest, SortsTheAlphabetByMappedCodePoints) {
  // Byte 0xC3 maps to itself, the space to U+0120, byte 0xAD to U+0143.
  EXPECT_THAT(TokensOf({{" ", 1}, {"\xC3\xAD", 1}, {"z", 1}}),
              ElementsAre("z", "\u00C3", "\u0120", "\u0143", "\u00C3\u0143"));
}

TEST(BpeTrainerTest, AddsInitialBytes) {
  TrainingOptions options;
  options.initial_bytes = "zb";
  EXPECT_THAT(TokensOf({{"ab", 1}}, options), ElementsAre("a", "b", "z", "ab"));
  for (int byte = 0; byte < 256; ++byte) options.initial_bytes += static_cast<char>(byte);
  EXPECT_EQ(TokensOf({}, options).size(), 256u);
}

TEST(BpeTrainerTest, HasOnlySpecialTokensWithoutWords) {
  EXPECT_THAT(TokensOf({}), IsEmpty());
  TrainingOptions options;
  options.special_tokens = {"[UNK]"};
  EXPECT_THAT(TokensOf({}, options), ElementsAre("[UNK]"));
}

TEST(BpeTrainerTest, StopsAtTheVocabularySize) {
  TrainingOptions options;
  options.vocabulary_size = 4;
  EXPECT_THAT(TokensOf({{"abc", 1}}, options), ElementsAre("a", "b", "c", "ab"));
  options.vocabulary_size = 3;
  EXPECT_THAT(MergesOf({{"abc", 1}}, options), IsEmpty());
}

TEST(BpeTrainerTest, StopsBelowTheMinimumFrequency) {
  const Words words{{"ab", 5}, {"cd", 4}, {"ef", 3}};
  TrainingOptions options;
  options.min_frequency = 4;
  EXPECT_THAT(MergesOf(words, options), ElementsAre("a+b", "c+d"));
  options.min_frequency = 6;
  EXPECT_THAT(MergesOf(words, options), IsEmpty());
}

TEST(BpeTrainerTest, LimitsTheLengthOfNewTokens) {
  const Words words{{"abcdef", 2}, {"abc", 1}};
  TrainingOptions options;
  options.max_token_length = 4;
  EXPECT_THAT(MergesOf(words, options), ElementsAre("a+b", "ab+c", "d+e", "de+f"));
  options.max_token_length = 3;
  EXPECT_THAT(MergesOf(words, options), ElementsAre("a+b", "c+d", "e+f"));
  // Pairs of the initial words are not limited.
  options.max_token_length = 1;
  EXPECT_THAT(MergesOf({{"ab", 1}}, options), ElementsAre("a+b"));
}

TEST(BpeTrainerTest, CountsBeyond32Bits) {
  // The counts are equal modulo 2^32. In 32 bits, the first would be negative.
  EXPECT_THAT(MergesOf({{"xy", (uint64_t{1} << 31) + 1},
                        {"ab", (uint64_t{1} << 32) + 5},
                        {"cd", uint64_t{3} << 31}}),
              ElementsAre("c+d", "a+b", "x+y"));
}

TEST(BpeTrainerTest, DoesNotDependOnTheOrderOfWords) {
  Words words;
  uint64_t state = 1;
  for (int i = 0; i < 2'000; ++i) {
    std::string word;
    for (uint64_t length = 1 + i % 9; length > 0; --length) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      word += static_cast<char>('a' + (state >> 60) % 3);
    }
    words.emplace_back(word, 1 + i % 4);
  }
  const std::vector<std::string> merges = MergesOf(words);
  EXPECT_GT(merges.size(), 1'000u);
  EXPECT_EQ(MergesOf({words.rbegin(), words.rend()}), merges);
}

TEST(BpeTrainerTest, RefusesUnusableOptions) {
  const auto error = [](const TrainingOptions& options) {
    return std::string(BpeTrainer::Create(options).status().message());
  };
  EXPECT_THAT(error({.vocabulary_size = 0}), HasSubstr("vocabulary size 0"));
  EXPECT_THAT(error({.vocabulary_size = 0xFFFFFFFF}), HasSubstr("is not from 1 to"));
  EXPECT_THAT(error({.special_tokens = {"x", ""}}), HasSubstr("is empty"));
  EXPECT_THAT(error({.special_tokens = {"x", "y", "x"}}), HasSubstr("x is listed twice"));
  EXPECT_THAT(error({.special_tokens = {"\xff"}}), HasSubstr("not valid UTF-8"));
}

TEST(BpeTrainerTest, RefusesAVocabularySmallerThanTheAlphabet) {
  TrainingOptions options;
  options.vocabulary_size = 3;
  options.special_tokens = {"[UNK]"};
  const absl::Status status = Train({{"abc", 1}}, options).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("choose at least 4"));
}

TEST(BpeTrainerTest, RefusesCountsThatOverflow) {
  const absl::Status status = Train({{"ab", uint64_t{1} << 61}, {"c", 1}}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Train({{"ab", ~uint64_t{0}}}).status().code(), absl::StatusCode::kOutOfRange);
  EXPECT_TRUE(Train({{"ab", uint64_t{1} << 61}}).ok());
}

TEST(BpeTrainerTest, StopsAtItsMemoryLimit) {
  TrainingOptions options;
  options.memory_bytes = 1'000;
  const absl::Status words = Train({{std::string(1'000, 'a'), 1}}, options).status();
  EXPECT_EQ(words.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(words.message(), HasSubstr("raise the limit, or use less text"));
  // Enough for the words, but not for the pairs.
  EXPECT_EQ(Train({{"ab", 1}}, options).status().code(), absl::StatusCode::kResourceExhausted);
  options.memory_bytes = 1 << 20;
  EXPECT_TRUE(Train({{"ab", 1}}, options).ok());
}

}  // namespace
}  // namespace trainyard::data
