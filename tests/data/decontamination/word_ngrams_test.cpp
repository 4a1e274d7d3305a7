#include "data/decontamination/word_ngrams.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace trainyard::data {
namespace {

std::vector<uint64_t> HashesOf(const std::vector<uint64_t>& words, size_t length) {
  std::vector<uint64_t> hashes;
  NgramRoller(length).ForEach(words, [&hashes](uint64_t hash) { hashes.push_back(hash); });
  return hashes;
}

TEST(WordNgramsTest, AHashDependsOnlyOnTheWordsOfItsRun) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> words(200);
  for (uint64_t& word : words) word = random();
  for (const size_t length : {1u, 2u, 8u, 13u, 200u}) {
    const std::vector<uint64_t> hashes = HashesOf(words, length);
    ASSERT_EQ(hashes.size(), words.size() - length + 1);
    for (size_t i = 0; i < hashes.size(); ++i) {
      const auto begin = words.begin() + static_cast<std::ptrdiff_t>(i);
      const std::vector<uint64_t> run(begin, begin + static_cast<std::ptrdiff_t>(length));
      EXPECT_EQ(HashesOf(run, length), std::vector<uint64_t>{hashes[i]});
    }
  }
}

TEST(WordNgramsTest, ShortTextsHaveNoRuns) {
  EXPECT_TRUE(HashesOf({1, 2}, 3).empty());
  EXPECT_TRUE(HashesOf({}, 1).empty());
}

TEST(WordNgramsTest, OrderAndLengthChangeTheHash) {
  std::set<uint64_t> hashes;
  for (const std::vector<uint64_t>& words : std::vector<std::vector<uint64_t>>{
           {1, 2, 3}, {3, 2, 1}, {1, 3, 2}, {0, 1, 2}, {1, 2}, {2}}) {
    hashes.insert(HashesOf(words, words.size())[0]);
  }
  // Leading words with the hash 0 change nothing but the length.
  hashes.insert(HashesOf({0, 0, 2}, 3)[0]);
  EXPECT_EQ(hashes.size(), 7u);
}

}  // namespace
}  // namespace trainyard::data
