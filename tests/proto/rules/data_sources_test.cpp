#include "proto/rules/data_sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

DataBlend Blend(std::vector<std::string> entries) {
  DataConfig data;
  data.blend = std::move(entries);
  return BlendOf(data);
}

std::vector<int64_t> Shares(const std::vector<std::string>& weights) {
  std::vector<std::string> entries;
  for (const std::string& weight : weights) entries.push_back(weight + " /data");
  const DataBlend blend = Blend(entries);
  EXPECT_EQ(blend.problem, "");
  std::vector<int64_t> shares;
  for (const DataSource& source : blend.sources) shares.push_back(source.share);
  return shares;
}

TEST(DataSourcesTest, OneSourceWithoutABlend) {
  DataConfig data;
  data.path = "/data/c4-llama3";
  const DataBlend blend = BlendOf(data);
  ASSERT_EQ(blend.sources.size(), 1u);
  EXPECT_EQ(blend.sources[0].path, "/data/c4-llama3");
  EXPECT_EQ(blend.sources[0].share, 1);
}

TEST(DataSourcesTest, WeightsOfAnyScaleGiveTheSameShares) {
  EXPECT_THAT(Shares({"0.7", "0.3"}), ElementsAre(7, 3));
  EXPECT_THAT(Shares({"70", "30.0"}), ElementsAre(7, 3));
  EXPECT_THAT(Shares({"7e-300", "3E-300"}), ElementsAre(7, 3));
  EXPECT_THAT(Shares({"7e+14", "300000000000000"}), ElementsAre(7, 3));
  EXPECT_THAT(Shares({".07", "0.030"}), ElementsAre(7, 3));
  EXPECT_THAT(Shares({"0.67", "0.045", "0.15", "0.045", "0.045", "0.025", "0.02"}),
              ElementsAre(134, 9, 30, 9, 9, 5, 4));
  EXPECT_THAT(Shares({"5"}), ElementsAre(1));
  EXPECT_THAT(Shares({"1", "4194303"}), ElementsAre(1, 4194303));
}

TEST(DataSourcesTest, RefusesWeightsTooFineToRepeatSoon) {
  for (const char* weight : {"4194304", "1e9", "1e200", "0.1234567"}) {
    EXPECT_THAT(Blend({std::string(weight) + " /a", "1 /b"}).problem,
                HasSubstr("round the weights"))
        << weight;
  }
}

TEST(DataSourcesTest, RefusesWhatIsNoWeightAndPath) {
  for (const char* entry : {"", "0.7", "/data", "0 /a", "0.0 /a", "-1 /a", "x /a", "1.2.3 /a",
                            ". /a", "1e /a", "1e+ /a", "1e5x /a", "1e9999 /a", "inf /a", "nan /a",
                            "9999999999999999999999 /a", "0x10 /a"}) {
    EXPECT_THAT(Blend({entry}).problem, HasSubstr("write each entry as WEIGHT PATH")) << entry;
  }
}

TEST(DataSourcesTest, PathsMayHoldBlanksAndNamesAreUnique) {
  const DataBlend blend = Blend({"1 /a/C4 en", "1   /b/c4_en/", "1 /c/c4_en_2", "1 /"});
  ASSERT_EQ(blend.sources.size(), 4u) << blend.problem;
  EXPECT_EQ(blend.sources[0].path, "/a/C4 en");
  EXPECT_EQ(blend.sources[1].path, "/b/c4_en/");
  std::vector<std::string> names;
  for (const DataSource& source : blend.sources) names.push_back(source.name);
  EXPECT_THAT(names, ElementsAre("c4_en", "c4_en_2", "c4_en_2_2", "data"));
}

TEST(DataSourcesTest, ReadsEvaluationSets) {
  EvaluationConfig evaluation;
  evaluation.sets = {"val /data/c4", "code_2 /data/code.bin"};
  const EvaluationSets read = EvaluationSetsOf(evaluation);
  EXPECT_EQ(read.problem, "");
  ASSERT_EQ(read.sets.size(), 2u);
  EXPECT_EQ(read.sets[1].name, "code_2");
  EXPECT_EQ(read.sets[1].path, "/data/code.bin");
  for (const char* entry : {"", "code", "Code /a", "2 /a", "a-b /a", "/data/code",
                            "a23456789012345678901234567890123 /a"}) {
    evaluation.sets = {entry};
    EXPECT_THAT(EvaluationSetsOf(evaluation).problem, HasSubstr("write each entry as NAME PATH"))
        << entry;
  }
  evaluation.sets = {"a /x", "b /x", "a /y"};
  EXPECT_THAT(EvaluationSetsOf(evaluation).problem, HasSubstr("names `a` twice"));
}

}  // namespace
}  // namespace trainyard
