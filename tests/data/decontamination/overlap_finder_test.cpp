#include "data/decontamination/overlap_finder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::data {
namespace {

using testing::HasSubstr;

constexpr int64_t kMuchMemory = int64_t{1} << 30;

// Words "w<first>" to "w<first + count - 1>".
std::string Words(int first, int count) {
  std::string text;
  for (int i = first; i < first + count; ++i) text += "w" + std::to_string(i) + " ";
  return text;
}

EvaluationIndex IndexOf(const OverlapSettings& settings, const std::vector<std::string>& texts) {
  EvaluationIndex index(settings, kMuchMemory);
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_TRUE(index.Add("e.jsonl", "e.jsonl:" + std::to_string(i + 1), texts[i]).ok());
  }
  index.Finish();
  return index;
}

TEST(OverlapFinderTest, ARunOfThirteenWordsIsAnOverlap) {
  const EvaluationIndex index = IndexOf({}, {Words(0, 30), Words(100, 30)});
  EXPECT_EQ(index.ngrams(), 36);
  OverlapFinder finder(index);
  EXPECT_FALSE(finder.Find("before " + Words(105, 12) + "after"));
  const auto overlap = finder.Find("before " + Words(105, 13) + "after");
  ASSERT_TRUE(overlap);
  EXPECT_EQ(overlap->document, 1u);
  EXPECT_EQ(overlap->hits, 1);
  EXPECT_DOUBLE_EQ(overlap->share, 1.0 / 18);
  EXPECT_FALSE(finder.Find(""));
}

TEST(OverlapFinderTest, CaseAndPunctuationDoNotMatter) {
  const EvaluationIndex index = IndexOf({}, {"A b c d e f g h i j k l m"});
  EXPECT_TRUE(OverlapFinder(index).Find("\"a, B; c d\" E f-g h (i) j\nk l M!"));
}

TEST(OverlapFinderTest, ShortEvaluationDocumentsAreComparedAsAWhole) {
  const EvaluationIndex index = IndexOf({}, {Words(0, 8), Words(50, 7), ""});
  EXPECT_EQ(index.ignored(), 2);
  EXPECT_EQ(index.documents().size(), 1u);
  OverlapFinder finder(index);
  EXPECT_TRUE(finder.Find("x " + Words(0, 8) + "y"));
  EXPECT_FALSE(finder.Find(Words(1, 8)));
  EXPECT_FALSE(finder.Find(Words(50, 7)));
}

TEST(OverlapFinderTest, TheShareIsThatOfOneEvaluationDocument) {
  OverlapSettings settings;
  settings.ngram = 8;
  settings.min_share = 0.7;
  // 10 different n-grams each, some of which the documents share.
  const EvaluationIndex index = IndexOf(settings, {Words(0, 17), Words(5, 17)});
  OverlapFinder finder(index);
  EXPECT_FALSE(finder.Find(Words(0, 13))) << "6 of 10, and 1 of 10";
  const auto overlap = finder.Find(Words(3, 14));
  ASSERT_TRUE(overlap) << "7 of 10, and 5 of 10";
  EXPECT_EQ(overlap->document, 0u);
  EXPECT_DOUBLE_EQ(overlap->share, 0.7);
  EXPECT_EQ(finder.Find(Words(4, 30))->document, 1u) << "10 of 10";
}

TEST(OverlapFinderTest, RepeatedRunsCountOnce) {
  OverlapSettings settings;
  settings.min_hits = 2;
  const EvaluationIndex index = IndexOf(settings, {Words(0, 13) + Words(0, 13) + Words(0, 13)});
  EXPECT_EQ(index.ngrams(), 13);
  OverlapFinder finder(index);
  EXPECT_FALSE(finder.Find(Words(0, 13) + "x " + Words(0, 13)));
  EXPECT_TRUE(finder.Find(Words(0, 13) + "w0"));
  EXPECT_EQ(index.documents()[0].ngrams, 13);
  EXPECT_DOUBLE_EQ(finder.Find(Words(0, 13) + Words(0, 13))->share, 1);
}

TEST(OverlapFinderTest, FindsAllRunsOfManyDocuments) {
  std::vector<std::string> texts;
  for (int i = 0; i < 500; ++i) texts.push_back(Words(100 * i, 40));
  const EvaluationIndex index = IndexOf({}, texts);
  EXPECT_EQ(index.ngrams(), 500 * 28);
  OverlapFinder finder(index);
  for (int i = 0; i < 500; ++i) {
    const auto overlap = finder.Find(texts[static_cast<size_t>(i)]);
    ASSERT_TRUE(overlap);
    EXPECT_EQ(overlap->document, static_cast<uint32_t>(i));
    EXPECT_EQ(overlap->hits, 28);
  }
  EXPECT_FALSE(finder.Find(Words(41, 50))) << "only words between two documents";
}

TEST(OverlapFinderTest, ATemplateCountsForTheFirstDocuments) {
  std::vector<std::string> texts;
  for (int i = 0; i < 150; ++i) texts.push_back(Words(0, 13) + Words(1000 + 20 * i, 13));
  const EvaluationIndex index = IndexOf({}, texts);
  EXPECT_EQ(OverlapFinder(index).Find(Words(0, 13))->document, 0u);
  EXPECT_EQ(index.documents()[99].ngrams, 14);
  EXPECT_EQ(index.documents()[100].ngrams, 13);
}

TEST(OverlapFinderTest, TheMemoryIsLimited) {
  EvaluationIndex index({}, 100'000);
  absl::Status status;
  int documents = 0;
  while (status.ok() && documents < 1000) {
    status = index.Add("e.txt", "e.txt", Words(100 * documents++, 100));
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(status.message(), HasSubstr("--memory-mib"));
  EXPECT_LT(documents, 40);
  EvaluationIndex same({}, 1'000'000);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(same.Add("e.txt", "e.txt", Words(0, 100)).ok())
        << "only the first 100 equal texts need memory";
  }
}

}  // namespace
}  // namespace trainyard::data
