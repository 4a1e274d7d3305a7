#include "proto/support/gang_size.h"

#include "gtest/gtest.h"

namespace trainyard {
namespace {

TEST(GangSizeTest, StandbysDoNotCount) {
  v1::Attempt attempt;
  EXPECT_EQ(GangSize(attempt), 0);
  for (int i = 0; i < 3; ++i) attempt.add_ranks();
  EXPECT_EQ(GangSize(attempt), 3);
  attempt.add_ranks()->set_standby(true);
  EXPECT_EQ(GangSize(attempt), 3);
}

TEST(GangSizeTest, AnAttemptWithoutItsRanksHasNone) {
  v1::Attempt attempt;
  attempt.set_standbys(2);
  EXPECT_EQ(GangSize(attempt), 0);
}

}  // namespace
}  // namespace trainyard
