#include "cli/process/restart_backoff.h"

#include "gtest/gtest.h"

namespace trainyard::cli {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kQuick{20};
constexpr milliseconds kLong{60000};

TEST(RestartBackoffTest, PausesDoubleUpToTheLongest) {
  RestartLimits limits;
  limits.first_pause = milliseconds(250);
  limits.longest_pause = milliseconds(800);
  RestartBackoff backoff(limits);
  EXPECT_EQ(backoff.PauseAfter(kQuick), milliseconds(250));
  EXPECT_EQ(backoff.PauseAfter(kQuick), milliseconds(500));
  EXPECT_EQ(backoff.PauseAfter(kQuick), milliseconds(800));
  EXPECT_EQ(backoff.PauseAfter(kQuick), milliseconds(800));
}

TEST(RestartBackoffTest, SeveralQuickDeathsInARowAreTheEnd) {
  RestartLimits limits;
  limits.quick_deaths = 3;
  RestartBackoff backoff(limits);
  EXPECT_TRUE(backoff.PauseAfter(kQuick).has_value());
  EXPECT_TRUE(backoff.PauseAfter(kQuick).has_value());
  EXPECT_FALSE(backoff.PauseAfter(kQuick).has_value());
}

TEST(RestartBackoffTest, ALongLifeBeginsTheCountAgain) {
  RestartLimits limits;
  limits.quick_deaths = 3;
  RestartBackoff backoff(limits);
  backoff.PauseAfter(kQuick);
  backoff.PauseAfter(kQuick);
  EXPECT_EQ(backoff.PauseAfter(kLong), limits.first_pause);
  EXPECT_TRUE(backoff.PauseAfter(kQuick).has_value());
  EXPECT_FALSE(backoff.PauseAfter(kQuick).has_value());
}

}  // namespace
}  // namespace trainyard::cli
