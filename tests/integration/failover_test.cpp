// Two controllers on one database, with real processes: the leader is killed, stopped, cut off from
// the database and replaced by a hand-over, and the database crashes, while a job trains. No
// acknowledged submission may be lost, no rank may start twice, and each step must be stored once.
//
// TRAINYARD_FAILOVERS is the number of fail-overs of the first test (default: 10).
// TRAINYARD_LOSS_PERCENT is the packet loss of the lossy network (default: 5). Each test prints a
// table of the times from the fault to the next accepted submission. TRAINYARD_PAGE_WATCH is a
// program that watches the page of both controllers during the last test (tests/web/watch_page.sh).
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "tests/fakes/environment_number.h"
#include "tests/fakes/process_channel.h"
#include "tests/integration/chaos_job.h"
#include "tests/integration/controller_pair.h"
#include "tests/integration/http_calls.h"

namespace trainyard::test {
namespace {

constexpr int kExitCommitFailed = 1;
constexpr int kQuestions = 8;
constexpr int kKills = 20;
constexpr int64_t kFailOvers = 10;

enum Fault { kKill, kStop, kPartition, kDatabaseCrash, kHandOver, kFaults };
constexpr std::array<const char*, kFaults> kFaultNames = {
    "kill -9", "SIGSTOP, SIGCONT", "cut off from the database", "database crash", "hand-over"};
using FaultTimes = std::array<std::vector<double>, kFaults>;

class FailoverTest : public ControllerPair {
 protected:
  void SetUp() override { StartPair({.is_direct = false}); }

  // Returns true if the controller answers.
  static bool ListJobs(const std::shared_ptr<grpc::Channel>& channel) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    v1::ListJobsResponse response;
    return v1::JobService::NewStub(channel)->ListJobs(&context, {}, &response).ok();
  }

  // Either a commit fails first, or a renewal of the leadership.
  void ExpectLeaderExits(ChildProcess& leader) const {
    const auto exit_code = leader.Wait();
    EXPECT_TRUE(exit_code == kExitCommitFailed || exit_code == kExitLeadershipLost) << Logs();
  }

  // Replaces the leader. Returns the seconds until the next accepted submission.
  double FailOver(Fault fault) {
    if (fault == kHandOver) {
      const double seconds = HandOver();
      return seconds + SubmitSmallJob();
    }
    ChildProcess& leader = *members_[leader_].process;
    const int failed = leader_;
    double seconds = 0;
    if (fault == kKill) {
      leader.Signal(SIGKILL);
      seconds = SubmitSmallJob();
      leader.Wait();
    } else if (fault == kStop) {
      const auto channel = OpenProcessChannel(members_[leader_].address);
      leader.Signal(SIGSTOP);
      seconds = SubmitSmallJob();
      // Questions wait in the socket of the stopped process.
      std::vector<std::thread> questions;
      for (int i = 0; i < kQuestions; ++i) {
        questions.emplace_back([&] { EXPECT_FALSE(ListJobs(channel)) << "it answered"; });
      }
      leader.Signal(SIGCONT);
      for (std::thread& question : questions) question.join();
      ExpectLeaderExits(leader);
    } else if (fault == kPartition) {
      members_[failed].wire->Signal(SIGSTOP);
      seconds = SubmitSmallJob();
      // It notices by its own clock that another controller may lead.
      ExpectLeaderExits(leader);
      members_[failed].wire->Signal(SIGCONT);
    } else {
      EXPECT_TRUE(server_->CrashAndRestart().ok());
      std::thread submission([&] { seconds = SubmitSmallJob(); });
      ExpectLeaderExits(leader);
      // As the service manager does. The other controller may already lead.
      StartMember(failed);
      submission.join();
    }
    if (fault != kDatabaseCrash) StartMember(failed);
    EXPECT_TRUE(FindLeader()) << Logs();
    return seconds;
  }

  // Fails over while the gang trains, and adds the time.
  void FailOverOf(const ChaosJob& chaos, Fault fault, FaultTimes& times) {
    times[fault].push_back(FailOver(fault));
    // The gang makes progress under the new leader.
    const int64_t step = cluster_->Job(chaos.id()).progress().step();
    EXPECT_TRUE(cluster_->WaitForStep(chaos.id(), step + 1)) << cluster_->DaemonLogs() << Logs();
  }

  // Ends the run. Each step is stored once, and each acknowledged job has run once.
  void CheckRun(ChaosJob& chaos, int64_t failovers) const {
    ASSERT_NO_FATAL_FAILURE(chaos.FinishInOneAttempt("a fail-over ends no attempt"));
    CheckSmallJobs();
    EXPECT_GT(CheckTerms(), failovers) << "each fail-over begins a term";
  }

  // As an upgrade of the standby does.
  void RestartStandby() {
    const int standby = 1 - leader_;
    members_[standby].process->Signal(SIGTERM);
    EXPECT_EQ(members_[standby].process->Wait(), 0) << Logs();
    StartMember(standby);
    EXPECT_TRUE(FindLeader()) << Logs();
    EXPECT_EQ(leader_, 1 - standby);
  }

  // Starts to watch the job on the pages of both controllers. Does nothing without a program.
  void StartPageWatch(int64_t job_id) {
    const char* program = std::getenv("TRAINYARD_PAGE_WATCH");
    if (program == nullptr) return;
    watch_log_ = cluster_->directory() + "/page_watch.log";
    watch_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{program, absl::StrCat(job_id),
                                 FirstLine(Cli({"dashboard"}).output), members_[0].page,
                                 members_[1].page},
        watch_log_);
    EXPECT_TRUE(Eventually([&] { return ReadFile(watch_log_).starts_with("watching"); }))
        << ReadFile(watch_log_);
  }
  void CheckPageWatch() const {
    if (watch_ == nullptr) return;
    watch_->Signal(SIGTERM);
    EXPECT_EQ(watch_->Wait(Seconds(60)), 0);
    std::cout << ReadFile(watch_log_);
  }

  static void Print(const FaultTimes& times) {
    std::cout << "| fault of the leader | times | p50 (s) | p99 (s) | longest (s) |\n"
                 "|---|---|---|---|---|\n";
    for (int fault = 0; fault < kFaults; ++fault) {
      std::vector<double> sorted = times[fault];
      if (sorted.empty()) continue;
      std::ranges::sort(sorted);
      const auto at = [&](double part) {
        return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
      };
      std::cout << absl::StrFormat("| %s | %d | %.2f | %.2f | %.2f |\n", kFaultNames[fault],
                                   sorted.size(), at(0.5), at(0.99), sorted.back());
    }
  }

 private:
  std::string watch_log_;
  std::unique_ptr<ChildProcess> watch_;  // Null without TRAINYARD_PAGE_WATCH.
};

TEST_F(FailoverTest, NothingAcknowledgedIsLost) {
  const int64_t failovers = EnvironmentNumber("TRAINYARD_FAILOVERS", kFailOvers);
  ChaosJob chaos(*cluster_, "chaos", kWorkerNodes);
  ASSERT_TRUE(cluster_->WaitForStep(chaos.id(), 5)) << cluster_->DaemonLogs();
  FaultTimes times;
  for (int64_t i = 0; i < failovers && !HasFailure(); ++i) {
    FailOverOf(chaos, static_cast<Fault>(i % kFaults), times);
  }
  Print(times);
  CheckRun(chaos, failovers);
}

class LossyFailoverTest : public FailoverTest {
 protected:
  void SetUp() override {
    const auto percent = static_cast<double>(EnvironmentNumber("TRAINYARD_LOSS_PERCENT", 5));
    StartPair({.is_direct = false, .loss = percent / 100});
  }
};

// The network between the controllers and the database loses packets.
TEST_F(LossyFailoverTest, AFailOverOnALossyNetworkLosesNothing) {
  ChaosJob chaos(*cluster_, "chaos", kWorkerNodes);
  ASSERT_TRUE(cluster_->WaitForStep(chaos.id(), 5)) << cluster_->DaemonLogs();
  FaultTimes times;
  FailOverOf(chaos, kKill, times);
  FailOverOf(chaos, kHandOver, times);
  Print(times);
  CheckRun(chaos, 2);
}

// The leader is killed many times, both controllers are upgraded, and the database restarts.
TEST_F(FailoverTest, KillsAnUpgradeAndADatabaseRestartDoNotDisturbATrainingRun) {
  ChaosJob chaos(*cluster_, "chaos", kWorkerNodes);
  ASSERT_TRUE(cluster_->WaitForStep(chaos.id(), 5)) << cluster_->DaemonLogs();
  StartPageWatch(chaos.id());
  FaultTimes times;
  for (int i = 0; i < kKills && !HasFailure(); ++i) FailOverOf(chaos, kKill, times);
  RestartStandby();
  FailOverOf(chaos, kHandOver, times);
  FailOverOf(chaos, kDatabaseCrash, times);
  Print(times);
  CheckPageWatch();
  CheckRun(chaos, kKills + 2);
}

}  // namespace
}  // namespace trainyard::test
