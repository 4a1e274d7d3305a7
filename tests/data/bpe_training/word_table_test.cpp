#include "data/bpe_training/word_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::data {
namespace {

using testing::ElementsAre;
using testing::Pair;

void Add(const std::string& word, uint64_t weight, WordTable* table) {
  ASSERT_TRUE(table->MakeSpace(1, word.size()));
  table->Add(word.data(), word.size(), word.data() + word.size(), weight);
}

std::vector<std::pair<std::string, uint64_t>> WordsOf(const WordTable& table) {
  std::vector<std::pair<std::string, uint64_t>> words;
  for (size_t i = 0; i < table.size(); ++i) {
    words.emplace_back(std::string(table.word(i)), table.count(i));
  }
  return words;
}

TEST(WordTableTest, SortsByBytes) {
  WordTable table(1 << 20);
  const std::string nul("\0", 1);
  for (const std::string& word :
       {std::string("b"), std::string("aaaaaaaab"), std::string("\xff"), std::string("aaaaaaaa"),
        "a" + nul, std::string("a"), std::string("aaaaaaab"), "a" + nul + nul, std::string("b")}) {
    Add(word, 1, &table);
  }
  table.Sort();
  EXPECT_THAT(
      WordsOf(table),
      ElementsAre(Pair("a", 1), Pair("a" + nul, 1), Pair("a" + nul + nul, 1), Pair("aaaaaaaa", 1),
                  Pair("aaaaaaaab", 1), Pair("aaaaaaab", 1), Pair("b", 2), Pair("\xff", 1)));
}

TEST(WordTableTest, ReadsNothingBehindTheWord) {
  WordTable table(1 << 20);
  const std::string text = "abcdefghijklmnopqrstuvwxyz";
  for (size_t length = 1; length <= text.size(); ++length) {
    ASSERT_TRUE(table.MakeSpace(2, 2 * length));
    // Adds the word again: with other bytes after it, and at the end of its own allocation.
    table.Add(text.data(), length, text.data() + text.size(), 1);
    const std::vector<char> copy(text.begin(), text.begin() + length);
    table.Add(copy.data(), length, copy.data() + length, 1);
  }
  table.Sort();
  ASSERT_EQ(table.size(), text.size());
  for (size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(table.word(i), text.substr(0, i + 1));
    EXPECT_EQ(table.count(i), 2u);
  }
}

TEST(WordTableTest, CountsAsAMapDoes) {
  WordTable table(8 << 20);
  std::map<std::string, uint64_t> expected;
  std::mt19937 random(2);
  for (int i = 0; i < 50'000; ++i) {
    // Lengths around the limit of words that are stored in a slot.
    std::string word(1 + random() % 18, 'x');
    word[random() % word.size()] = static_cast<char>(random() % 256);
    word[random() % word.size()] = static_cast<char>(random() % 256);
    Add(word, 1 + i % 3, &table);
    expected[word] += 1 + i % 3;
  }
  table.Compact();
  const auto words = WordsOf(table);
  EXPECT_EQ(words.size(), expected.size());
  EXPECT_EQ((std::map<std::string, uint64_t>(words.begin(), words.end())), expected);
}

TEST(WordTableTest, AddsLargeWeights) {
  WordTable table(1 << 20);
  Add("x", uint64_t{1} << 61, &table);
  Add("x", uint64_t{1} << 61, &table);
  table.Sort();
  EXPECT_EQ(table.count(0), uint64_t{1} << 62);
}

TEST(WordTableTest, RefusesMoreThanItsMemory) {
  WordTable table(WordTable::kLeastBytes);
  size_t words = 0;
  for (; table.MakeSpace(1, 30); ++words) {
    const std::string word = "a word that is long " + std::to_string(words);
    table.Add(word.data(), word.size(), word.data() + word.size(), 1);
    ASSERT_LE(table.bytes(), WordTable::kLeastBytes);
  }
  EXPECT_GT(words, 500u);
  EXPECT_EQ(table.size(), words);
  table.Clear();
  EXPECT_EQ(table.bytes(), 0u);
  EXPECT_EQ(table.size(), 0u);
  EXPECT_TRUE(table.MakeSpace(100, 2'000));
}

}  // namespace
}  // namespace trainyard::data
