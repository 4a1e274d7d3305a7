#include "proto/support/detached_thread.h"

#include <future>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/no_threads.h"

namespace trainyard {
namespace {

TEST(DetachedThreadTest, RunsTheWork) {
  std::promise<int> done;
  ASSERT_EQ(RunDetached("count", [&] { done.set_value(3); }), absl::OkStatus());
  EXPECT_EQ(done.get_future().get(), 3);
}

TEST(DetachedThreadTest, AMachineWithoutAThreadIsAnError) {
  const NoThreads none;
  const absl::Status status = RunDetached("count", [] {});
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(status.message()), testing::StartsWith("cannot start a thread to count"));
}

}  // namespace
}  // namespace trainyard
