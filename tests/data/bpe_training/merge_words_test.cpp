#include "data/bpe_training/merge_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::Pair;
using Words = std::vector<std::pair<std::string, uint64_t>>;

// Returns the given words, and then an error if one is set.
class FixedSource : public WordSource {
 public:
  explicit FixedSource(Words words, absl::Status end = absl::OkStatus())
      : words_(std::move(words)), end_(std::move(end)) {}

  absl::StatusOr<bool> Next() override {
    if (next_++ < words_.size()) return true;
    if (!end_.ok()) return end_;
    return false;
  }
  std::string_view word() const override { return words_[next_ - 1].first; }
  uint64_t count() const override { return words_[next_ - 1].second; }

 private:
  const Words words_;
  const absl::Status end_;
  size_t next_ = 0;
};

TEST(MergeWordsTest, SumsTheCountsOfAllSources) {
  std::vector<std::unique_ptr<WordSource>> sources;
  sources.push_back(std::make_unique<FixedSource>(Words{{"a", 1}, {"b", 2}, {"\xff", 3}}));
  sources.push_back(std::make_unique<FixedSource>(Words{}));
  sources.push_back(std::make_unique<FixedSource>(Words{{"aa", 5}, {"b", uint64_t{1} << 40}}));
  Words merged;
  ASSERT_TRUE(MergeWords(sources, [&merged](std::string_view word, uint64_t count) {
                merged.emplace_back(word, count);
                return absl::OkStatus();
              }).ok());
  EXPECT_THAT(merged, ElementsAre(Pair("a", 1), Pair("aa", 5), Pair("b", (uint64_t{1} << 40) + 2),
                                  Pair("\xff", 3)));
}

TEST(MergeWordsTest, ReturnsTheErrorOfASource) {
  std::vector<std::unique_ptr<WordSource>> sources;
  sources.push_back(std::make_unique<FixedSource>(Words{{"a", 1}}, absl::DataLossError("cut")));
  sources.push_back(std::make_unique<FixedSource>(Words{{"b", 1}}));
  int taken = 0;
  const absl::Status status = MergeWords(sources, [&taken](std::string_view, uint64_t) {
    ++taken;
    return absl::OkStatus();
  });
  EXPECT_EQ(status, absl::DataLossError("cut"));
  EXPECT_EQ(taken, 0);
}

TEST(MergeWordsTest, ReturnsTheErrorOfTheReceiver) {
  std::vector<std::unique_ptr<WordSource>> sources;
  sources.push_back(std::make_unique<FixedSource>(Words{{"a", 1}}));
  const absl::Status status = MergeWords(
      sources, [](std::string_view, uint64_t) { return absl::ResourceExhaustedError("full"); });
  EXPECT_EQ(status, absl::ResourceExhaustedError("full"));
}

}  // namespace
}  // namespace trainyard::data
