// Checks that the suppressions for Debian's libraries do not suppress reports about our own code.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace trainyard {
namespace {

constexpr int kReported = 66;  // ThreadSanitizer's exit code.

int unprotected = 0;

void Race() {
  std::thread other([] { ++unprotected; });
  ++unprotected;
  other.join();
  std::exit(0);
}

TEST(ThreadSanitizerTest, ReportsARaceOfOurs) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(Race(), ::testing::ExitedWithCode(kReported), "data race.*Race");
}

}  // namespace
}  // namespace trainyard
