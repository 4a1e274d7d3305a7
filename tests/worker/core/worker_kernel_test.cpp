#include "worker/core/worker_kernel.h"

#include <gtest/gtest.h>

#include "tests/worker/core/memory_attempt_io.h"
#include "tests/worker/core/memory_facts.h"

namespace trainyard::worker {
namespace {

class WorkerKernelTest : public testing::Test {
 protected:
  // Welcome at 0 with this time between two heartbeats.
  void Welcome(int64_t seconds, int32_t nanos = 0) {
    v1::Welcome welcome;
    welcome.mutable_heartbeat_interval()->set_seconds(seconds);
    welcome.mutable_heartbeat_interval()->set_nanos(nanos);
    ASSERT_TRUE(kernel_.OnWelcome(welcome, 0).ok());
  }
  bool SendsHeartbeat(Timestamp steady_ms) {
    const auto message = kernel_.NextMessage(steady_ms);
    return message.has_value() && message->has_heartbeat();
  }

  MemoryFacts facts_;
  MemoryAttemptIo io_{facts_};
  AttemptKernel attempts_{io_, facts_};
  Uplink uplink_{facts_};
  WorkerKernel kernel_{attempts_, uplink_};
};

TEST_F(WorkerKernelTest, HeartbeatsAreAnIntervalApartFromWelcomeOn) {
  Welcome(1, 500'000'000);
  EXPECT_FALSE(SendsHeartbeat(1499));
  EXPECT_TRUE(SendsHeartbeat(1500));
  EXPECT_FALSE(SendsHeartbeat(2999));
  EXPECT_TRUE(SendsHeartbeat(3000));
}

TEST_F(WorkerKernelTest, AWrongIntervalIsLimitedToAMinute) {
  Welcome(3600);
  EXPECT_FALSE(SendsHeartbeat(59'999));
  EXPECT_TRUE(SendsHeartbeat(60'000));
}

TEST_F(WorkerKernelTest, AWrongIntervalIsAtLeastATenthOfASecond) {
  Welcome(0);
  EXPECT_FALSE(SendsHeartbeat(99));
  EXPECT_TRUE(SendsHeartbeat(100));
}

// The stream asks for the next message once it has written the one before.
TEST_F(WorkerKernelTest, FarewellIsSaidOnceTheLastHeartbeatIsWritten) {
  Welcome(1);
  kernel_.Leave(10);
  const auto message = kernel_.NextMessage(10);
  ASSERT_TRUE(message.has_value() && message->has_heartbeat());
  EXPECT_TRUE(message->heartbeat().condition().leaving());
  EXPECT_FALSE(kernel_.HasSentFarewell());
  EXPECT_FALSE(kernel_.NextMessage(20).has_value());
  EXPECT_TRUE(kernel_.HasSentFarewell());
}

}  // namespace
}  // namespace trainyard::worker
