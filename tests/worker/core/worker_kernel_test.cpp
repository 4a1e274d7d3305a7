#include "worker/core/worker_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/worker/core/action_text.h"
#include "tests/worker/core/memory_attempt_io.h"
#include "tests/worker/core/memory_facts.h"

namespace trainyard::worker {
namespace {

using testing::Contains;
using testing::IsEmpty;

class WorkerKernelTest : public testing::Test {
 protected:
  // Delivers a Welcome at time 0, with this heartbeat interval.
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

  // Starts attempt 1 of job 1, which has one rank, and reports this rank as running.
  void Run() {
    v1::ControllerMessage start;
    *start.mutable_start_attempt() = StartOf(1, 1, 1);
    ASSERT_TRUE(kernel_.OnMessage(start, {}).ok());
    attempts_.Observed(Rank(1, 1, 0), {.presence = RankStatus::Presence::kRunning, .pid = 100}, {});
  }
  // Returns the time since the rank's newest step, as reported in the heartbeat at `steady_ms`.
  int64_t StillMs(Timestamp steady_ms) {
    const auto message = kernel_.NextMessage(steady_ms);
    if (!message.has_value() || !message->has_heartbeat()) return -1;
    return message->heartbeat().attempts(0).ranks(0).still_ms();
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

TEST_F(WorkerKernelTest, AHeartbeatIsDueWhenATroubleBeginsOrEnds) {
  const auto set = [&](const std::string& trouble) {
    v1::NodeCondition condition;
    condition.set_trouble(trouble);
    kernel_.SetCondition(condition, 10);
  };
  Welcome(60);
  set("");
  EXPECT_FALSE(SendsHeartbeat(10));
  set("the disk is full");
  EXPECT_TRUE(SendsHeartbeat(10));
  set("the disk is nearly full");
  EXPECT_FALSE(SendsHeartbeat(10)) << "the next regular one reports it";
  set("");
  EXPECT_TRUE(SendsHeartbeat(10));
}

TEST_F(WorkerKernelTest, ANewConditionDoesNotEndTheFarewell) {
  Welcome(1);
  kernel_.Leave(10);
  v1::NodeCondition condition;
  condition.set_trouble("the disk is full");
  kernel_.SetCondition(condition, 10);
  const auto message = kernel_.NextMessage(10);
  ASSERT_TRUE(message.has_value() && message->has_heartbeat());
  EXPECT_EQ(message->heartbeat().condition().trouble(), "the disk is full");
  EXPECT_TRUE(message->heartbeat().condition().leaving());
}

TEST_F(WorkerKernelTest, ALeavingWorkerStartsNoAttempt) {
  v1::ControllerMessage start;
  *start.mutable_start_attempt() = StartOf(1, 1, 1);
  kernel_.Leave(0);
  ASSERT_TRUE(kernel_.OnMessage(start, {}).ok());
  EXPECT_THAT(io_.Take(), IsEmpty());
}

TEST_F(WorkerKernelTest, AStartCommandStartsTheAttempt) {
  Run();
  EXPECT_THAT(io_.Take(), Contains("launch 1/1/0"));
}

TEST_F(WorkerKernelTest, AWelcomeAcknowledgesFacts) {
  v1::ControllerMessage stop;
  *stop.mutable_stop_attempt() = StopOf(1, 3, 0);
  ASSERT_TRUE(kernel_.OnMessage(stop, {}).ok());
  EXPECT_TRUE(attempts_.attempts().Contains({1, 3}));
  v1::Welcome welcome;
  welcome.set_fact_sequence(facts_.last_sequence());
  ASSERT_TRUE(kernel_.OnWelcome(welcome, 0).ok());
  EXPECT_FALSE(attempts_.attempts().Contains({1, 3})) << "its end is stored";
}

TEST_F(WorkerKernelTest, ThreeMissedHeartbeatsAreAPauseOfTheWorker) {
  Welcome(1);
  Run();
  EXPECT_EQ(StillMs(1000), 0);
  EXPECT_EQ(StillMs(4000), 3000);
  EXPECT_EQ(StillMs(7001), 3000) << "more than three intervals";
  EXPECT_EQ(StillMs(8001), 4000);
}

// The stream asks for the next message only after it has written the previous message.
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
