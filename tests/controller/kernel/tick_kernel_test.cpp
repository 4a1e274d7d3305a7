#include "controller/kernel/tick_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "controller/core/event_log/snapshot.h"
#include "controller/core/observations/observe.h"
#include "controller/core/support/core_options.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Timestamp kNow = 1'000'000;

class TickKernelTest : public testing::Test {
 protected:
  // Attaches one node with a slot.
  TickKernelTest() {
    tick_.Start(kNow);
    hello_.set_node_id("a");
    hello_.set_node_name("a");
    hello_.set_incarnation("1");
    hello_.set_address("127.0.0.1");
    hello_.mutable_inventory()->add_slots()->set_kind(v1::DEVICE_KIND_CPU);
    tick_.Submit(AttachWorker{hello_}, [](const auto&, const auto&) {});
    tick_.Decide(kNow);
    tick_.Committed(kNow);
    ObserveAttached(hello_, kNow, tick_.state(), tick_.observations());
    ObserveWelcomed("a", tick_.observations());
    attached_ = ToSnapshot(tick_.state(), tick_.last_sequence());
  }

  static CoreOptions Options() {
    CoreOptions options;
    options.checkpoint_root = "/c";
    return options;
  }

  void Submit(const std::string& name) { Submit(name, tick_); }
  void Submit(const std::string& name, TickKernel& tick) {
    v1::SubmitJobRequest request;
    *request.mutable_spec() = TestSpec(name, 1, 1);
    tick.Submit(Checked(request), [this](const auto& outcome, const ClusterView& view) {
      answers_.push_back(std::string(outcome.status().message()));
      revisions_.push_back(view.revision);
    });
  }

  v1::Hello hello_;
  TickKernel tick_{Options()};
  v1::Snapshot attached_;
  std::vector<std::string> answers_;
  std::vector<uint64_t> revisions_;
};

TEST_F(TickKernelTest, AnswersOnceTheEventsAreCommitted) {
  Submit("one");
  Submit("two");
  const uint64_t before = tick_.last_sequence();
  // The three events are two submissions and a placement on the only slot.
  EXPECT_THAT(tick_.Decide(kNow), SizeIs(3));
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_EQ(tick_.decided_of_users(), 2u);
  tick_.Committed(kNow);
  EXPECT_THAT(answers_, ElementsAre("", ""));
  EXPECT_THAT(revisions_, ElementsAre(before + 3, before + 3));
}

TEST_F(TickKernelTest, PromisesAreRecordedOnceTheTickIsCommitted) {
  Submit("runs");
  Submit("head");
  tick_.Decide(kNow);
  EXPECT_THAT(tick_.promises(), IsEmpty());
  tick_.Committed(kNow);
  ASSERT_THAT(tick_.promises(), SizeIs(1));
  EXPECT_EQ(tick_.promises().begin()->first, 2);
  tick_.Decide(kNow + 100);
  tick_.Committed(kNow + 100);
  ASSERT_THAT(tick_.promises(), SizeIs(1));
  EXPECT_THAT(tick_.promises().at(2), SizeIs(1)) << "the history continues in the next tick";
  EXPECT_EQ(tick_.promises().at(2)[0].time_ms(), kNow);
}

TEST_F(TickKernelTest, RequestsOfATickThatIsUndoneWaitAgain) {
  Submit("one");
  tick_.Decide(kNow);
  tick_.Undone(FromSnapshot(attached_), absl::ResourceExhaustedError("disk full"));
  EXPECT_THAT(answers_, IsEmpty());
  EXPECT_THAT(tick_.state().jobs, IsEmpty());
  EXPECT_EQ(tick_.waiting(), 1u);
  EXPECT_EQ(tick_.last_sequence(), attached_.last_sequence());
  tick_.SpaceIsBack(kNow);
  EXPECT_THAT(tick_.Decide(kNow), SizeIs(2));
  tick_.Committed(kNow);
  EXPECT_THAT(answers_, ElementsAre(""));
}

TEST_F(TickKernelTest, WithoutSpaceUsersAreRefusedAndWorkersWait) {
  tick_.SetNoSpace(absl::ResourceExhaustedError("disk full"));
  Submit("one");
  tick_.Submit(ReceiveFact{"a", v1::Fact()}, [](const auto&, const auto&) { FAIL(); });
  EXPECT_EQ(tick_.AnswerWithoutSpace(kNow), 1u);
  ASSERT_THAT(answers_, SizeIs(1));
  EXPECT_THAT(answers_[0], testing::HasSubstr("disk full"));
  EXPECT_EQ(tick_.waiting(), 1u);
}

TEST_F(TickKernelTest, ANewJobGetsItsNumberOnceTheWorkersHadTimeToAttach) {
  CoreOptions options = Options();
  options.confirm_log_ms = 5000;
  TickKernel restarted(options);
  restarted.Restore(FromSnapshot(attached_), attached_.last_sequence());
  restarted.Start(kNow);
  bool is_confirmed = false;
  restarted.Listen([&](const ClusterView&, const TickSummary& summary) {
    is_confirmed = summary.log_confirmed;
    return true;
  });
  Submit("one", restarted);
  for (const Timestamp now : {kNow, kNow + 4999}) {
    restarted.Decide(now);
    restarted.Committed(now);
    EXPECT_THAT(answers_, IsEmpty()) << now - kNow;
    EXPECT_EQ(restarted.waiting(), 0u) << "a waiting request would have the loop tick on";
    EXPECT_FALSE(is_confirmed);
  }
  restarted.Decide(kNow + 5000);
  restarted.Committed(kNow + 5000);
  EXPECT_THAT(answers_, ElementsAre(""));
  EXPECT_TRUE(is_confirmed);
}

TEST_F(TickKernelTest, AFloodOfWorkersRequestsDelaysNoUser) {
  // Facts that arrive out of order are rejected. The test accepts this because it only counts
  // decisions.
  std::size_t refused = 0;
  v1::Fact fact;
  fact.set_sequence(100);
  fact.mutable_attempt_cleared();
  for (int i = 0; i < 20'000; ++i) {
    tick_.Submit(ReceiveFact{"a", fact}, [&](const auto&, const auto&) { ++refused; });
  }
  Submit("one");
  tick_.Decide(kNow);
  EXPECT_EQ(tick_.decided_of_users(), 1u);
  tick_.Committed(kNow);
  EXPECT_THAT(answers_, ElementsAre(""));
  EXPECT_GT(refused, 0u);
  EXPECT_LE(refused, 1024u) << "the commit of the user waits for all of them";
}

TEST_F(TickKernelTest, AFloodOfUsersDoesNotStarveWorkers) {
  for (int i = 0; i < 10'000; ++i) {
    tick_.Submit(StopJob{}, [](const auto&, const auto&) {});
  }
  bool answered = false;
  tick_.Submit(ReceiveFact{"a", v1::Fact()}, [&](const auto&, const auto&) { answered = true; });
  tick_.Decide(kNow);
  tick_.Committed(kNow);
  EXPECT_TRUE(answered);
  EXPECT_GT(tick_.waiting(), 0u);
}

// Requests may continue to arrive after the disk has free space again. Such requests must not
// postpone planning forever.
TEST_F(TickKernelTest, PlansOnceTheRequestsThatWaitedForSpaceAreDecided) {
  tick_.SetNoSpace(absl::ResourceExhaustedError("disk full"));
  const auto submit_fact = [&] {
    tick_.Submit(ReceiveFact{"a", v1::Fact()}, [](const auto&, const auto&) {});
  };
  for (int i = 0; i < 1500; ++i) submit_fact();
  tick_.AnswerWithoutSpace(kNow);
  tick_.SpaceIsBack(kNow);
  Submit("one");
  EXPECT_THAT(tick_.Decide(kNow), SizeIs(1)) << "no placement: some facts still wait";
  tick_.Committed(kNow);
  for (int i = 0; i < 5000; ++i) submit_fact();
  EXPECT_THAT(tick_.Decide(kNow), SizeIs(1)) << "the placement";
  tick_.Committed(kNow);
}

TEST_F(TickKernelTest, WithoutSpaceARestartedWorkerIsAdmittedAndJoinsLater) {
  tick_.SetNoSpace(absl::ResourceExhaustedError("disk full"));
  v1::Hello hello = hello_;
  std::vector<std::string> admitted;
  const auto attach = [&](const std::string& incarnation) {
    hello.set_incarnation(incarnation);
    tick_.Submit(AttachWorker{hello}, [&admitted, incarnation](const auto& outcome, const auto&) {
      admitted.push_back(outcome.ok() ? incarnation : "refused");
    });
    tick_.AnswerWithoutSpace(kNow);
  };
  attach("2");
  attach("3");
  EXPECT_THAT(admitted, ElementsAre("2", "3"));
  EXPECT_EQ(tick_.state().nodes.at("a").node.incarnation(), "1") << "nothing was committed";
  EXPECT_EQ(tick_.waiting(), 1u) << "of the newest incarnation only";
  hello.set_node_id("stranger");
  attach("4");
  EXPECT_EQ(admitted.back(), "refused") << "a new node needs its event";
  tick_.SpaceIsBack(kNow);
  EXPECT_THAT(tick_.Decide(kNow),
              ElementsAre(testing::Field(&LogRecord::kind, v1::Event::kNodeJoined)));
  tick_.Committed(kNow);
  EXPECT_EQ(tick_.state().nodes.at("a").node.incarnation(), "3");
  EXPECT_THAT(admitted, SizeIs(3)) << "each was answered once";
}

// Until the log contains the binding of the id to the worker's secret, another worker could claim
// the id.
TEST_F(TickKernelTest, WithoutSpaceAWorkerWhoseSecretIsNotBoundYetIsRefused) {
  tick_.SetNoSpace(absl::ResourceExhaustedError("disk full"));
  v1::Hello hello = hello_;
  hello.set_node_secret("hash");
  bool refused = false;
  tick_.Submit(AttachWorker{hello},
               [&](const auto& outcome, const auto&) { refused = !outcome.ok(); });
  tick_.AnswerWithoutSpace(kNow);
  EXPECT_TRUE(refused);
  EXPECT_EQ(tick_.waiting(), 0u);
}

TEST_F(TickKernelTest, AJobLeavesTheStateWithItsRecord) {
  tick_.options().ended_jobs_kept = 0;
  tick_.options().archive_after_ms = 1000;
  Submit("runs");
  Submit("waits");
  StopJob stop;
  stop.request.set_job("waits");
  tick_.Submit(stop, [](const auto&, const auto&) {});
  tick_.Decide(kNow);
  tick_.Committed(kNow);
  const Timestamp later = kNow + tick_.options().archive_after_ms;
  EXPECT_THAT(tick_.Decide(later - 1), IsEmpty());
  EXPECT_THAT(tick_.archived(), IsEmpty());
  tick_.Committed(later - 1);
  const v1::Snapshot before = ToSnapshot(tick_.state(), tick_.last_sequence());
  EXPECT_THAT(tick_.Decide(later),
              testing::Contains(testing::Field(&LogRecord::kind, v1::Event::kJobArchived)));
  ASSERT_THAT(tick_.archived(), SizeIs(1));
  EXPECT_EQ(tick_.archived()[0].job().name(), "waits");
  tick_.Undone(FromSnapshot(before), absl::ResourceExhaustedError("disk full"));
  EXPECT_THAT(tick_.archived(), IsEmpty());
  EXPECT_THAT(tick_.state().jobs, SizeIs(2));
  tick_.SpaceIsBack(later);
  tick_.Decide(later);
  ASSERT_THAT(tick_.archived(), SizeIs(1));
  tick_.Committed(later);
  EXPECT_THAT(tick_.state().jobs, SizeIs(1));
}

TEST_F(TickKernelTest, AGapBetweenTicksIsNotTimeWithoutAHeartbeat) {
  tick_.observations().nodes["a"].last_heartbeat_ms = kNow;
  EXPECT_EQ(tick_.ExcuseOwnStall(kNow + 1000), 0);
  EXPECT_EQ(tick_.ExcuseOwnStall(kNow + 31'000), 30'000);
  EXPECT_EQ(tick_.observations().nodes["a"].last_heartbeat_ms, kNow + 30'000);
}

// A machine whose wall clock is changed while the controller runs.
class ClockTest : public TickKernelTest {
 protected:
  static constexpr Timestamp kWall = 1'700'000'000'000;
  static constexpr int64_t kDay = 86'400'000;

  ClockTest() {
    tick_.Restore(FromSnapshot(attached_), attached_.last_sequence());
    tick_.StartClock("boot", At(0));
    tick_.Start(tick_.TimeAt(At(0)));
    tick_.observations().nodes["a"].last_heartbeat_ms = kWall;
    Tick(At(0));
  }

  ClockReading At(int64_t ms, int64_t ahead_ms = 0) const {
    return {kWall + ms + ahead_ms, 5000 + ms};
  }

  // Starts a tick with this clock reading. Returns the tick's time.
  Timestamp Begin(const ClockReading& reading) {
    const Timestamp now = tick_.BeginTick(reading);
    EXPECT_EQ(tick_.ExcuseOwnStall(now), 0);
    events_ = static_cast<int>(tick_.Decide(now).size());
    return now;
  }

  void Tick(const ClockReading& reading) { tick_.Committed(Begin(reading)); }

  int events_ = 0;
};

TEST_F(ClockTest, AStepIsTheFirstEventOfItsTickAndMovesAllTimes) {
  EXPECT_EQ(tick_.state().clock.boot_id(), "boot") << "the first tick of a boot records it";
  Submit("one");
  Tick(At(200));
  const Timestamp submitted = tick_.state().jobs.at(1).job.submitted_time_ms();
  EXPECT_EQ(submitted, kWall + 200);
  Submit("two");
  const Timestamp now = Begin(At(400, -kDay));
  EXPECT_EQ(now, kWall + 400 - kDay);
  ASSERT_TRUE(tick_.clock_set().has_value());
  tick_.Committed(now);
  EXPECT_EQ(tick_.state().jobs.at(1).job.submitted_time_ms(), submitted - kDay);
  EXPECT_EQ(tick_.state().jobs.at(2).job.submitted_time_ms(), now);
  EXPECT_EQ(tick_.observations().nodes["a"].last_heartbeat_ms, kWall - kDay);
  EXPECT_EQ(tick_.TimeAt(At(600)), kWall + 600 - kDay) << "steady until the next tick";
  Tick(At(600));
  EXPECT_EQ(tick_.state().jobs.at(1).job.submitted_time_ms(), submitted);
  Tick(At(800));
  EXPECT_EQ(events_, 0);
  EXPECT_FALSE(tick_.clock_set().has_value());
}

TEST_F(ClockTest, AStepWhoseTickIsUndoneIsTakenOnceThereIsSpace) {
  const v1::Snapshot before = ToSnapshot(tick_.state(), tick_.last_sequence());
  Submit("one");
  Begin(At(200, kDay));
  tick_.Undone(FromSnapshot(before), absl::ResourceExhaustedError("disk full"));
  EXPECT_EQ(tick_.TimeAt(At(200, kDay)), kWall + 200);
  EXPECT_EQ(tick_.observations().nodes["a"].last_heartbeat_ms, kWall);
  EXPECT_EQ(tick_.BeginTick(At(400, kDay)), kWall + 400) << "without space nothing is recorded";
  tick_.SpaceIsBack(kWall + 400);
  Tick(At(600, kDay));
  EXPECT_EQ(tick_.state().jobs.at(1).job.submitted_time_ms(), kWall + 600 + kDay);
  EXPECT_EQ(tick_.observations().nodes["a"].last_heartbeat_ms, kWall + kDay);
}

TEST_F(ClockTest, ARestartOnTheSameBootGoesOnWithItsTime) {
  Submit("one");
  Tick(At(200));
  TickKernel next(Options());
  next.Restore(FromSnapshot(ToSnapshot(tick_.state(), tick_.last_sequence())),
               tick_.last_sequence());
  next.StartClock("boot", At(60'000, kDay));
  next.Start(next.TimeAt(At(60'000, kDay)));
  const Timestamp now = next.BeginTick(At(60'000, kDay));
  next.Decide(now);
  next.Committed(now);
  EXPECT_EQ(now - next.state().jobs.at(1).job.submitted_time_ms(), 60'000 - 200);
  EXPECT_EQ(next.observations().since_ms, now);
}

TEST_F(ClockTest, AFactThatWaitsMovesWithTheClock) {
  v1::Fact fact;
  Submit("one");
  Tick(At(200));
  fact.set_sequence(1);
  fact.mutable_rank_exited()->set_job_id(1);
  fact.mutable_rank_exited()->set_attempt(1);
  fact.mutable_rank_exited()->set_exit_code(1);
  fact.mutable_rank_exited()->set_time_ms(kWall + 7'000'300);
  // The node's clock is ahead by 7,000 s.
  tick_.Submit(ReceiveFact{"a", fact, 7'000'000, kWall + 250}, [](const auto&, const auto&) {});
  Tick(At(400, kDay));
  EXPECT_EQ(tick_.state().jobs.at(1).exited_ranks.at(0).corrected_ms(), kWall + 300 + kDay);
}

}  // namespace
}  // namespace trainyard::controller
