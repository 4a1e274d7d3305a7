#include "proto/support/job_spec_defaults.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "proto/support/job_spec_schema.h"

namespace trainyard {
namespace {

using ::testing::Contains;
using ::testing::Not;

TEST(JobSpecDefaultsTest, NumbersAreTheFieldNumbersFromTheOutsideIn) {
  // Event logs hold these: they may never change.
  EXPECT_EQ(NumberOfSpecField("name"), 1u);
  EXPECT_EQ(NumberOfSpecField("stop_grace"), 18u);
  EXPECT_EQ(NumberOfSpecField("resources.slots_per_node"), 4002u);
  EXPECT_EQ(NumberOfSpecField("train.seq_length"), 8001u);
  EXPECT_EQ(NumberOfSpecField("command"), std::nullopt) << "a list";
  EXPECT_EQ(NumberOfSpecField("train"), std::nullopt) << "a section";
  EXPECT_EQ(KeyOfSpecField(8000), nullptr);
  EXPECT_EQ(KeyOfSpecField(0), nullptr);
}

TEST(JobSpecDefaultsTest, EveryNumberLeadsBackToItsKey) {
  int scalars = 0;
  for (const std::string& key : JobFileKeys()) {
    const auto number = NumberOfSpecField(key);
    if (!number.has_value()) continue;
    ASSERT_NE(KeyOfSpecField(*number), nullptr) << key;
    EXPECT_EQ(*KeyOfSpecField(*number), key);
    ++scalars;
  }
  EXPECT_GE(scalars, 60);
}

TEST(JobSpecDefaultsTest, FillsWhatIsNotWrittenAndSaysWhat) {
  v1::JobSpec spec;
  spec.mutable_train()->set_seed(0);
  spec.mutable_stop_grace()->set_nanos(500'000'000);
  const std::vector<SpecFieldNumber> filled = FillDefaultFields(spec);
  EXPECT_TRUE(std::ranges::is_sorted(filled));
  EXPECT_EQ(spec.resources().nodes(), 1);
  EXPECT_EQ(spec.restart().window().seconds(), 86400);
  EXPECT_THAT(filled, Contains(*NumberOfSpecField("resources.nodes")));
  EXPECT_THAT(filled, Contains(*NumberOfSpecField("restart.window")));

  EXPECT_THAT(filled, Not(Contains(*NumberOfSpecField("train.seed"))));
  EXPECT_THAT(filled, Not(Contains(*NumberOfSpecField("stop_grace"))));
  EXPECT_EQ(spec.train().seed(), 0);
  EXPECT_EQ(spec.stop_grace().seconds(), 0) << "a written duration is not mixed with its default";
  EXPECT_THAT(FillDefaultFields(spec), ::testing::IsEmpty());
}

}  // namespace
}  // namespace trainyard
