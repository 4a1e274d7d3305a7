#include "trainer/checkpoint/staging_plan.h"

#include <gtest/gtest.h>

#include <limits>

namespace trainyard::trainer {
namespace {

constexpr int64_t kEnough = std::numeric_limits<int64_t>::max();

// 0.85 * 100 bytes/s * 1 s: 85 bytes are copied before the update.
constexpr CopySpeed kSlow = {.bytes_per_second = 100, .seconds_to_update = 1};

const std::vector<int64_t>& Pieces() {
  static const std::vector<int64_t> pieces(20, 10);
  return pieces;
}

TEST(StagingPlanTest, StagesWhatWouldBeLate) {
  EXPECT_EQ(DirectPieces(Pieces(), kEnough, kSlow), 9);  // 90 bytes: whole pieces.
}

TEST(StagingPlanTest, StagesNothingIfTheTimeSuffices) {
  EXPECT_EQ(DirectPieces(Pieces(), kEnough, {.bytes_per_second = 1000, .seconds_to_update = 1}),
            20);
}

TEST(StagingPlanTest, StagesNothingIfTheSpeedIsUnknown) {
  EXPECT_EQ(DirectPieces(Pieces(), kEnough, {}), 20);
  EXPECT_EQ(DirectPieces(Pieces(), kEnough, {.bytes_per_second = 100}), 20);
  EXPECT_EQ(DirectPieces(Pieces(), kEnough, {.seconds_to_update = 1}), 20);
}

TEST(StagingPlanTest, NeverStagesMoreThanFits) {
  for (const int64_t free_bytes : {-50, 0, 5, 10, 64, 110, 115}) {
    const size_t direct = DirectPieces(Pieces(), free_bytes, kSlow);
    EXPECT_LE(static_cast<int64_t>(10 * (20 - direct)), std::max<int64_t>(free_bytes, 0));
    EXPECT_EQ(direct, std::max<int64_t>(9, 20 - std::max<int64_t>(free_bytes, 0) / 10));
  }
}

TEST(StagingPlanTest, AnEmptyStateHasNoPieces) { EXPECT_EQ(DirectPieces({}, 0, kSlow), 0); }

}  // namespace
}  // namespace trainyard::trainer
