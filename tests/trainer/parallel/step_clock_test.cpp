#include "trainer/parallel/step_clock.h"

#include <gtest/gtest.h>

#include <numeric>

namespace trainyard::trainer {
namespace {

double Sum(const StepTimes& times) { return std::accumulate(times.begin(), times.end(), 0.0); }

// Keeps the thread busy for at least `time`, by the thread's CPU clock.
void Work(std::chrono::microseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

TEST(StepClockTest, PartsAddUpToTheStep) {
  using std::chrono::microseconds;
  StepClock clock(torch::kCPU);
  const auto start = std::chrono::steady_clock::now();
  clock.Begin();
  Work(microseconds(300));
  {
    const StepPartScope optimizer(&clock, StepPart::kOptimizer);
    Work(microseconds(200));
    const StepPartScope wait(&clock, StepPart::kDataWait);
    Work(microseconds(100));
  }
  clock.End();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const StepTimes times = clock.Collect().value();
  EXPECT_GE(TimeOf(times, StepPart::kCompute), 300e-6);
  EXPECT_GE(TimeOf(times, StepPart::kOptimizer), 200e-6);
  EXPECT_GE(TimeOf(times, StepPart::kDataWait), 100e-6);
  EXPECT_EQ(TimeOf(times, StepPart::kTensorWait), 0);
  EXPECT_LE(Sum(times), seconds);
}

TEST(StepClockTest, NothingIsMeasuredOutsideAStep) {
  StepClock clock(torch::kCPU);
  { const StepPartScope wait(&clock, StepPart::kDataWait); }
  clock.End();
  EXPECT_EQ(clock.Collect(), std::nullopt);
}

TEST(StepClockTest, AMeasurementIsKeptUntilItIsCollectedOnce) {
  StepClock clock(torch::kCPU);
  clock.Begin();
  Work(std::chrono::microseconds(200));
  clock.End();
  clock.Begin();  // The next step starts before this step's times are read.
  EXPECT_FALSE(clock.is_measuring());
  clock.End();
  EXPECT_GE(TimeOf(clock.Collect().value(), StepPart::kCompute), 200e-6);
  EXPECT_EQ(clock.Collect(), std::nullopt);
  clock.Begin();
  EXPECT_TRUE(clock.is_measuring());
}

TEST(StepClockTest, AScopeWithoutAClockDoesNothing) {
  const StepPartScope wait(nullptr, StepPart::kDataWait);
}

}  // namespace
}  // namespace trainyard::trainer
