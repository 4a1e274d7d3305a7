#include "controller/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "tests/controller/controller_harness.h"

namespace trainyard::controller {
namespace {

SubmitJob Submission(const std::string& name) {
  SubmitJob submit;
  *submit.request.mutable_spec() = CommandSpec(name, 1);
  submit.request.set_user("ada");
  return submit;
}

class LoopTest : public testing::Test {
 protected:
  void Start(LoopOptions options = {}) {
    options.core.checkpoint_root = "/checkpoints";
    auto recovered = Loop::Recover(log_, clock_, options);
    ASSERT_TRUE(recovered.ok()) << recovered.status();
    loop_ = *std::move(recovered);
    loop_->Start();
    // A job can be submitted where one slot is.
    ASSERT_TRUE(Submit(AttachWorker{TestHello("a", 1)}).get().ok());
  }

  std::future<ClusterLoop::Outcome> Submit(Request request) {
    auto promise = std::make_shared<std::promise<ClusterLoop::Outcome>>();
    loop_->Submit(std::move(request),
                  [promise](const ClusterLoop::Outcome& outcome, const ClusterView&) {
                    promise->set_value(outcome);
                  });
    return promise->get_future();
  }

  template <typename Result>
  Result OnLoop(std::function<Result(Loop&)> work) {
    std::promise<Result> promise;
    loop_->Post([&] { promise.set_value(work(*loop_)); });
    return promise.get_future().get();
  }

  std::string StateBytes() {
    return OnLoop<std::string>(
        [](Loop& loop) { return ToSnapshot(loop.View().state, 0).DebugString(); });
  }

  HandClock clock_;
  GatedEventLog log_;
  std::unique_ptr<Loop> loop_;
};

TEST_F(LoopTest, RepliesOnlyAfterTheCommit) {
  Start();
  log_.Close();
  auto reply = Submit(Submission("one"));
  ASSERT_TRUE(log_.WaitForAppend());
  EXPECT_EQ(reply.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  log_.Open();
  const ClusterLoop::Outcome outcome = reply.get();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->front().has_job_submitted());
}

TEST_F(LoopTest, SharesOneCommitAmongRequestsThatCameDuringOne) {
  Start();
  log_.Close();
  std::vector<std::future<ClusterLoop::Outcome>> replies;
  replies.push_back(Submit(Submission("first")));
  ASSERT_TRUE(log_.WaitForAppend());
  const int before = log_.appends();
  for (int i = 0; i < 50; ++i) replies.push_back(Submit(Submission("job-" + std::to_string(i))));
  log_.Open();
  for (auto& reply : replies) EXPECT_TRUE(reply.get().ok());
  EXPECT_EQ(log_.appends() - before, 2);
}

TEST_F(LoopTest, ARefusedRequestIsAnsweredAndCommitsNothing) {
  Start();
  ASSERT_TRUE(Submit(Submission("taken")).get().ok());
  const int before = log_.appends();
  const ClusterLoop::Outcome outcome = Submit(Submission("taken")).get();
  EXPECT_EQ(outcome.status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(log_.appends(), before);
}

TEST_F(LoopTest, ReplayEqualsLive) {
  Start();
  ASSERT_TRUE(Submit(Submission("one")).get().ok());
  ASSERT_TRUE(Submit(Submission("two")).get().ok());
  ASSERT_TRUE(Submit(controller::StopJob{[] {
                v1::StopJobRequest request;
                request.set_job("two");
                return request;
              }()})
                  .get()
                  .ok());
  const std::string live = StateBytes();
  loop_->Stop();
  auto replayed = Loop::Recover(log_, clock_, {});
  ASSERT_TRUE(replayed.ok());
  EXPECT_EQ(ToSnapshot((*replayed)->View().state, 0).DebugString(), live);
}

TEST_F(LoopTest, WritesASnapshotEverySoManyEventsAndReplaysFromIt) {
  LoopOptions options;
  options.events_per_snapshot = 10;
  Start(options);
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(Submit(Submission("job-" + std::to_string(i))).get().ok());
  }
  const std::string live = StateBytes();
  loop_->Stop();
  EXPECT_GE(log_.snapshots(), 1);
  EXPECT_LE(log_.snapshots(), 2);
  auto recovery = log_.Recover();
  ASSERT_TRUE(recovery.ok() && recovery->snapshot.has_value());
  auto replayed = Loop::Recover(log_, clock_, {});
  ASSERT_TRUE(replayed.ok());
  EXPECT_EQ(ToSnapshot((*replayed)->View().state, 0).DebugString(), live);
}

TEST_F(LoopTest, TimeInWhichItStoodStillIsNobodysSilence) {
  Start();
  OnLoop<bool>([](Loop& loop) {
    ObserveAttached(TestHello("a", 1), loop.View().now, loop.observations());
    return true;
  });
  // As after a disk that took a minute, or a machine that was paused.
  clock_.Advance(60'000);
  ASSERT_TRUE(Submit(Submission("after")).get().ok());
  const auto node_state = OnLoop<v1::NodeState>(
      [](Loop& loop) { return loop.View().state.nodes.at("a").node.state(); });
  EXPECT_EQ(node_state, v1::NODE_STATE_READY);
}

TEST_F(LoopTest, NoticesSilenceInItsOwnTime) {
  Start();
  OnLoop<bool>([](Loop& loop) {
    ObserveAttached(TestHello("a", 1), loop.View().now, loop.observations());
    return true;
  });
  v1::NodeState node_state = v1::NODE_STATE_READY;
  for (int i = 0; i < 10 && node_state == v1::NODE_STATE_READY; ++i) {
    clock_.Advance(900);
    // Any request makes a tick.
    (void)Submit(StopJob{}).get();
    node_state = OnLoop<v1::NodeState>(
        [](Loop& loop) { return loop.View().state.nodes.at("a").node.state(); });
  }
  EXPECT_EQ(node_state, v1::NODE_STATE_SUSPECT);
}

using LoopDeathTest = LoopTest;

TEST_F(LoopDeathTest, EndsTheProcessWhenTheCommitFails) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        Start();
        log_.Break();
        const auto outcome = Submit(Submission("lost")).get();
        std::fprintf(stderr, "answered %d", outcome.ok());
      },
      testing::ExitedWithCode(1), testing::Not(testing::HasSubstr("answered")));
}

}  // namespace
}  // namespace trainyard::controller
