#include "data/bpe/vocabulary.h"

#include <gtest/gtest.h>

#include <string>

namespace trainyard::data {
namespace {

TEST(VocabularyTest, FindsTokensBothWays) {
  Vocabulary vocabulary;
  EXPECT_EQ(vocabulary.Find("a"), kNoToken);
  EXPECT_TRUE(vocabulary.Add(0, "a"));
  EXPECT_TRUE(vocabulary.Add(1, std::string_view("\0b", 2)));
  EXPECT_EQ(vocabulary.Find("a"), 0u);
  EXPECT_EQ(vocabulary.Find(std::string_view("\0b", 2)), 1u);
  EXPECT_EQ(vocabulary.Find("b"), kNoToken);
  EXPECT_EQ(vocabulary.BytesOf(1), std::string_view("\0b", 2));
}

TEST(VocabularyTest, AllowsUnusedIds) {
  Vocabulary vocabulary;
  EXPECT_TRUE(vocabulary.Add(7, "late"));
  EXPECT_TRUE(vocabulary.Add(2, "early"));
  EXPECT_EQ(vocabulary.count(), 2u);
  EXPECT_EQ(vocabulary.id_limit(), 8u);
  EXPECT_EQ(vocabulary.BytesOf(3), "");
  EXPECT_EQ(vocabulary.BytesOf(100), "");
  EXPECT_EQ(vocabulary.BytesOf(2), "early");
}

TEST(VocabularyTest, RejectsUsedIdsAndEmptyTokens) {
  Vocabulary vocabulary;
  EXPECT_TRUE(vocabulary.Add(3, "x"));
  EXPECT_FALSE(vocabulary.Add(3, "y"));
  EXPECT_FALSE(vocabulary.Add(4, ""));
  EXPECT_FALSE(vocabulary.Add(kTokensMax, "z"));
  EXPECT_EQ(vocabulary.count(), 1u);
  EXPECT_EQ(vocabulary.Find("y"), kNoToken);
}

TEST(VocabularyTest, FindsTheFirstOfEqualTokens) {
  Vocabulary vocabulary;
  EXPECT_TRUE(vocabulary.Add(9, "x"));
  EXPECT_TRUE(vocabulary.Add(1, "x"));
  EXPECT_EQ(vocabulary.Find("x"), 9u);
  EXPECT_EQ(vocabulary.BytesOf(1), "x");
}

TEST(VocabularyTest, FindsTokensAfterTheTableGrows) {
  Vocabulary vocabulary;
  for (uint32_t id = 0; id < 5000; ++id) ASSERT_TRUE(vocabulary.Add(id, std::to_string(id * 7)));
  for (uint32_t id = 0; id < 5000; ++id) {
    ASSERT_EQ(vocabulary.Find(std::to_string(id * 7)), id);
    ASSERT_EQ(vocabulary.Find(std::to_string(id * 7 + 1)), kNoToken);
  }
}

}  // namespace
}  // namespace trainyard::data
