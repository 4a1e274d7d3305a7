#include "proto/rules/blend_stages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proto/rules/data_sources.h"

namespace trainyard {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

DataConfig DataOf(std::vector<std::string> stages) {
  DataConfig data;
  data.blend = {"0.7 /data/c4", "0.3 /data/Code", "0 /data/math"};
  data.blend_stages = std::move(stages);
  return data;
}

std::string ProblemOf(const DataConfig& data) {
  EXPECT_EQ(BlendOf(data).problem, "");
  const BlendStages read = BlendStagesOf(data);
  EXPECT_EQ(read.stages.empty(), !read.problem.empty());
  return read.problem;
}

// Reads one entry that the entry "7 math=1" follows.
std::string ProblemOf(const std::string& entry) { return ProblemOf(DataOf({entry, "7 math=1"})); }

TEST(BlendStagesTest, EachStageHasTheSharesOfItsSources) {
  const BlendStages read = BlendStagesOf(DataOf({"2 c4=0.5 code=.25  math=25e-2 ", "90 math=3"}));
  ASSERT_EQ(read.problem, "");
  ASSERT_EQ(read.stages.size(), 3u);
  EXPECT_EQ(read.stages[0].first_step, 1);
  EXPECT_THAT(read.stages[0].shares, ElementsAre(7, 3, 0));
  EXPECT_EQ(read.stages[1].first_step, 2);
  EXPECT_THAT(read.stages[1].shares, ElementsAre(2, 1, 1));
  EXPECT_EQ(read.stages[2].first_step, 90);
  EXPECT_THAT(read.stages[2].shares, ElementsAre(0, 0, 1));
}

TEST(BlendStagesTest, OneStageWithoutChanges) {
  DataConfig data;
  data.path = "/data/c4";
  ASSERT_EQ(BlendStagesOf(data).stages.size(), 1u);
  EXPECT_THAT(BlendStagesOf(data).stages[0].shares, ElementsAre(1));
}

TEST(BlendStagesTest, RefusesOtherForms) {
  for (const char* entry :
       {"", "5", "5 ", "math=1", "1 math=1", "0 math=1", "-5 math=1", "5.0 math=1", "1e3 math=1",
        "1000000000001 math=1", "5 math", "5 math 1", "5 c4=1 0.5"}) {
    EXPECT_THAT(ProblemOf(entry), HasSubstr("not of the form STEP NAME=WEIGHT")) << entry;
  }
}

TEST(BlendStagesTest, RefusesUnknownSourcesAndNamesTheKnownOnes) {
  EXPECT_THAT(ProblemOf("5 c4=1 Code=1"),
              AllOf(HasSubstr("names `Code`, which is not a source"), HasSubstr("c4, code, math")));
  EXPECT_THAT(ProblemOf("5 =1"), HasSubstr("names ``"));
  EXPECT_THAT(ProblemOf("5 c4=1 c4=2"), HasSubstr("names `c4` twice"));
}

TEST(BlendStagesTest, RefusesWeightsThatAreNotPositive) {
  for (const char* weight : {"0", "0.0", "-1", "", "x", "inf"}) {
    EXPECT_THAT(ProblemOf(std::string("5 c4=1 math=") + weight),
                HasSubstr("gives `math` a weight that is not a decimal number above 0"))
        << weight;
  }
}

TEST(BlendStagesTest, RefusesStepsThatDoNotAscend) {
  EXPECT_THAT(ProblemOf("8 c4=1"), HasSubstr("has step 7 after step 8; sort the entries"));
  EXPECT_THAT(ProblemOf("7 c4=1"), HasSubstr("has step 7 after step 7"));
}

TEST(BlendStagesTest, LimitsThePeriods) {
  EXPECT_THAT(ProblemOf("5 c4=1 code=4194304"),
              AllOf(HasSubstr("mixture would repeat only after more than 4194304"),
                    HasSubstr("round the weights")));
  // Together with the period of data.blend (10 samples) and that of "7 math=1".
  EXPECT_EQ(ProblemOf("5 c4=1 code=4194292"), "");
  EXPECT_THAT(ProblemOf("5 c4=1 code=4194293"), HasSubstr("together repeat only after more than"));
}

TEST(BlendStagesTest, EverySourceHasAWeightInSomeStage) {
  EXPECT_THAT(ProblemOf(DataOf({"5 c4=1"})), HasSubstr("gives /data/math the weight 0"));
  DataConfig data = DataOf({"5 math=1"});
  data.blend = {"0 /a", "0.0 /math"};
  EXPECT_THAT(BlendOf(data).problem, HasSubstr("gives every source the weight 0"));
  data.blend = {"0 /a", "1 /math"};
  data.blend_stages.clear();
  EXPECT_THAT(BlendOf(data).problem, HasSubstr("The weight must be above 0"));
}

TEST(BlendStagesTest, NeedsABlend) {
  DataConfig data;
  data.path = "/data/c4";
  data.blend_stages = {"5 c4=1"};
  EXPECT_THAT(ProblemOf(data), HasSubstr("needs `data.blend`"));
}

}  // namespace
}  // namespace trainyard
