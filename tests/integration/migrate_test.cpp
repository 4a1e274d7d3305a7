// Moves the store of a real cluster from SQLite files to PostgreSQL and back with `trainyard server
// migrate`. Jobs, metrics and output must be the same after each move, and an interrupted move must
// leave the source usable.
#include <signal.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/store/postgres/postgres_database.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/store/postgres/postgres_server.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using controller::PostgresDatabase;
using controller::PostgresServer;
using testing::ContainsRegex;
using testing::HasSubstr;

// The number of sessions that wait for the lock of InterruptMove.
constexpr char kBlocked[] =
    "SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event = "
    "'advisory'";

class MigrateTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto server = PostgresServer::Shared();
    if (absl::IsNotFound(server.status())) GTEST_SKIP() << server.status().message();
    ASSERT_TRUE(server.ok()) << server.status();
    const auto settings = (*server)->SettingsOf("migrate");
    ASSERT_TRUE(settings.ok()) << settings.status();
    settings_ = *settings;
    cluster_ = std::make_unique<MiniCluster>(1);
  }

  std::string DataDirectory() const { return cluster_->directory() + "/controller"; }

  std::vector<std::string> MoveCommand(const std::string& to) const {
    return {"server",     "migrate",       "--to",       to,
            "--data-dir", DataDirectory(), "--postgres", settings_};
  }

  void StartOnPostgres() { cluster_->StartController({"--postgres", settings_}); }

  void StopController() {
    cluster_->controller().Signal(SIGTERM);
    EXPECT_EQ(cluster_->controller().Wait(), 0) << cluster_->DaemonLogs();
  }

  // Runs a job that prints lines, and remembers its output.
  void RunJob(const std::string& name) {
    const int64_t id = cluster_->Submit(cluster_->WriteJob(
        name, absl::StrCat("name: ", name, "\nresources: {device: cpu}\ncommand: [/bin/sh, -c, ",
                           "'for i in 1 2 3; do echo ", name, " $i; done']\n")));
    EXPECT_EQ(cluster_->WaitForEnd(id).state(), v1::JOB_STATE_SUCCEEDED);
    EXPECT_TRUE(Eventually([&] { return cluster_->Logs(id, 0, 1).size() == 3; })) << name;
    EXPECT_TRUE(jobs_.empty() || id > jobs_.rbegin()->first) << "job numbers continue";
    jobs_[id] = name;
  }

  // The controller has all jobs with their output.
  void ExpectAllJobs() const {
    for (const auto& [id, name] : jobs_) {
      const v1::Job job = cluster_->Job(id);
      EXPECT_EQ(job.name(), name);
      EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED);
      const std::vector<v1::LogLine> lines = cluster_->Logs(id, 0, 1);
      ASSERT_EQ(lines.size(), 3U) << name;
      EXPECT_EQ(lines.back().text(), name + " 3");
    }
  }

  // Runs the move and checks that it prints counts and hashes.
  void Move(const std::string& to) const {
    const CommandResult moved = cluster_->Cli(MoveCommand(to));
    EXPECT_EQ(moved.exit_code, 0) << moved.output << moved.error;
    EXPECT_THAT(moved.output, HasSubstr("hash of source and copy"));
    EXPECT_THAT(moved.output, ContainsRegex("event +[1-9][0-9]*  [0-9a-f]{16}\n"));
    EXPECT_THAT(moved.output, ContainsRegex("segment +[1-9][0-9]*  [0-9a-f]{16}\n"));
    EXPECT_THAT(moved.output, HasSubstr("The store is now in "));
  }

  void ExpectRefused(const CommandResult& result, const std::string& reason) const {
    EXPECT_EQ(result.exit_code, 1) << result.output;
    EXPECT_THAT(result.error, HasSubstr(reason));
  }

  // Starts the controller's program, which must refuse to start.
  void ExpectNoStart(const std::vector<std::string>& flags, const std::string& reason) const {
    std::vector<std::string> command = {ProgramPath("trainyard-controller"), "--data-dir",
                                        DataDirectory(), "--listen", "127.0.0.1:0"};
    command.insert(command.end(), flags.begin(), flags.end());
    ExpectRefused(RunCommand(command), reason);
  }

  // Kills a move to PostgreSQL after it has copied events and metrics: its first insert of output
  // waits for a lock of this test.
  void InterruptMove() const {
    const auto blocker = PostgresDatabase::Connect(settings_);
    ASSERT_TRUE(blocker.ok()) << blocker.status();
    ASSERT_TRUE((*blocker)
                    ->RunScript("CREATE FUNCTION block() RETURNS trigger LANGUAGE plpgsql AS "
                                "'BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NEW; END'; "
                                "CREATE TRIGGER block BEFORE INSERT ON segment FOR EACH ROW "
                                "EXECUTE FUNCTION block()")
                    .ok());
    ASSERT_TRUE((*blocker)->Run("SELECT pg_try_advisory_lock(42)").ok());
    ChildProcess move({ProgramPath("trainyard-controller"), "migrate", "--to", "postgres",
                       "--data-dir", DataDirectory(), "--postgres", settings_},
                      cluster_->directory() + "/move.log");
    EXPECT_TRUE(Eventually([&] { return (*blocker)->QueryInt64(kBlocked).value_or(0) > 0; }))
        << ReadFile(cluster_->directory() + "/move.log");
    EXPECT_GT((*blocker)->QueryInt64("SELECT COUNT(*) FROM event").value_or(0), 0);
    move.Signal(SIGKILL);
    move.Wait();
    // The session of the killed process ends when it can no longer answer.
    ASSERT_TRUE((*blocker)->Run("SELECT pg_advisory_unlock(42)").ok());
    ASSERT_TRUE((*blocker)->RunScript("DROP FUNCTION block() CASCADE").ok());
  }

  std::string settings_;
  std::unique_ptr<MiniCluster> cluster_;
  std::map<int64_t, std::string> jobs_;
};

TEST_F(MigrateTest, KeepsEverythingInBothDirectionsAndAfterAnInterruption) {
  RunJob("in-files");
  ExpectRefused(cluster_->Cli(MoveCommand("postgres")), "uses the data directory");
  StopController();
  Move("postgres");
  ExpectRefused(cluster_->Cli(MoveCommand("postgres")), "already has the jobs of cluster");
  ExpectNoStart({}, "were moved to PostgreSQL database");
  StartOnPostgres();
  ExpectAllJobs();
  RunJob("in-postgres");
  ExpectRefused(cluster_->Cli(MoveCommand("sqlite")), "uses the data directory");
  StopController();
  Move("sqlite");
  ExpectRefused(cluster_->Cli(MoveCommand("sqlite")), "already exists");
  ExpectNoStart({"--postgres", settings_}, "has its jobs in SQLite");
  InterruptMove();
  cluster_->StartController();
  ExpectAllJobs();
  RunJob("in-files-again");
  StopController();
  Move("postgres");
  StartOnPostgres();
  ExpectAllJobs();
  EXPECT_EQ(cluster_->ListedJobs().size(), jobs_.size());
}

}  // namespace
}  // namespace trainyard::test
