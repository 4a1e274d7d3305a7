#include "controller/loop/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "controller/core/event_log/snapshot.h"
#include "controller/core/observations/observe.h"
#include "tests/controller/controller_harness.h"

namespace trainyard::controller {
namespace {

JobSubmission Submission(const std::string& name, const std::string& request_id = "") {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = CommandSpec(name, 1);
  request.set_request_id(request_id);
  return *JobSubmission::Check(request, {"ada"});
}

// A result that stays valid after its callback has returned.
using Answer = absl::StatusOr<std::vector<v1::Event>>;

class LoopTest : public testing::Test {
 protected:
  void Start(LoopOptions options = {}) {
    options.core.checkpoint_root = "/checkpoints";
    auto recovered = Loop::Recover(log_, clock_, options);
    ASSERT_TRUE(recovered.ok()) << recovered.status();
    loop_ = *std::move(recovered);
    loop_->Start();
    // A job is accepted only if the cluster has a slot for it.
    ASSERT_TRUE(Submit(AttachWorker{TestHello("a", 1)}).get().ok());
    loop_->Post([this] {
      ObserveAttached(TestHello("a", 1), clock_.Now(), loop_->View().state, loop_->observations());
      ObserveWelcomed("a", loop_->observations());
    });
  }

  std::future<Answer> Submit(Request request) {
    auto promise = std::make_shared<std::promise<Answer>>();
    loop_->Submit(std::move(request), [promise](const RequestOutcome& outcome, const ClusterView&) {
      if (outcome.ok()) {
        promise->set_value(std::vector(outcome->begin(), outcome->end()));
      } else {
        promise->set_value(outcome.status());
      }
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

  // Returns the state as a standby has it that has applied all events.
  ReplayedState ReplayedNow() {
    return OnLoop<ReplayedState>([](Loop& loop) {
      const ClusterView view = loop.View();
      return ReplayedState{.state = view.state, .last_sequence = view.revision};
    });
  }

  // Stops the loop, then compares its state with the state that a replay of the log gives.
  void ExpectReplayEqualsLive() {
    const std::string live = StateBytes();
    loop_->Stop();
    auto replayed = Loop::Recover(log_, clock_, {});
    ASSERT_TRUE(replayed.ok()) << replayed.status();
    EXPECT_EQ(ToSnapshot((*replayed)->View().state, 0).DebugString(), live);
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
  const Answer outcome = reply.get();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_TRUE(outcome->front().has_job_submitted());
}

TEST_F(LoopTest, AStateOfAStandbyIsContinuedWithTheLastEvents) {
  Start();
  ASSERT_TRUE(Submit(Submission("one")).get().ok());
  ReplayedState replayed = ReplayedNow();
  ASSERT_TRUE(Submit(Submission("two")).get().ok());
  const std::string live = StateBytes();
  loop_->Stop();
  ClusterState marked = replayed.state;
  auto continued = Loop::Recover(log_, clock_, {}, &replayed);
  ASSERT_TRUE(continued.ok()) << continued.status();
  EXPECT_EQ(ToSnapshot((*continued)->View().state, 0).DebugString(), live);
  // The state itself was used, and not another replay.
  ReplayedState other{.state = std::move(marked), .last_sequence = replayed.last_sequence};
  other.state.queues["marked"].set_name("marked");
  auto from_marked = Loop::Recover(log_, clock_, {}, &other);
  ASSERT_TRUE(from_marked.ok()) << from_marked.status();
  EXPECT_TRUE((*from_marked)->View().state.queues.contains("marked"));
}

// A machine whose wall clock is an hour ahead of that of the leader before.
class OtherMachine final : public Clock {
 public:
  explicit OtherMachine(Timestamp newest) : newest_(newest) {}
  Timestamp Now() const override { return Read().wall_ms; }
  ClockReading Read() const override { return {newest_ + 3'600'000 + 2'000, kReadMs + 2'000}; }
  std::string BootId() const override { return "other machine"; }

  // The steady time at which the standby has read the newest event.
  static constexpr int64_t kReadMs = 40'000;

 private:
  const Timestamp newest_;
};

TEST_F(LoopTest, AStandbyCountsTheTimeOfATakeOverByItsSteadyClock) {
  Start();
  ASSERT_TRUE(Submit(Submission("one")).get().ok());
  ReplayedState replayed = ReplayedNow();
  replayed.newest_ms = OtherMachine::kReadMs;
  loop_->Stop();
  const OtherMachine clock(replayed.state.clock.newest_ms());
  auto continued = Loop::Recover(log_, clock, {}, &replayed);
  ASSERT_TRUE(continued.ok()) << continued.status();
  loop_ = *std::move(continued);
  loop_->Start();
  ASSERT_TRUE(Submit(AttachWorker{TestHello("b", 1)}).get().ok());
  loop_->Stop();
  const auto events = log_.ReadEventsBefore(0, 0, 5);
  ASSERT_TRUE(events.ok());
  const auto set = std::ranges::find_if(
      *events, [](const v1::EventEntry& entry) { return entry.event().has_clock_set(); });
  ASSERT_NE(set, events->end());
  EXPECT_EQ(set->event().clock_set().step_ms(), 3'600'000);
  EXPECT_EQ(set->event().clock_set().assumed_ms(), 2'000);
}

// The database was replaced by an older copy.
TEST_F(LoopTest, AStateBeyondTheEndOfTheLogIsNotUsed) {
  Start();
  ASSERT_TRUE(Submit(Submission("one")).get().ok());
  ReplayedState replayed = ReplayedNow();
  ++replayed.last_sequence;
  replayed.state.queues["marked"].set_name("marked");
  const std::string live = StateBytes();
  loop_->Stop();
  auto recovered = Loop::Recover(log_, clock_, {}, &replayed);
  ASSERT_TRUE(recovered.ok()) << recovered.status();
  EXPECT_EQ(ToSnapshot((*recovered)->View().state, 0).DebugString(), live);
}

TEST_F(LoopTest, SharesOneCommitAmongRequestsThatCameDuringOne) {
  Start();
  log_.Close();
  std::vector<std::future<Answer>> replies;
  replies.push_back(Submit(Submission("first")));
  ASSERT_TRUE(log_.WaitForAppend());
  const int before = log_.appends();
  for (int i = 0; i < 50; ++i) replies.push_back(Submit(Submission("job-" + std::to_string(i))));
  log_.Open();
  for (auto& reply : replies) EXPECT_TRUE(reply.get().ok());
  EXPECT_EQ(log_.appends() - before, 2);
}

TEST_F(LoopTest, RequestsDoNotWaitForMessagesOfWorkers) {
  Start();
  log_.Close();
  auto first = Submit(Submission("holds-the-loop"));
  ASSERT_TRUE(log_.WaitForAppend());
  int messages = 0;
  for (int i = 0; i < 1000; ++i) loop_->PostFromWorker(this, [&] { ++messages; });
  std::promise<int> before;
  loop_->Read([&](const ClusterView&) { before.set_value(messages); });
  log_.Open();
  EXPECT_EQ(before.get_future().get(), 0);
  ASSERT_TRUE(first.get().ok());
  std::promise<int> after;
  loop_->PostFromWorker(this, [&] { after.set_value(messages); });
  EXPECT_EQ(after.get_future().get(), 1000);
}

TEST_F(LoopTest, WaitingRequestsOfWorkersRefuseNoUser) {
  Start();
  log_.Close();
  auto first = Submit(Submission("holds-the-loop"));
  ASSERT_TRUE(log_.WaitForAppend());
  int answered = 0;
  for (int i = 0; i < 20'000; ++i) {
    loop_->Submit(ReceiveFact{"a", v1::Fact()}, [&](const auto&, const auto&) { ++answered; });
  }
  std::promise<absl::Status> user;
  int before_user = 0;
  loop_->Submit(Submission("one"), [&](const RequestOutcome& outcome, const auto&) {
    before_user = answered;
    user.set_value(outcome.status());
  });
  log_.Open();
  const absl::Status status = user.get_future().get();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_LT(before_user, 20'000) << "the user has waited for all of them";
  EXPECT_TRUE(first.get().ok());
  loop_->Stop();
}

TEST_F(LoopTest, ARefusedRequestIsAnsweredAndCommitsNothing) {
  Start();
  ASSERT_TRUE(Submit(Submission("taken")).get().ok());
  const int before = log_.appends();
  const Answer outcome = Submit(Submission("taken")).get();
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
  ExpectReplayEqualsLive();
}

TEST_F(LoopTest, WritesASnapshotEverySoManyEventsAndReplaysFromIt) {
  LoopOptions options;
  options.events_per_snapshot = 10;
  Start(options);
  for (int i = 0; i < 12; ++i) {
    ASSERT_TRUE(Submit(Submission("job-" + std::to_string(i))).get().ok());
  }
  ExpectReplayEqualsLive();
  EXPECT_GE(log_.snapshots(), 1);
  EXPECT_LE(log_.snapshots(), 2);
  auto recovery = log_.Recover();
  ASSERT_TRUE(recovery.ok() && recovery->snapshot.has_value());
}

TEST_F(LoopTest, AnswersWhileASnapshotIsWritten) {
  LoopOptions options;
  options.events_per_snapshot = 5;
  Start(options);
  log_.CloseForSnapshots();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(Submit(Submission("job-" + std::to_string(i))).get().ok());
  }
  ASSERT_TRUE(log_.WaitForSnapshot());
  for (int i = 5; i < 30; ++i) {
    ASSERT_TRUE(Submit(Submission("job-" + std::to_string(i))).get().ok());
  }
  EXPECT_EQ(log_.snapshots(), 1) << "the next one waits for the one before";
  log_.Open();
  loop_->Stop();
  const auto recovery = log_.Recover();
  ASSERT_TRUE(recovery.ok() && recovery->snapshot.has_value());
  const auto before =
      log_.ReadEventsBefore(0, recovery->snapshot->last_sequence() + 1, /*limit=*/1000);
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(
      recovery->snapshot->jobs_size(),
      std::ranges::count_if(
          *before, [](const v1::EventEntry& entry) { return entry.event().has_job_submitted(); }))
      << "the state after its own event, not after a later one";
}

TEST_F(LoopTest, ItsOwnStallCountsAgainstNoNode) {
  Start();
  OnLoop<bool>([](Loop& loop) {
    ObserveAttached(TestHello("a", 1), loop.View().now, loop.View().state, loop.observations());
    ObserveWelcomed("a", loop.observations());
    return true;
  });
  // Simulates a loop that stalls for a minute, for example because of a slow disk or a paused
  // machine.
  clock_.Advance(60'000);
  ASSERT_TRUE(Submit(Submission("after")).get().ok());
  const auto node_state = OnLoop<v1::NodeState>(
      [](Loop& loop) { return loop.View().state.nodes.at("a").node.state(); });
  EXPECT_EQ(node_state, v1::NODE_STATE_READY);
}

TEST_F(LoopTest, NoticesMissingHeartbeatsInItsOwnTime) {
  Start();
  OnLoop<bool>([](Loop& loop) {
    ObserveAttached(TestHello("a", 1), loop.View().now, loop.View().state, loop.observations());
    ObserveWelcomed("a", loop.observations());
    return true;
  });
  v1::NodeState node_state = v1::NODE_STATE_READY;
  for (int i = 0; i < 10 && node_state == v1::NODE_STATE_READY; ++i) {
    clock_.Advance(900);
    // Any request causes a tick, even this request without a job.
    (void)Submit(StopJob{}).get();
    node_state = OnLoop<v1::NodeState>(
        [](Loop& loop) { return loop.View().state.nodes.at("a").node.state(); });
  }
  EXPECT_EQ(node_state, v1::NODE_STATE_SUSPECT);
}

class FullDiskTest : public LoopTest {
 protected:
  // Submits the node's fact number `sequence`, which is about an unknown attempt. The controller
  // stores only the fact's number.
  std::future<Answer> SubmitFact(uint64_t sequence) {
    v1::Fact fact = StartedFact(99);
    fact.set_sequence(sequence);
    return Submit(ReceiveFact{"a", std::move(fact)});
  }

  int64_t JobCount() {
    return OnLoop<int64_t>(
        [](Loop& loop) { return static_cast<int64_t>(loop.View().state.jobs.size()); });
  }

  // Waits until the loop has detected that the disk has free space again.
  void WaitForCapacity() {
    const auto deadline = std::chrono::steady_clock::now() + kTestTimeout;
    while (!health_.Problems().empty()) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
      (void)Submit(StopJob{}).get();
    }
  }

  StorageHealth health_{clock_};
};

TEST_F(FullDiskTest, RefusesChangesAndSaysWhy) {
  Start();
  const std::string before = StateBytes();
  log_.SetFull(true);
  for (int i = 0; i < 2; ++i) {
    const Answer outcome = Submit(Submission("one")).get();
    EXPECT_EQ(outcome.status().code(), absl::StatusCode::kResourceExhausted);
    EXPECT_THAT(std::string(outcome.status().message()),
                testing::AllOf(testing::HasSubstr("the disk is full"),
                               testing::HasSubstr("automatically once there is free space")));
  }
  EXPECT_EQ(StateBytes(), before) << "the state is ahead of the log";
}

TEST_F(FullDiskTest, WhatChangesNothingIsAnsweredAsEver) {
  Start();
  const JobSubmission submission = Submission("one", "once");
  ASSERT_TRUE(Submit(submission).get().ok());
  log_.SetFull(true);
  EXPECT_FALSE(Submit(Submission("two")).get().ok());
  const Answer repeated = Submit(submission).get();
  EXPECT_TRUE(repeated.ok()) << repeated.status();
  EXPECT_EQ(Submit(Submission("one")).get().status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(Submit(AttachWorker{TestHello("a", 1)}).get().ok()) << "a node that is known";
  v1::Hello restarted = TestHello("a", 1);
  restarted.set_incarnation("restarted");
  EXPECT_TRUE(Submit(AttachWorker{restarted}).get().ok()) << "its ranks go on";
  EXPECT_FALSE(Submit(AttachWorker{TestHello("b", 1)}).get().ok()) << "a node that is news";
}

TEST_F(FullDiskTest, ARequestDecidedTogetherWithOneThatIsUndoneIsDecidedAgain) {
  Start();
  const JobSubmission submission = Submission("one", "once");
  log_.Close();
  auto first = Submit(Submission("holds-the-tick"));
  ASSERT_TRUE(log_.WaitForAppend());
  auto submitted = Submit(submission);
  auto repeated = Submit(submission);
  log_.FillWithTheNext();
  log_.Open();
  EXPECT_TRUE(first.get().ok());
  EXPECT_FALSE(submitted.get().ok());
  EXPECT_FALSE(repeated.get().ok()) << "says yes to a job that is not in the log";
  EXPECT_EQ(JobCount(), 1);
}

TEST_F(FullDiskTest, GoesOnByItselfAndKeepsTheOrderOfFacts) {
  auto recovered = Loop::Recover(log_, clock_, {});
  ASSERT_TRUE(recovered.ok());
  loop_ = *std::move(recovered);
  loop_->ReportHealthTo(health_);
  loop_->Start();
  ASSERT_TRUE(Submit(AttachWorker{TestHello("a", 1)}).get().ok());
  log_.SetFull(true);
  std::vector<std::future<Answer>> facts;
  for (uint64_t sequence = 1; sequence <= 5; ++sequence) facts.push_back(SubmitFact(sequence));
  ASSERT_FALSE(Submit(Submission("one")).get().ok());
  ASSERT_EQ(health_.Problems().size(), 1u);
  EXPECT_EQ(health_.Problems()[0].store(), "events");
  for (auto& fact : facts) {
    EXPECT_EQ(fact.wait_for(std::chrono::seconds(0)), std::future_status::timeout);
  }
  log_.SetFull(false);
  WaitForCapacity();
  for (auto& fact : facts) EXPECT_TRUE(fact.get().ok());
  ASSERT_TRUE(Submit(Submission("one")).get().ok());
  EXPECT_EQ(
      OnLoop<uint64_t>([](Loop& loop) { return loop.View().state.nodes.at("a").fact_sequence; }),
      5u);
  ExpectReplayEqualsLive();
}

TEST_F(FullDiskTest, AFullDiskCountsAgainstNoNode) {
  auto recovered = Loop::Recover(log_, clock_, {});
  ASSERT_TRUE(recovered.ok());
  loop_ = *std::move(recovered);
  loop_->ReportHealthTo(health_);
  loop_->Start();
  ASSERT_TRUE(Submit(AttachWorker{TestHello("a", 1)}).get().ok());
  const std::string live = StateBytes();
  log_.SetFull(true);
  ASSERT_FALSE(Submit(Submission("one")).get().ok());
  for (int i = 0; i < 20; ++i) {
    clock_.Advance(900);
    (void)Submit(StopJob{}).get();
  }
  log_.SetFull(false);
  WaitForCapacity();
  (void)Submit(StopJob{}).get();
  EXPECT_EQ(OnLoop<Timestamp>([](Loop& loop) { return loop.observations().since_ms; }),
            clock_.Now());
  EXPECT_EQ(StateBytes(), live) << "a node was judged by what could not be received";
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
