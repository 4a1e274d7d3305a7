// A controller whose stores are in PostgreSQL, with real processes: it is killed, and the database
// is stopped and crashes, while a job trains. All acknowledged data must exist exactly once.
//
// TRAINYARD_POSTGRES_ROUNDS is the number of rounds (2 by default). In each round, the controller
// is killed twice and the database is lost once.
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/controller/store/postgres/postgres_server.h"
#include "tests/fakes/environment_number.h"
#include "tests/integration/chaos_job.h"
#include "tests/integration/controller_pair.h"

namespace trainyard::test {
namespace {

using controller::PostgresServer;

class PostgresControllerTest : public testing::Test {
 protected:
  static constexpr int kNodes = 2;

  void SetUp() override {
    const auto server = PostgresServer::Shared();
    if (absl::IsNotFound(server.status())) GTEST_SKIP() << server.status().message();
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *server;
    const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    const auto settings = server_->SettingsOf(absl::AsciiStrToLower(name));
    ASSERT_TRUE(settings.ok()) << settings.status();
    settings_ = *settings;
  }

  std::vector<std::string> Flags() const { return {"--postgres", settings_}; }

  static void KillAndStart(MiniCluster& cluster) {
    cluster.KillController();
    cluster.StartController();
  }

  // The number of times that controllers have reported a wait for the database.
  static int WaitsReported(const MiniCluster& cluster) {
    const std::vector<std::string> parts = absl::StrSplit(cluster.DaemonLogs(), "cannot take over");
    return static_cast<int>(parts.size()) - 1;
  }

  // Stops the server. The controller must exit by itself, because it can store nothing. Then starts
  // the controller, which waits for the server.
  void LoseDatabase(MiniCluster& cluster, int signal) const {
    server_->Stop(signal);
    const auto exit_code = cluster.controller().Wait(Seconds(30));
    ASSERT_TRUE(exit_code.has_value()) << "the controller runs without its database";
    // Either a commit fails first, or a renewal of the leadership.
    EXPECT_TRUE(exit_code == 1 || exit_code == 3) << *exit_code;
    const int reports = WaitsReported(cluster);
    cluster.SpawnController();
    EXPECT_TRUE(Eventually([&] { return WaitsReported(cluster) > reports; }))
        << "the controller does not report that it waits";
    const absl::Status started = server_->StartProcess();
    ASSERT_TRUE(started.ok()) << started;
    cluster.AwaitController();
  }

  // Replaces the files of the stopped server at `to`, below its directory, and starts it.
  void CopyDatabase(const std::string& from, const std::string& to) const {
    server_->Stop(SIGINT);
    const std::string directory = server_->directory();
    std::filesystem::remove_all(directory + to);
    const CommandResult copied = RunCommand({"/bin/cp", "-a", directory + from, directory + to});
    EXPECT_EQ(copied.exit_code, 0) << copied.error;
    const absl::Status started = server_->StartProcess();
    ASSERT_TRUE(started.ok()) << started;
  }

  // Starts the controller, which must exit because this mark names an event that is not in the log.
  static void ExpectLostEvents(MiniCluster& cluster, const std::string& seen_by) {
    cluster.SpawnController();
    EXPECT_EQ(cluster.controller().Wait(Seconds(60)), 1) << cluster.DaemonLogs();
    const std::string log = cluster.DaemonLogs();
    EXPECT_TRUE(absl::StrContains(log, absl::StrCat("but ", seen_by, " has seen event"))) << log;
    EXPECT_TRUE(absl::StrContains(log, "--accept-lost-events")) << log;
  }

  void SubmitSmallJob(MiniCluster& cluster) {
    const std::string name = absl::StrCat("small-", small_jobs_.size());
    const std::string file =
        cluster.WriteJob(name, absl::StrCat("name: ", name,
                                            "\nresources: {device: cpu}\nrestart: {max_restarts: "
                                            "100, backoff: 0}\ncommand: [/bin/echo, ",
                                            name, "]\n"));
    small_jobs_[cluster.Submit(file)] = name;
  }

  void CheckSmallJobs(const MiniCluster& cluster) const {
    for (const auto& [id, name] : small_jobs_) {
      const v1::Job job = cluster.WaitForEnd(id);
      EXPECT_EQ(job.name(), name);
      EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
      EXPECT_EQ(job.attempts_size(), 1);
      const int64_t job_id = id;
      EXPECT_TRUE(Eventually([&] { return cluster.Logs(job_id, 0, 1).size() == 1; })) << name;
    }
  }

  PostgresServer* server_ = nullptr;
  std::string settings_;
  std::map<int64_t, std::string> small_jobs_;
};

TEST_F(PostgresControllerTest, NothingAcknowledgedIsLost) {
  MiniCluster cluster(kNodes, 2, Flags());
  ChaosJob chaos(cluster, "chaos", kNodes);
  ASSERT_TRUE(cluster.WaitForStep(chaos.id(), 5)) << cluster.DaemonLogs();
  const auto rounds = EnvironmentNumber("TRAINYARD_POSTGRES_ROUNDS", 2);
  for (int64_t round = 0; round < rounds && !HasFatalFailure(); ++round) {
    SubmitSmallJob(cluster);
    KillAndStart(cluster);
    SubmitSmallJob(cluster);
    LoseDatabase(cluster, round % 2 == 0 ? SIGINT : SIGQUIT);
    SubmitSmallJob(cluster);
    KillAndStart(cluster);
  }
  ASSERT_NO_FATAL_FAILURE(chaos.FinishInOneAttempt("the loss of a controller ends no attempt"));
  CheckSmallJobs(cluster);
  EXPECT_FALSE(std::filesystem::exists(cluster.directory() + "/controller/events.db"));
}

// An asynchronous replica that lacks the newest events takes the place of the server. The mark in
// the data directory shows it, and without it the mark of a worker.
TEST_F(PostgresControllerTest, AFailOverOfTheDatabaseThatLostEventsStopsTheCluster) {
  MiniCluster cluster(1, 1, Flags());
  const std::string mark = cluster.directory() + "/controller/log_mark";
  SubmitSmallJob(cluster);
  cluster.controller().Signal(SIGTERM);
  ASSERT_TRUE(cluster.controller().Wait().has_value());
  CopyDatabase("/data", "/replica");
  cluster.StartController();
  // Begin further terms, which are not in the copy.
  KillAndStart(cluster);
  KillAndStart(cluster);
  SubmitSmallJob(cluster);
  CheckSmallJobs(cluster);
  const int64_t lost = small_jobs_.rbegin()->first;
  EXPECT_TRUE(Eventually([&] {
    return absl::EndsWith(ReadFile(mark), absl::StrCat(" ", lost, "\n"));
  })) << ReadFile(mark);
  // Otherwise the node would be cordoned because of an attempt that is not in the log.
  EXPECT_TRUE(Eventually([&] {
    return !std::filesystem::exists(absl::StrCat(cluster.directory(), "/worker0/attempts/", lost));
  })) << cluster.DaemonLogs();
  cluster.KillController();
  CopyDatabase("/replica", "/data");
  ExpectLostEvents(cluster, mark);
  // The controller has written the mark into the database, where other controllers find it.
  std::filesystem::remove(mark);
  ExpectLostEvents(cluster, "a controller of this cluster");
  CopyDatabase("/replica", "/data");
  cluster.SpawnController();
  EXPECT_EQ(cluster.controller().Wait(Seconds(60)), kExitLeadershipLost) << cluster.DaemonLogs();
  EXPECT_TRUE(absl::StrContains(cluster.DaemonLogs(), "replaced by an older copy. The next term"));
  // The worker attaches to the leader of a higher term, and reports its mark.
  ExpectLostEvents(cluster, "a worker");
  cluster.StartController({"--accept-lost-events"});
  SubmitSmallJob(cluster);
  EXPECT_GT(small_jobs_.rbegin()->first, lost) << "no job number is used twice";
  EXPECT_TRUE(absl::StrContains(cluster.Cli({"server", "status"}).output, "has lost events"));
  KillAndStart(cluster);
  EXPECT_EQ(cluster.WaitForEnd(small_jobs_.rbegin()->first).state(), v1::JOB_STATE_SUCCEEDED)
      << "the loss was accepted once";
}

TEST_F(PostgresControllerTest, ASecondControllerIsRefusedTheSchemaOfAnotherCluster) {
  const MiniCluster first(0, 1, Flags());
  const std::string other = first.directory() + "/other";
  std::filesystem::create_directory(other);
  std::ofstream(other + "/cluster_id") << std::string(32, 'a') << "\n";
  const CommandResult refused =
      RunCommand({ProgramPath("trainyard-controller"), "--data-dir", other, "--listen",
                  "127.0.0.1:0", "--postgres", settings_});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(refused.error, "Two clusters need two schemas")) << refused.error;
}

TEST_F(PostgresControllerTest, AWrongConnectionStringIsOneClearLine) {
  const TemporaryDirectory directory;
  const CommandResult refused =
      RunCommand({ProgramPath("trainyard-controller"), "--data-dir", directory.path() + "/data",
                  "--listen", "127.0.0.1:0", "--postgres", "service=missing-service"});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_TRUE(absl::StrContains(refused.error, "missing-service")) << refused.error;
}

}  // namespace
}  // namespace trainyard::test
