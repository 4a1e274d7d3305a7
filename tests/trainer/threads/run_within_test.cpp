#include "trainer/threads/run_within.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <memory>
#include <stdexcept>

namespace trainyard::trainer {
namespace {

TEST(RunWithinTest, WaitsForWorkThatReturns) {
  std::atomic<bool> ran{false};
  EXPECT_TRUE(RunWithin(std::chrono::seconds(30), [&] { ran = true; }));
  EXPECT_TRUE(ran);
}

TEST(RunWithinTest, ThrowsWhatTheWorkThrows) {
  EXPECT_THROW(RunWithin(std::chrono::seconds(30), [] { throw std::logic_error("bad"); }),
               std::logic_error);
}

TEST(RunWithinTest, LeavesWorkThatDoesNotReturnInTime) {
  const auto end = std::make_shared<std::latch>(1);
  EXPECT_FALSE(RunWithin(std::chrono::milliseconds(50), [end] { end->wait(); }));
  end->count_down();
}

}  // namespace
}  // namespace trainyard::trainer
