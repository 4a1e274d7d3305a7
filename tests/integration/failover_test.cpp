// Two controllers on one database, with real processes: the leader is killed and stopped, and the
// database crashes, while a job trains. No acknowledged submission may be lost, no rank may start
// twice, and each step must be stored once.
//
// TRAINYARD_FAILOVERS is the number of fail-overs; without it, the test is skipped. The test prints
// a table of the times from the fault to the next accepted submission.
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/controller/store/postgres/postgres_server.h"
#include "tests/fakes/environment_number.h"
#include "tests/fakes/process_channel.h"
#include "tests/integration/chaos_job.h"

namespace trainyard::test {
namespace {

using controller::PostgresServer;
using Steady = std::chrono::steady_clock;

// Exit status of a controller that no longer leads (controller/leader_guard.h).
constexpr int kExitLeadershipLost = 3;
constexpr int kExitCommitFailed = 1;
constexpr int kWorkerNodes = 2;
constexpr int kQuestions = 8;

enum Fault { kKill, kStop, kDatabaseCrash, kFaults };
constexpr std::array<const char*, kFaults> kFaultNames = {"kill -9", "SIGSTOP, SIGCONT",
                                                          "database crash"};

class FailoverTest : public testing::Test {
 protected:
  struct Member {
    std::string address;
    std::string data_dir;
    std::unique_ptr<ChildProcess> process;
  };

  void SetUp() override {
    if (EnvironmentNumber("TRAINYARD_FAILOVERS", 0) == 0) {
      GTEST_SKIP() << "set TRAINYARD_FAILOVERS to the number of fail-overs";
    }
    const auto server = PostgresServer::Shared();
    if (absl::IsNotFound(server.status())) GTEST_SKIP() << server.status().message();
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *server;
    const auto settings = server_->SettingsOf("failover");
    ASSERT_TRUE(settings.ok()) << settings.status();
    settings_ = *settings;
    cluster_ = std::make_unique<MiniCluster>(MiniCluster::WithoutController{});
    for (int i = 0; i < 2; ++i) {
      members_.push_back({FreeAddress(), absl::StrCat(cluster_->directory(), "/controller", i)});
      StartMember(i);
      // The next free address is another one only once this one is in use.
      EXPECT_TRUE(Eventually([&] { return FreeAddress() != members_[i].address; })) << Logs();
    }
    ASSERT_TRUE(FindLeader()) << Logs();
    for (int node = 0; node < kWorkerNodes; ++node) cluster_->StartWorker(node, {}, Addresses());
  }

  void StartMember(int i) {
    Member& member = members_[i];
    member.process = std::make_unique<ChildProcess>(
        std::vector<std::string>{ProgramPath("trainyard-controller"), "--listen", member.address,
                                 "--data-dir", member.data_dir, "--token-file",
                                 cluster_->token_file(), "--http-listen", "off", "--postgres",
                                 settings_},
        member.data_dir + ".log");
  }

  std::string Addresses() const {
    return absl::StrCat(members_[0].address, ",", members_[1].address);
  }
  std::string Logs() const {
    return absl::StrCat("---- controller 0\n", ReadFile(members_[0].data_dir + ".log"),
                        "---- controller 1\n",
                        members_.size() > 1 ? ReadFile(members_[1].data_dir + ".log") : "");
  }

  // Waits until one controller leads and the other is a standby, and makes the leader the
  // controller of `cluster_`. Returns false after a time-out.
  bool FindLeader() {
    return Eventually(
        [&] {
          const CommandResult status =
              RunCommand({ProgramPath("trainyard"), "--server", Addresses(), "server", "status"});
          if (status.output.find(": standby for") == std::string::npos) return false;
          leader_ = status.output.find("controller at " + members_[0].address) == 0 ? 0 : 1;
          cluster_->UseController(members_[leader_].address);
          return true;
        },
        Seconds(30));
  }

  // Submits a job to whoever leads. Returns the seconds that this took.
  double SubmitSmallJob() {
    const std::string name = absl::StrCat("small-", small_jobs_.size());
    const std::string file = cluster_->WriteJob(
        name, absl::StrCat("name: ", name,
                           "\nresources: {device: cpu}\nrestart: {max_restarts: 0}\ncommand: "
                           "[/bin/echo, ",
                           name, "]\n"));
    const auto begin = Steady::now();
    const CommandResult result = RunCommand(
        {ProgramPath("trainyard"), "--server", Addresses(), "submit", file, "-o", "json"});
    const double seconds = std::chrono::duration<double>(Steady::now() - begin).count();
    const auto job = nlohmann::json::parse(result.output, nullptr, false);
    EXPECT_EQ(result.exit_code, 0) << result.error << Logs();
    if (job.is_object()) small_jobs_[job.value("id", int64_t{0})] = name;
    return seconds;
  }

  // Returns true if the controller answers.
  static bool ListJobs(const std::shared_ptr<grpc::Channel>& channel) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
    v1::ListJobsResponse response;
    return v1::JobService::NewStub(channel)->ListJobs(&context, {}, &response).ok();
  }

  // Makes the leader fail. Returns the seconds until the next accepted submission.
  double FailOver(Fault fault) {
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
      EXPECT_EQ(leader.Wait(), kExitLeadershipLost) << Logs();
    } else {
      EXPECT_TRUE(server_->CrashAndRestart().ok());
      // As the service manager does. The other controller may already lead.
      std::thread restart([&] {
        // Either a commit fails first, or a renewal of the leadership.
        const auto exit_code = leader.Wait();
        EXPECT_TRUE(exit_code == kExitCommitFailed || exit_code == kExitLeadershipLost) << Logs();
        StartMember(failed);
      });
      seconds = SubmitSmallJob();
      restart.join();
    }
    if (fault != kDatabaseCrash) StartMember(failed);
    EXPECT_TRUE(FindLeader()) << Logs();
    return seconds;
  }

  void CheckSmallJobs() const {
    for (const auto& [id, name] : small_jobs_) {
      const v1::Job job = cluster_->WaitForEnd(id);
      EXPECT_EQ(job.name(), name);
      EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
      EXPECT_EQ(job.attempts_size(), 1);
      const int64_t job_id = id;
      EXPECT_TRUE(Eventually([&] { return cluster_->Logs(job_id, 0, 1).size() == 1; })) << name;
    }
  }

  // The terms of the log never fall, and each fail-over has begun one.
  void CheckTerms(int64_t failovers) const {
    const v1::ListEventsResponse events = cluster_->Events(1000);  // Newest first.
    int64_t newer = std::numeric_limits<int64_t>::max();
    for (const v1::EventEntry& entry : events.events()) {
      const int64_t term = std::max<int64_t>(1, entry.event().leader_term());
      EXPECT_LE(term, newer) << entry.sequence();
      newer = term;
    }
    ASSERT_GT(events.events_size(), 0);
    EXPECT_GT(events.events(0).event().leader_term(), failovers);
  }

  static void Print(const std::array<std::vector<double>, kFaults>& times) {
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

  PostgresServer* server_ = nullptr;
  std::string settings_;
  std::unique_ptr<MiniCluster> cluster_;
  std::vector<Member> members_;
  int leader_ = 0;
  std::map<int64_t, std::string> small_jobs_;
};

TEST_F(FailoverTest, NothingAcknowledgedIsLost) {
  const int64_t failovers = EnvironmentNumber("TRAINYARD_FAILOVERS", 0);
  ChaosJob chaos(*cluster_, "chaos", kWorkerNodes);
  ASSERT_TRUE(cluster_->WaitForStep(chaos.id(), 5)) << cluster_->DaemonLogs();
  std::array<std::vector<double>, kFaults> times;
  for (int64_t i = 0; i < failovers && !HasFailure(); ++i) {
    const auto fault = static_cast<Fault>(i % kFaults);
    times[fault].push_back(FailOver(fault));
    // The gang makes progress under the new leader.
    const int64_t step = cluster_->Job(chaos.id()).progress().step();
    EXPECT_TRUE(cluster_->WaitForStep(chaos.id(), step + 1)) << cluster_->DaemonLogs() << Logs();
  }
  Print(times);
  ASSERT_NO_FATAL_FAILURE(chaos.FinishInOneAttempt("a fail-over ends no attempt"));
  CheckSmallJobs();
  CheckTerms(failovers);
}

}  // namespace
}  // namespace trainyard::test
