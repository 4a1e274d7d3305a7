// Tests controller stores that go back in time: an older copy replaces the event log or the whole
// data directory, the write-ahead log is removed, or a store is missing.
#include <signal.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

// Prints a line every 20 ms until the file `leave` exists.
constexpr char kLinePrinter[] = R"(import os, sys, time
number = 0
while not os.path.exists(sys.argv[1] + "/leave"):
    print("line", number, flush=True)
    number += 1
    time.sleep(0.02)
print("the end", flush=True)
)";

MATCHER(HasLostEvents, "") { return arg.event().has_events_lost(); }

class LostHistoryTest : public testing::Test {
 protected:
  LostHistoryTest() {
    WriteFile(cluster_.directory() + "/printer.py", kLinePrinter);
    known_ = Start("known");
  }

  int64_t Start(const std::string& name) {
    const int64_t job_id = cluster_.Submit(cluster_.WriteJob(
        name,
        absl::StrCat("name: ", name, "\nresources: {device: cpu}\ncommand: [/usr/bin/python3, ",
                     cluster_.directory(), "/printer.py, ", cluster_.directory(), "]\n")));
    EXPECT_TRUE(Eventually([&] { return cluster_.RankPid(job_id, 1, 0) != 0; })) << name;
    EXPECT_TRUE(Eventually([&] { return cluster_.Job(job_id).state() == v1::JOB_STATE_RUNNING; }));
    return job_id;
  }

  std::string Store(const std::string& file) const {
    return absl::StrCat(cluster_.directory(), "/controller/", file);
  }

  // Copies the data directory at one moment, as a disk snapshot would.
  void TakeSnapshot() {
    cluster_.controller().Signal(SIGSTOP);
    fs::create_directory(cluster_.directory() + "/snapshot");
    for (const auto& entry : fs::directory_iterator(Store(""))) {
      if (!entry.is_regular_file()) continue;  // A local socket cannot be copied.
      fs::copy(entry, cluster_.directory() + "/snapshot");
    }
    cluster_.controller().Signal(SIGCONT);
  }

  void PutBack(const std::string& store) {
    for (const char* suffix : {"", "-wal", "-shm"}) {
      fs::remove(Store(store + suffix));
      const std::string copy = absl::StrCat(cluster_.directory(), "/snapshot/", store, suffix);
      if (fs::exists(copy)) fs::copy(copy, Store(store + suffix));
    }
  }

  // Checks the state after an older copy replaced the event log. `lost` is the job missing from the
  // copy.
  void ExpectNothingLostButTheLog(int64_t lost, pid_t known_pid, pid_t lost_pid) {
    EXPECT_TRUE(Eventually([&] {
      return cluster_.Cli({"server", "status"}).output.find("has lost events") != std::string::npos;
    })) << cluster_.DaemonLogs();
    ASSERT_TRUE(Eventually([&] { return cluster_.Nodes().begin()->second.cordoned(); }))
        << cluster_.DaemonLogs();
    EXPECT_THAT(cluster_.Nodes().begin()->second.cordon_reason(),
                AllOf(HasSubstr(absl::StrCat("job ", lost)), HasSubstr("unmanaged")));
    const std::string job_file =
        cluster_.WriteJob("next", "name: next\nresources: {device: cpu}\ncommand: [/bin/true]\n");
    EXPECT_GT(cluster_.Submit(job_file), lost) << "no number is reused";
    EXPECT_THAT(cluster_.Cli({"doctor"}).output, HasSubstr("has lost events"));
    EXPECT_THAT(cluster_.Events(100).events(), Contains(HasLostEvents()));
    EXPECT_THAT(ReadFile(cluster_.directory() + "/controller.log"), HasSubstr("has lost events"));
    // The rank must print more lines than it could have printed if it had been stopped, even with
    // the grace period.
    const int64_t lines = static_cast<int64_t>(cluster_.Logs(known_, 0, 1).size());
    EXPECT_TRUE(Eventually([&] {
      return static_cast<int64_t>(cluster_.Logs(known_, 0, 1).size()) > lines + 200;
    })) << "output of the job that the log knows is stored";
    EXPECT_EQ(kill(known_pid, 0), 0);
    EXPECT_EQ(kill(lost_pid, 0), 0) << cluster_.DaemonLogs();
    EXPECT_EQ(cluster_.RankPid(lost, 1, 0), lost_pid) << "its files stay";
    WriteFile(cluster_.directory() + "/leave", "");
    const v1::Job job = cluster_.WaitForEnd(known_);
    EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED);
    EXPECT_EQ(job.attempts_size(), 1);
    EXPECT_TRUE(Eventually([&] { return kill(lost_pid, 0) != 0; }));
    EXPECT_TRUE(fs::exists(absl::StrCat(cluster_.directory(), "/worker0/attempts/", lost)))
        << "the output of the lost job is kept";
  }

  MiniCluster cluster_{1, 3};
  int64_t known_ = 0;
};

TEST_F(LostHistoryTest, AnOlderEventLogStopsNothing) {
  TakeSnapshot();
  const int64_t lost = Start("lost");
  const pid_t known_pid = cluster_.RankPid(known_, 1, 0);
  const pid_t lost_pid = cluster_.RankPid(lost, 1, 0);
  cluster_.KillController();
  PutBack("events.db");
  cluster_.StartController();
  ExpectNothingLostButTheLog(lost, known_pid, lost_pid);
}

TEST_F(LostHistoryTest, AnOlderDataDirectoryIsFoundByTheWorkers) {
  TakeSnapshot();
  const int64_t lost = Start("lost");
  const pid_t known_pid = cluster_.RankPid(known_, 1, 0);
  const pid_t lost_pid = cluster_.RankPid(lost, 1, 0);
  cluster_.KillController();
  for (const char* store : {"events.db", "metrics.db", "logs.db"}) PutBack(store);
  cluster_.StartController();
  ExpectNothingLostButTheLog(lost, known_pid, lost_pid);
}

TEST_F(LostHistoryTest, ARemovedWriteAheadLogStopsNothing) {
  cluster_.controller().Signal(SIGTERM);
  ASSERT_TRUE(cluster_.controller().Wait().has_value());
  cluster_.StartController();
  const int64_t lost = Start("lost");
  const pid_t known_pid = cluster_.RankPid(known_, 1, 0);
  const pid_t lost_pid = cluster_.RankPid(lost, 1, 0);
  cluster_.KillController();
  ASSERT_TRUE(fs::remove(Store("events.db-wal")));
  fs::remove(Store("events.db-shm"));
  cluster_.StartController();
  ExpectNothingLostButTheLog(lost, known_pid, lost_pid);
}

TEST_F(LostHistoryTest, OutputIsSentAgainWhenItsStoreIsGone) {
  EXPECT_TRUE(Eventually([&] { return cluster_.Logs(known_, 0, 1).size() > 50; }));
  // With the next job's first event, the controller also records in the event log what the stores
  // contain.
  Start("next");
  const pid_t pid = cluster_.RankPid(known_, 1, 0);
  cluster_.KillController();
  for (const char* suffix : {"", "-wal", "-shm"}) fs::remove(Store("logs.db") + suffix);
  cluster_.StartController();
  EXPECT_THAT(cluster_.Cli({"server", "status"}).output, HasSubstr("logs.db has lost data"));
  EXPECT_TRUE(Eventually([&] { return cluster_.Logs(known_, 0, 1).size() > 50; }));
  EXPECT_EQ(kill(pid, 0), 0);
  WriteFile(cluster_.directory() + "/leave", "");
  const v1::Job job = cluster_.WaitForEnd(known_);
  EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED);
  EXPECT_EQ(job.attempts_size(), 1);
  const std::vector<v1::LogLine> lines = cluster_.Logs(known_, 0, 1);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.front().text(), "line 0");
  EXPECT_EQ(lines.back().text(), "the end");
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    ASSERT_EQ(lines[i].text(), absl::StrCat("line ", i));
  }
}

}  // namespace
}  // namespace trainyard::test
