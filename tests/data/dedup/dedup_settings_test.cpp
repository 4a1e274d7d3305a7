#include "data/dedup/dedup_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::data {
namespace {

using ::testing::HasSubstr;

TEST(DedupSettings, PresetsHaveTheirPublishedParameters) {
  const DedupSettings near = *PresetSettings("near", std::nullopt, "");
  EXPECT_EQ(near.bands, 16);
  EXPECT_EQ(near.rows, 8);
  EXPECT_TRUE(near.verify);
  EXPECT_FALSE(near.components);
  const DedupSettings guide = *PresetSettings("guide", std::nullopt, "");
  EXPECT_EQ(guide.bands, 9);
  EXPECT_EQ(guide.rows, 13);
  EXPECT_EQ(guide.shingle_length, 13);
  EXPECT_FALSE(guide.verify);
  const DedupSettings fineweb = *PresetSettings("fineweb", std::nullopt, "");
  EXPECT_EQ(fineweb.bands, 14);
  EXPECT_TRUE(fineweb.components);
  EXPECT_EQ(PresetSettings("slimpajama", std::nullopt, "")->kind, ShingleKind::kCharacters);
  EXPECT_EQ(PresetSettings("exact", std::nullopt, "")->kind, ShingleKind::kWholeText);
}

TEST(DedupSettings, OptionsReplaceTheDefaults) {
  const DedupSettings settings = *PresetSettings("near", 0.7, "components");
  EXPECT_EQ(settings.threshold, 0.7);
  EXPECT_TRUE(settings.components);
  EXPECT_FALSE(PresetSettings("fineweb", std::nullopt, "greedy")->components);
}

TEST(DedupSettings, RefusesValuesWithoutMeaning) {
  EXPECT_THAT(PresetSettings("far", std::nullopt, "").status().message(),
              HasSubstr("use near, guide"));
  EXPECT_THAT(PresetSettings("guide", 0.8, "").status().message(), HasSubstr("omit --threshold"));
  EXPECT_FALSE(PresetSettings("near", 0.0, "").ok());
  EXPECT_FALSE(PresetSettings("near", 1.01, "").ok());
  EXPECT_FALSE(PresetSettings("near", std::nullopt, "all").ok());
}

TEST(DedupSettings, CandidateProbabilityFollowsFromBandsAndRows) {
  const DedupSettings near = *PresetSettings("near", std::nullopt, "");
  EXPECT_NEAR(CandidateProbability(near, 0.6), 0.237, 0.001);
  EXPECT_NEAR(CandidateProbability(near, 0.8), 0.947, 0.001);
  const DedupSettings guide = *PresetSettings("guide", std::nullopt, "");
  EXPECT_NEAR(CandidateProbability(guide, 0.8), 0.399, 0.001);
  EXPECT_NEAR(CandidateProbability(guide, 0.95), 0.998, 0.001);
  const DedupSettings exact = *PresetSettings("exact", std::nullopt, "");
  EXPECT_EQ(CandidateProbability(exact, 0.99), 0);
  EXPECT_EQ(CandidateProbability(exact, 1), 1);
}

TEST(DedupSettings, StandardErrorIsThatOfABinomialEstimate) {
  EXPECT_NEAR(StandardError(0.8), 0.0354, 0.0001);
  EXPECT_EQ(StandardError(1), 0);
}

}  // namespace
}  // namespace trainyard::data
