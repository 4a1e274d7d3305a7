#include "controller/core/observations/compute_window.h"

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

constexpr int kTimes = static_cast<int>(ComputeWindow::kTimes);

TEST(ComputeWindowTest, HasAMedianOnceItIsFull) {
  ComputeWindow window;
  for (int i = 0; i < kTimes; ++i) {
    EXPECT_FALSE(window.Median().has_value()) << i;
    window.Add(i < 7 ? 1 : 2, 10'000 + i * ComputeWindow::kSpacingMs);
  }
  EXPECT_EQ(window.Median(), 2);
}

TEST(ComputeWindowTest, FewSlowStepsMoveNothing) {
  ComputeWindow window;
  for (int i = 0; i < kTimes; ++i) {
    window.Add(i % 3 == 0 ? 90 : 1, 10'000 + i * ComputeWindow::kSpacingMs);
  }
  EXPECT_EQ(window.Median(), 1);
}

TEST(ComputeWindowTest, TimesAreSpreadOverTheWindow) {
  ComputeWindow window;
  for (int i = 0; i < 100 * kTimes; ++i) window.Add(1, 10'000 + i);
  EXPECT_FALSE(window.Median().has_value());
}

TEST(ComputeWindowTest, OldTimesLeaveIt) {
  ComputeWindow window;
  for (int i = 0; i < 2 * kTimes; ++i) {
    window.Add(i < kTimes ? 5 : 1, 10'000 + i * ComputeWindow::kSpacingMs);
  }
  EXPECT_EQ(window.Median(), 1);
}

TEST(ComputeWindowTest, AClockThatIsSetBackDoesNotStopIt) {
  ComputeWindow window;
  window.Add(1, 10'000'000);
  window.Shift(-9'990'000);
  for (int i = 1; i < kTimes; ++i) window.Add(1, 10'000 + i * ComputeWindow::kSpacingMs);
  EXPECT_EQ(window.Median(), 1);
}

TEST(ComputeWindowTest, TheFirstTimeCountsAtAnyTime) {
  ComputeWindow window;
  for (int i = 0; i < kTimes; ++i) window.Add(1, i * ComputeWindow::kSpacingMs);
  EXPECT_EQ(window.Median(), 1);
}

TEST(ComputeWindowTest, TheMedianIsThatOfTheSortedTimes) {
  ComputeWindow window;
  for (int i = 0; i < kTimes; ++i) {
    window.Add(i == kTimes / 2 ? 90 : 1, 10'000 + i * ComputeWindow::kSpacingMs);
  }
  EXPECT_EQ(window.Median(), 1);
}

}  // namespace
}  // namespace trainyard::controller
