// Tests leadership with real sessions and processes: who leads, and that nobody else writes.
#include "controller/store/postgres/leadership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/store/leader/leader_rule.h"
#include "controller/store/postgres/leader_table.h"
#include "controller/store/postgres/postgres_event_log.h"
#include "controller/store/postgres/postgres_schema.h"
#include "tests/controller/store/child_process.h"
#include "tests/controller/store/postgres/postgres_fixture.h"

namespace trainyard::controller {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::HasSubstr;

class PostgresLeadershipTest : public PostgresFixture {
 protected:
  void SetUp() override {
    PostgresFixture::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_TRUE(MigrateEvents(*Connect()).ok());
  }

  std::unique_ptr<Leadership> Open(const std::string& holder) const {
    auto leadership = Leadership::Open(settings(), holder, "1.0");
    EXPECT_TRUE(leadership.ok()) << leadership.status();
    return leadership.ok() ? *std::move(leadership) : nullptr;
  }

  // Steps until the candidate leads. Returns the time that this took.
  static milliseconds StepUntilLeader(Leadership& candidate) {
    const auto start = steady_clock::now();
    while (candidate.term() == 0 && steady_clock::now() < start + std::chrono::seconds(30)) {
      const absl::Status status = candidate.Step();
      EXPECT_TRUE(status.ok()) << status;
      if (!status.ok()) break;
      std::this_thread::sleep_for(milliseconds(10));
    }
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - start);
  }

  // Runs `then` as the leader.
  template <typename Then>
  void LeadAndRun(const Then& then) const {
    const auto leader = Open("child");
    StepUntilLeader(*leader);
    then(*leader);
  }
};

TEST_F(PostgresLeadershipTest, OneOfTwoLeadsAndTheOtherNamesIt) {
  const auto first = Open("first");
  const auto second = Open("second");
  ASSERT_TRUE(first->Step().ok());
  EXPECT_EQ(first->term(), 1);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(second->Step().ok());
    ASSERT_TRUE(first->Step().ok());
  }
  EXPECT_EQ(second->term(), 0);
  EXPECT_EQ(second->leader(), "first");
  EXPECT_EQ(second->leader_term(), 1);
  EXPECT_FALSE(first->ContinuesLog()) << "it had no predecessor";
  EXPECT_EQ(first->interval_ms(), kRenewEveryMs);
  EXPECT_EQ(second->interval_ms(), kCandidateEveryMs);
}

// On a slow network, a write may take longer than the time between renewals.
TEST_F(PostgresLeadershipTest, ALeaderRenewsItsRowDuringItsOwnWrites) {
  const auto leader = Open("first");
  ASSERT_TRUE(leader->Step().ok());
  const auto writer = Connect();
  auto transaction = BeginLeaderWrite(1, *writer);
  ASSERT_TRUE(transaction.ok()) << transaction.status();
  const absl::Status renewed = leader->Step();
  EXPECT_TRUE(renewed.ok()) << renewed;
  EXPECT_TRUE(transaction->Commit().ok());
}

// The database was replaced by an older copy.
TEST_F(PostgresLeadershipTest, TheTermAfterOneThatAWorkerHasSeenIsHigher) {
  const auto first = Open("first");
  ASSERT_TRUE(first->Step().ok());
  const absl::Status passed = first->PassTerm(9);
  EXPECT_TRUE(absl::IsAborted(passed)) << passed;
  EXPECT_THAT(std::string(passed.message()), HasSubstr("replaced by an older copy. The next term "
                                                       "is 10"));
  EXPECT_TRUE(absl::IsAborted(first->Step())) << "it no longer leads";
  EXPECT_THAT(std::string(first->PassTerm(20).message()), HasSubstr("term 1 is lost"));
  const auto second = Open("second");
  ASSERT_TRUE(second->Step().ok());
  EXPECT_EQ(second->term(), 0) << "the first one still has the lock";
  EXPECT_EQ(BeginNextTerm(*Connect()).value(), 10);
}

TEST_F(PostgresLeadershipTest, ATermIsHigherThanThoseInTheLog) {
  ASSERT_EQ(BeginNextTerm(*Connect()).value(), 1);
  const auto log = PostgresEventLog::Open(settings(), 1);
  ASSERT_TRUE(log.ok()) << log.status();
  v1::Event event;
  event.set_leader_term(50);
  event.mutable_queue_set()->mutable_queue()->set_name("from another store");
  ASSERT_TRUE((*log)->Append({event}).ok());
  EXPECT_EQ(BeginNextTerm(*Connect()).value(), 51);
  EXPECT_EQ(BeginNextTerm(*Connect()).value(), 52);
}

TEST_F(PostgresLeadershipTest, OfManyCandidatesExactlyOneLeads) {
  std::vector<std::unique_ptr<Leadership>> candidates;
  for (int i = 0; i < 4; ++i) candidates.push_back(Open(absl::StrCat("c", i)));
  std::vector<std::thread> threads;
  for (const auto& candidate : candidates) {
    threads.emplace_back([&] { EXPECT_TRUE(candidate->Step().ok()); });
  }
  for (std::thread& thread : threads) thread.join();
  const auto leaders = std::ranges::count_if(
      candidates, [](const auto& candidate) { return candidate->term() == 1; });
  EXPECT_EQ(leaders, 1);
  EXPECT_EQ(Connect()->QueryInt64("SELECT term FROM leader").value(), 1);
}

TEST_F(PostgresLeadershipTest, AKilledLeaderIsReplacedAtOnce) {
  ChildProcess child([&](int report_fd) {
    LeadAndRun([&](Leadership&) {
      ChildProcess::Report(report_fd, getpid());
      while (true) pause();
    });
  });
  int64_t pid = 0;
  ASSERT_TRUE(child.Read(pid));
  const auto candidate = Open("next");
  ASSERT_TRUE(candidate->Step().ok());
  EXPECT_EQ(candidate->term(), 0);
  // Only the lock can show now that the leader is dead.
  ASSERT_TRUE(Connect()->RunScript("UPDATE leader SET renewed = renewed + interval '1 hour'").ok());
  child.Kill();
  StepUntilLeader(*candidate);
  EXPECT_EQ(candidate->term(), 2);
  EXPECT_FALSE(candidate->ContinuesLog()) << "the leader has not confirmed its log";
}

// An older copy of the database may have been started.
TEST_F(PostgresLeadershipTest, ALeaderAfterARestartOfTheDatabaseDoesNotContinueTheLog) {
  const auto leader = Open("first");
  ASSERT_TRUE(leader->Step().ok());
  const auto candidate = Open("next");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(candidate->Step().ok());
  ASSERT_TRUE(server().CrashAndRestart().ok());
  EXPECT_TRUE(absl::IsAborted(leader->Step()));
  EXPECT_FALSE(candidate->Step().ok()) << "its session has ended";
  StepUntilLeader(*candidate);
  EXPECT_EQ(candidate->term(), 2);
  EXPECT_FALSE(candidate->ContinuesLog());
}

// The stopped leader holds the row in an open transaction, and its session does not end.
TEST_F(PostgresLeadershipTest, ALeaderStoppedInATransactionIsReplacedAndWritesNothing) {
  ASSERT_TRUE(Connect()->RunScript("CREATE TABLE written (a bigint)").ok());
  ChildProcess child([&](int report_fd) {
    LeadAndRun([&](Leadership& leader) {
      const auto writer = Connect({.idle_transaction_ms = 60'000});
      auto transaction = BeginLeaderWrite(leader.term(), *writer);
      if (!transaction.ok() || !writer->Run("INSERT INTO written VALUES (1)").ok()) _exit(1);
      ChildProcess::Report(report_fd, getpid());
      raise(SIGSTOP);
      if (transaction->Commit().ok()) _exit(2);
      if (leader.Step().ok()) _exit(3);
    });
    _exit(0);
  });
  int64_t pid = 0;
  ASSERT_TRUE(child.Read(pid));
  ASSERT_EQ(waitpid(static_cast<pid_t>(pid), nullptr, WUNTRACED), pid) << "it is not stopped";
  const auto candidate = Open("next");
  const milliseconds took = StepUntilLeader(*candidate);
  EXPECT_EQ(candidate->term(), 2);
  EXPECT_LT(took, milliseconds(4 * kTakeOverAfterMs));
  ASSERT_TRUE(candidate->Step().ok()) << "the new leader renews";
  ASSERT_EQ(kill(static_cast<pid_t>(pid), SIGCONT), 0);
  const int status = child.Wait();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "2: it committed, 3: it renewed";
  EXPECT_EQ(Connect()->QueryInt64("SELECT COUNT(*) FROM written").value(), 0);
}

TEST_F(PostgresLeadershipTest, ALeaderWithoutRenewalMayNotAnswer) {
  const auto leader = Open("first");
  EXPECT_FALSE(leader->MayAnswer()) << "it is a candidate";
  ASSERT_TRUE(leader->Step().ok());
  EXPECT_TRUE(leader->MayAnswer());
  const auto deadline = steady_clock::now() + std::chrono::seconds(30);
  while (leader->MayAnswer() && steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_FALSE(leader->MayAnswer());
  ASSERT_TRUE(leader->Step().ok());
  EXPECT_TRUE(leader->MayAnswer());
}

// The candidate had the lock but never began its term.
TEST_F(PostgresLeadershipTest, AStalledCandidateDoesNotBlockTheOthers) {
  const auto stalled = Connect();
  ASSERT_EQ(stalled
                ->QueryInt64("SELECT pg_try_advisory_lock(hashtextextended('trainyard leader ' || "
                             "current_schema(), 0))")
                .value(),
            1);
  const auto candidate = Open("next");
  ASSERT_TRUE(candidate->Step().ok());
  EXPECT_EQ(candidate->term(), 0) << "the other candidate is given some time";
  EXPECT_GT(StepUntilLeader(*candidate), milliseconds(1'000));
  EXPECT_EQ(candidate->term(), 1);
}

TEST_F(PostgresLeadershipTest, ALeaderWhoseSessionEndedExits) {
  const auto leader = Open("first");
  ASSERT_TRUE(leader->Step().ok());
  const auto other = Connect();
  ASSERT_TRUE(other->Run("SELECT pg_terminate_backend(session::int) FROM leader").ok());
  const absl::Status status = leader->Step();
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("term 1"));
}

// A candidate gets the lock at once, so the leader must not answer until its next renewal.
TEST_F(PostgresLeadershipTest, ALeaderWhoseSessionEndedMayNotAnswer) {
  const auto leader = Open("first");
  ASSERT_TRUE(leader->Step().ok());
  EXPECT_TRUE(leader->MayAnswer());
  const auto start = steady_clock::now();
  const auto other = Connect();
  ASSERT_TRUE(other->Run("SELECT pg_terminate_backend(session::int) FROM leader").ok());
  while (leader->MayAnswer() && steady_clock::now() < start + std::chrono::seconds(30)) {
    ASSERT_TRUE(other->Run("SELECT pg_sleep(0.001)").ok());
  }
  EXPECT_LT(steady_clock::now() - start, milliseconds(kRenewEveryMs));
}

// After a restart of the server, a leader that is cut off from it may still answer callers.
TEST_F(PostgresLeadershipTest, AnUnseenLeaderIsReplacedOnceItNoLongerAnswers) {
  auto leader = Open("first");
  ASSERT_TRUE(leader->Step().ok());
  const auto renewed = steady_clock::now();
  leader = nullptr;
  const auto same_address = Open("first");
  EXPECT_LT(StepUntilLeader(*same_address), milliseconds(kTakeOverAfterMs - kRenewEveryMs))
      << "its predecessor has ended";
  ASSERT_TRUE(Connect()->RunScript("UPDATE leader SET holder = 'another'").ok());
  // Waits for the end of the session.
  ASSERT_TRUE(Connect()->Run("SELECT pg_terminate_backend(session::int, 5000) FROM leader").ok());
  const auto candidate = Open("next");
  StepUntilLeader(*candidate);
  EXPECT_EQ(candidate->term(), 3);
  EXPECT_FALSE(candidate->ContinuesLog());
  EXPECT_GE(steady_clock::now() - renewed, milliseconds(kTakeOverAfterMs - kRenewEveryMs));
}

TEST_F(PostgresLeadershipTest, ALeaderThatLostItsRowExits) {
  const auto leader = Open("first");
  ASSERT_TRUE(leader->Step().ok());
  ASSERT_TRUE(Connect()->RunScript("UPDATE leader SET term = 7").ok());
  const absl::Status status = leader->Step();
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("term 7 has begun"));
}

TEST_F(PostgresLeadershipTest, ACandidateSurvivesARestartOfTheDatabase) {
  const auto candidate = Open("next");
  ASSERT_TRUE(server().CrashAndRestart().ok());
  absl::Status status;
  for (int i = 0; i < 3 && candidate->term() == 0; ++i) status = candidate->Step();
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(candidate->term(), 1);
}

TEST_F(PostgresLeadershipTest, ALeaderListsItsStandbys) {
  const auto leader = Open("first");
  ASSERT_TRUE(leader->Step().ok());
  EXPECT_TRUE(leader->Standbys()->empty()) << "a leader is no standby";
  const auto standby = Leadership::Open(settings(), "second", "2.0");
  ASSERT_TRUE((*standby)->Step().ok());
  const auto listed = leader->Standbys();
  ASSERT_TRUE(listed.ok()) << listed.status();
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().address, "second");
  EXPECT_EQ(listed->front().version, "2.0");
  EXPECT_TRUE(listed->front().is_ready);
  ASSERT_TRUE(Connect()->RunScript("UPDATE standby SET reported = reported - interval '2 s'").ok());
  EXPECT_FALSE(leader->Standbys()->front().is_ready);
  ASSERT_TRUE(
      Connect()->RunScript("UPDATE standby SET reported = reported - interval '2 min'").ok());
  EXPECT_TRUE(leader->Standbys()->empty());
}

TEST_F(PostgresLeadershipTest, OnlyRunningControllersAreStandbys) {
  const auto leader = Open("first");
  ASSERT_TRUE(leader->Step().ok());
  const auto command = Leadership::Open(settings(), "a command", "1.0", LeaderKind::kCommand);
  ASSERT_TRUE((*command)->Step().ok());
  EXPECT_TRUE(leader->Standbys()->empty()) << "a command does not serve";
  auto standby = Open("second");
  ASSERT_TRUE(standby->Step().ok());
  EXPECT_EQ(leader->Standbys()->size(), 1u);
  standby.reset();
  EXPECT_TRUE(leader->Standbys()->empty()) << "it has stopped";
}

TEST_F(PostgresLeadershipTest, TheNamedSuccessorLeadsAfterTheLeader) {
  auto leader = Open("first");
  ASSERT_TRUE(leader->Step().ok());
  const auto successor = Open("second");
  const auto other = Open("third");
  ASSERT_TRUE(successor->Step().ok());
  ASSERT_TRUE(other->Step().ok());
  ASSERT_TRUE(leader->NameSuccessor("second").ok());
  leader.reset();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(other->Step().ok());
  EXPECT_EQ(other->term(), 0) << "it yields";
  StepUntilLeader(*successor);
  EXPECT_EQ(successor->term(), 2);
  ASSERT_TRUE(other->Step().ok());
  EXPECT_EQ(other->leader(), "second");
  EXPECT_TRUE(Connect()->QueryInt64("SELECT COUNT(*) FROM leader WHERE successor = ''").value() ==
              1)
      << "a later failure of the new leader is an ordinary one";
}

TEST_F(PostgresLeadershipTest, ADeadSuccessorDelaysTheOthersOnlyForAShortTime) {
  auto leader = Open("first");
  ASSERT_TRUE(leader->Step().ok());
  const auto successor = Open("second");
  const auto other = Open("third");
  ASSERT_TRUE(successor->Step().ok());
  ASSERT_TRUE(other->Step().ok());
  ASSERT_TRUE(leader->NameSuccessor("second").ok());
  leader.reset();
  ASSERT_TRUE(other->Step().ok());
  EXPECT_EQ(other->term(), 0) << "the successor has reported just now";
  EXPECT_LE(StepUntilLeader(*other), milliseconds(kSuccessorWaitMs + 1'000));
  EXPECT_EQ(other->term(), 2);
}

TEST_F(PostgresLeadershipTest, OnlyALeaderNamesASuccessor) {
  const auto leader = Open("first");
  ASSERT_TRUE(leader->Step().ok());
  ASSERT_TRUE(Connect()->RunScript("UPDATE leader SET term = 7").ok());
  EXPECT_TRUE(absl::IsAborted(leader->NameSuccessor("second")));
}

TEST_F(PostgresLeadershipTest, AForeignUserNeedsTheRightToEndSessions) {
  const auto admin = Connect();
  const std::string schema(admin->Query("SELECT current_schema()::text::bytea")->Bytes(0, 0));
  const auto settings_of = [&](const std::string& user) {
    EXPECT_TRUE(
        admin
            ->RunScript(absl::StrCat("CREATE ROLE ", user, " LOGIN; GRANT USAGE ON SCHEMA ", schema,
                                     " TO ", user, "; GRANT SELECT, UPDATE ON leader TO ", user,
                                     "; GRANT SELECT, INSERT, UPDATE, DELETE ON standby TO ", user,
                                     "; GRANT SELECT ON leader_note, event TO ", user))
            .ok());
    return absl::StrCat(server().SettingsFor(user), " options='-c search_path=", schema, "'");
  };
  const std::string other = settings_of("second_user");
  const auto leader = Leadership::Open(settings_of("first_user"), "first");
  ASSERT_TRUE((*leader)->Step().ok());
  const absl::Status status = Leadership::Open(other, "second").status();
  EXPECT_TRUE(absl::IsPermissionDenied(status)) << status;
  ASSERT_TRUE(admin->RunScript("GRANT pg_signal_backend TO second_user").ok());
  EXPECT_TRUE(Leadership::Open(other, "second").ok());
  ASSERT_TRUE(admin
                  ->RunScript("DROP OWNED BY first_user, second_user; DROP ROLE first_user, "
                              "second_user")
                  .ok());
}

}  // namespace
}  // namespace trainyard::controller
