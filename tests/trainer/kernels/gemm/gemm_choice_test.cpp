#include "trainer/kernels/gemm/gemm_choice.h"

#include <gtest/gtest.h>

namespace trainyard::trainer::kernels {
namespace {

constexpr int64_t kMultiprocessors = 132;

TEST(GemmChoiceTest, TimeIsRoundsOfTiles) {
  // 16 x 33 tiles of 128 x 128 are 4 rounds of 132 tiles.
  const GemmSize size = {.rows = 2048, .columns = 33 * 128, .depth = 1000};
  const GemmTiling tiling = {.rows = 128, .columns = 128};
  EXPECT_DOUBLE_EQ(*PredictedTime(size, tiling, kMultiprocessors), 4.0 * 128 * 128 * 1000 * 1.068);
  // Another column of tiles begins a fifth round.
  GemmSize wider = size;
  ++wider.columns;
  EXPECT_DOUBLE_EQ(*PredictedTime(wider, tiling, kMultiprocessors), 5.0 * 128 * 128 * 1000 * 1.068);
}

TEST(GemmChoiceTest, AnFp32OutputHasItsOwnCosts) {
  const GemmSize size = {.rows = 2048, .columns = 33 * 128, .depth = 1000, .has_fp32_output = true};
  EXPECT_DOUBLE_EQ(*PredictedTime(size, {.rows = 128, .columns = 128}, kMultiprocessors),
                   4.0 * 128 * 128 * 1000 * 1.025);
}

TEST(GemmChoiceTest, ASplitDividesTheDepthAndCostsMore) {
  const GemmSize size = {.rows = 768, .columns = 768, .depth = 32768, .has_fp32_output = true};
  const GemmTiling whole = {.rows = 128, .columns = 128};
  const GemmTiling split = {.rows = 128, .columns = 128, .splits = 3};
  // 36 tiles leave most multiprocessors idle; 108 parts of tiles are also one round.
  EXPECT_DOUBLE_EQ(*PredictedTime(size, split, kMultiprocessors),
                   128.0 * 128 * 10923 * 1.025 * kSplitCost);
  EXPECT_EQ(FastestTiling(size, {whole, split}, kMultiprocessors), 1U);
}

TEST(GemmChoiceTest, TheTileThatFillsTheLastRoundIsChosen) {
  // 192 x 192: 6 x 128 tiles are 5.8 rounds. 144 x 128: 8 x 192 tiles are 11.6 rounds of half the
  // work. 256 x 128: 5 x 192 tiles are 7.3 rounds, so the eighth is mostly idle.
  const GemmSize size = {.rows = 1152, .columns = 24576, .depth = 768};
  EXPECT_EQ(FastestTiling(size, {{256, 128}, {192, 192}, {144, 128}}, kMultiprocessors), 2U);
}

TEST(GemmChoiceTest, UnknownTilesAreIgnored) {
  const GemmSize size = {.rows = 1024, .columns = 1024, .depth = 1024};
  EXPECT_EQ(PredictedTime(size, {.rows = 7, .columns = 9}, kMultiprocessors), std::nullopt);
  EXPECT_EQ(FastestTiling(size, {{7, 9}, {512, 64}}, kMultiprocessors), 1U);
  EXPECT_EQ(FastestTiling(size, {{7, 9}, {9, 7}}, kMultiprocessors), 0U);
}

TEST(GemmChoiceTest, OfEqualTimesTheFirstIsChosen) {
  const GemmSize size = {.rows = 1024, .columns = 1024, .depth = 1024};
  EXPECT_EQ(FastestTiling(size, {{128, 128}, {128, 128}}, kMultiprocessors), 0U);
}

}  // namespace
}  // namespace trainyard::trainer::kernels
