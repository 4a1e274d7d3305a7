// Tests a controller with a full disk, and a controller with a lost disk.
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fakes/full_disk.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;

constexpr int kStoredSteps = 200;

// Checks that every step is stored exactly once.
void ExpectAllSteps(const MiniCluster& cluster, int64_t job_id) {
  const v1::Series loss = cluster.RawSeries(job_id, "loss", 1);
  ASSERT_EQ(loss.steps_size(), kStoredSteps);
  for (int i = 0; i < loss.steps_size(); ++i) {
    EXPECT_EQ(loss.steps(i), i + 1);
    EXPECT_EQ(loss.counts(i), 1);
  }
}

// Prevents the files of an already running process from growing. FullDisk does this only for the
// calling process and its children.
void SetDiskFull(pid_t pid, bool full) {
  const rlimit limit{full ? 0 : RLIM_INFINITY, RLIM_INFINITY};
  ASSERT_EQ(prlimit(pid, RLIMIT_FSIZE, &limit, nullptr), 0);
}

class StorageTest : public testing::Test {
 protected:
  // Returns the status and the body of GET /healthz.
  std::string Health() {
    constexpr char kGet[] = R"(import sys, urllib.error, urllib.request
try:
    answer = urllib.request.urlopen(sys.argv[1])
    print(answer.status, answer.read().decode())
except urllib.error.HTTPError as error:
    print(error.code, error.read().decode())
)";
    const std::string address = ReadFile(cluster_.directory() + "/address.http");
    return RunCommand({"/usr/bin/python3", "-c", kGet,
                       absl::StrCat("http://", address.substr(0, address.find('\n')), "/healthz")})
        .output;
  }

  void StartWorkerOnFullDisk() {
    const FullDisk full(0);
    cluster_.StartWorker(0);
  }

  int64_t Start(const std::string& name) {
    return cluster_.Submit(cluster_.WriteJob(name, TinyJob(name, tokens_, 1, kStoredSteps)));
  }

  MiniCluster cluster_{1};
  const std::string tokens_ = cluster_.MakeTokens();
};

TEST_F(StorageTest, AFullDiskRefusesChangesKeepsServingAndRecovers) {
  const int64_t job_id = Start("through-it");
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 10));
  SetDiskFull(cluster_.controller().pid(), true);
  const std::string job_file =
      cluster_.WriteJob("refused", TinyJob("refused", tokens_, 1, kStoredSteps));
  const CommandResult refused = cluster_.Cli({"submit", job_file});
  EXPECT_EQ(refused.exit_code, 4) << refused.output;
  EXPECT_THAT(refused.error,
              testing::AllOf(HasSubstr("cannot store changes"), HasSubstr("events.db"),
                             HasSubstr("free disk space"), HasSubstr("once there is free space")));
  EXPECT_THAT(cluster_.Cli({"server", "status"}).output, HasSubstr("cannot store events"));
  EXPECT_THAT(Health(),
              testing::AllOf(testing::StartsWith("503 "), HasSubstr("cannot store events: ")));
  EXPECT_THAT(cluster_.Cli({"ps"}).output, HasSubstr("through-it")) << "it serves what it has";
  const int64_t seen = cluster_.Job(job_id).progress().step();
  EXPECT_TRUE(cluster_.WaitForStep(job_id, seen + 5)) << "training goes on and is seen";
  SetDiskFull(cluster_.controller().pid(), false);

  const v1::Job job = cluster_.WaitForEnd(job_id);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 1);
  ExpectAllSteps(cluster_, job_id);
  EXPECT_THAT(cluster_.Cli({"server", "status"}).output, testing::Not(HasSubstr("cannot store")));
  EXPECT_EQ(Health(), "200 ok\n\n");
  const int64_t next = cluster_.Submit(job_file);
  EXPECT_EQ(next, job_id + 1) << "the refused job left nothing behind";
}

// The restart of a known node's worker causes an event that only records the new incarnation. The
// worker need not wait until this event is stored.
TEST_F(StorageTest, AWorkerThatRestartsWhileTheControllersDiskIsFullGoesOn) {
  const int64_t job_id =
      cluster_.Submit(cluster_.WriteJob("goes-on", TinyJob("goes-on", tokens_, 1, 1'000'000)));
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 10));
  SetDiskFull(cluster_.controller().pid(), true);
  const std::string job_file =
      cluster_.WriteJob("refused", TinyJob("refused", tokens_, 1, kStoredSteps));
  ASSERT_EQ(cluster_.Cli({"submit", job_file}).exit_code, 4);
  cluster_.KillWorker(0);
  const int64_t seen = cluster_.Job(job_id).progress().step();
  cluster_.StartWorker(0);
  EXPECT_TRUE(cluster_.WaitForStep(job_id, seen + 20, Seconds(20))) << cluster_.DaemonLogs();
  SetDiskFull(cluster_.controller().pid(), false);
  EXPECT_TRUE(Eventually([&] {
    const std::string status = cluster_.Cli({"server", "status"}).output;
    return status.find("cannot store") == std::string::npos;
  }));
  const v1::Job job = cluster_.StopAfter(job_id, seen + 40);
  EXPECT_EQ(job.state(), v1::JOB_STATE_STOPPED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 1) << "a full disk was held against a healthy gang";
  EXPECT_FALSE(cluster_.Nodes()["node0"].has_health());
}

TEST_F(StorageTest, BothDaemonsStartOnAFullDiskAndTrainingNeverNotices) {
  const int64_t job_id = Start("through-it");
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 10));
  cluster_.KillWorker(0);
  cluster_.KillController();
  // The limit must be higher than 32 KiB, the size of the shared-memory file that SQLite creates at
  // every start.
  {
    const FullDisk full(40 << 10);
    cluster_.StartController();
  }
  StartWorkerOnFullDisk();
  // The restarted worker is attached only once the controller can store the event of its restart.
  EXPECT_THAT(cluster_.Cli({"ps"}).output, HasSubstr("through-it")) << "it serves what it has";
  SetDiskFull(cluster_.controller().pid(), false);
  SetDiskFull(cluster_.worker(0).pid(), false);
  const v1::Job job = cluster_.WaitForEnd(job_id);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 1);
  ExpectAllSteps(cluster_, job_id);
}

// Prints 12 MB and writes 50 metrics once the file `go` exists.
constexpr char kPrinter[] = R"(import json, os, sys, time
here = sys.argv[1]
while not os.path.exists(here + "/go"): time.sleep(0.02)
with open(os.environ["TRAINYARD_TELEMETRY"], "a") as out:
    for step in range(1, 51):
        metrics = {"type": "metrics", "step": step, "loss": 5.0 / step}
        print(json.dumps(metrics), file=out, flush=True)
        for line in range(240): print("step", step, "line", line, "x" * 1000)
print("the end", flush=True)
open(here + "/done", "w").close()
while not os.path.exists(here + "/leave"): time.sleep(0.02)
)";

TEST(SpoolTest, AWorkerWithoutSpaceDropsItsOldestOutputAndNoMetric) {
  MiniCluster cluster(1);
  cluster.KillWorker(0);
  cluster.StartWorker(0, {"--spool-limit", "2097152"});
  const std::string here = cluster.directory();
  WriteFile(here + "/printer.py", kPrinter);
  const int64_t job_id = cluster.Submit(cluster.WriteJob(
      "printer",
      absl::StrCat("name: printer\nresources: {device: cpu}\ncommand: [/usr/bin/python3, ", here,
                   "/printer.py, ", here, "]\n")));
  ASSERT_TRUE(Eventually([&] { return cluster.Job(job_id).state() == v1::JOB_STATE_RUNNING; }));
  cluster.KillController();
  WriteFile(here + "/go", "");
  ASSERT_TRUE(Eventually([&] { return std::filesystem::exists(here + "/done"); }));
  const std::string output =
      absl::StrCat(here, "/worker0/attempts/", job_id, "/1/rank0/output.log");
  const auto size = static_cast<int64_t>(std::filesystem::file_size(output));
  ASSERT_GT(size, 12'000'000);
  EXPECT_TRUE(Eventually([&] {
    struct stat info {};
    return stat(output.c_str(), &info) == 0 && info.st_blocks * 512 <= 3 << 20;
  })) << "the spool is not bounded";
  cluster.StartController();
  WriteFile(here + "/leave", "");
  ASSERT_EQ(cluster.WaitForEnd(job_id).state(), v1::JOB_STATE_SUCCEEDED);
  const auto loss = cluster.Series(job_id, "loss");
  ASSERT_EQ(loss.size(), 50u);
  EXPECT_DOUBLE_EQ(loss.at(50), 0.1);
  const std::vector<v1::LogLine> lines = cluster.Logs(job_id, 0, 1);
  ASSERT_GT(lines.size(), 1000u);
  int gaps = 0;
  for (const v1::LogLine& line : lines) {
    gaps += static_cast<int>(line.text().find("output dropped here") != std::string::npos);
  }
  EXPECT_GT(gaps, 0);
  EXPECT_EQ(lines.back().text(), "the end");
  EXPECT_EQ(lines.back().offset(), size - 8) << "bytes after the gap keep their offsets";
}

TEST_F(StorageTest, ADamagedPageIsSaidAndTheRestIsReadable) {
  const int64_t damaged = cluster_.Submit(cluster_.WriteJob(
      "damaged",
      "name: damaged\nresources: {device: cpu}\n"
      "command: [/usr/bin/python3, -c, \"import os; [print(os.urandom(500).hex()) for _ in "
      "range(3000)]\"]\n"));
  ASSERT_EQ(cluster_.WaitForEnd(damaged).state(), v1::JOB_STATE_SUCCEEDED);
  const int64_t sound = Start("sound");
  ASSERT_EQ(cluster_.WaitForEnd(sound).state(), v1::JOB_STATE_SUCCEEDED);
  ASSERT_EQ(cluster_.Logs(damaged, 0, 1).size(), 3000u);
  // Nearly all of this file is output of the first job. If the controller's stop was interrupted,
  // the output is still in the write-ahead log.
  const std::string path = cluster_.directory() + "/controller/logs.db";
  std::uintmax_t size = 0;
  for (int stops = 0; stops < 4 && size < 1'000'000; ++stops) {
    if (stops > 0) cluster_.StartController();
    cluster_.controller().Signal(SIGTERM);
    ASSERT_TRUE(cluster_.controller().Wait().has_value());
    size = std::filesystem::file_size(path);
  }
  ASSERT_GT(size, 1'000'000u);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(size / 2));
    file.write("damage", 6);
  }
  cluster_.StartController();
  const CommandResult refused = cluster_.Cli({"logs", std::to_string(damaged)});
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_THAT(refused.error, testing::AllOf(HasSubstr("logs.db"), HasSubstr("page at byte"),
                                            HasSubstr("checksum"), HasSubstr("server restore")));
  EXPECT_FALSE(cluster_.Logs(sound, 0, 1).empty());
  ExpectAllSteps(cluster_, sound);
  const int64_t next = Start("next");
  ASSERT_EQ(cluster_.WaitForEnd(next).state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_FALSE(cluster_.Logs(next, 0, 1).empty()) << "what comes after it is stored";
}

TEST_F(StorageTest, ABackupUnderLoadBringsALostDiskBack) {
  const int64_t job_id = Start("survivor");
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 20));
  const std::string backup = cluster_.directory() + "/backup";
  const std::string data_dir = cluster_.directory() + "/controller";
  const CommandResult made = cluster_.Cli({"server", "backup", backup});
  ASSERT_EQ(made.exit_code, 0) << made.error;
  EXPECT_THAT(made.output, HasSubstr("verified"));
  EXPECT_NE(cluster_.Cli({"server", "backup", backup}).exit_code, 0) << "never over another one";
  EXPECT_NE(cluster_.Cli({"server", "restore", backup, "--data-dir", data_dir}).exit_code, 0)
      << "never into a store that is in use";

  cluster_.KillController();
  for (const char* store : {"events.db", "metrics.db", "logs.db"}) {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      std::filesystem::remove(absl::StrCat(data_dir, "/", store, suffix));
    }
  }
  const CommandResult restored =
      cluster_.Cli({"server", "restore", backup, "--data-dir", data_dir});
  ASSERT_EQ(restored.exit_code, 0) << restored.error;
  EXPECT_THAT(restored.output, HasSubstr("was not changed")) << "the token is still there";
  const CommandResult elsewhere = cluster_.Cli(
      {"server", "restore", backup, "--data-dir", cluster_.directory() + "/elsewhere"});
  EXPECT_THAT(elsewhere.output, HasSubstr("refuses every client and worker"));
  cluster_.StartController();

  const v1::Job job = cluster_.WaitForEnd(job_id);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  EXPECT_EQ(job.attempts_size(), 1) << "training never noticed";
  ExpectAllSteps(cluster_, job_id);
  EXPECT_GT(Start("next"), job_id + 1000) << "numbers given out after the backup stay unused";
}

}  // namespace
}  // namespace trainyard::test
