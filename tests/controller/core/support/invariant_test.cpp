#include "controller/core/support/invariant.h"

#include <csignal>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(InvariantDeathTest, ABrokenInvariantAbortsTheProcessWithItsMessage) {
  Require(true, "never printed");
  EXPECT_EXIT(Require(false, "two jobs on one slot"), ::testing::KilledBySignal(SIGABRT),
              "trainyard-controller: broken invariant: two jobs on one slot");
}

}  // namespace
}  // namespace trainyard::controller
