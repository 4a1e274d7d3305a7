// Tests changes of wall clocks while jobs run. Ledgers must show the true durations; timestamps
// must follow the clock.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using std::chrono::steady_clock;

constexpr int64_t kDayMs = 86'400'000;

double SecondsOf(const v1::Ledger& ledger, v1::LedgerPhase phase) {
  for (const v1::PhaseTime& time : ledger.phases()) {
    if (time.phase() == phase) return time.seconds();
  }
  return 0;
}

int64_t WallMs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

class ClockTest : public testing::Test {
 protected:
  // The test sets the controller's wall clock. All other clocks are the machine's.
  ClockTest() : cluster_(/*nodes=*/1) {
    const std::string file = cluster_.directory() + "/clock";
    SetClock(0);
    cluster_.RunControllerThrough(
        {"/usr/bin/env", absl::StrCat("LD_PRELOAD=", CLOCK_LIBRARY), "ROUGH_CLOCK=" + file});
    Restart(0);
  }

  // From now on, the controller's clock is `ahead_ms` ahead of the machine's clock.
  void SetClock(int64_t ahead_ms) {
    // The file is overwritten in place, because the controller has mapped it into memory.
    const std::string file = cluster_.directory() + "/clock";
    const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    EXPECT_EQ(pwrite(fd, &ahead_ms, sizeof ahead_ms, 0), static_cast<ssize_t>(sizeof ahead_ms));
    close(fd);
    ahead_ms_ = ahead_ms;
  }

  // Changes the clock while the controller is down.
  void Restart(int64_t ahead_ms) {
    cluster_.KillController();
    SetClock(ahead_ms);
    cluster_.StartController();
  }

  int64_t Submit(const std::string& name, const std::string& script) {
    begin_ = steady_clock::now();
    return cluster_.Submit(cluster_.WriteJob(
        name,
        absl::StrCat("name: ", name, "\nresources: {device: cpu}\ncommand: [", script, "]\n")));
  }

  // Submits a job that runs for `seconds`, and returns once it is running.
  int64_t RunSeconds(const std::string& name, int seconds) {
    const int64_t job_id = Submit(name, absl::StrCat("/bin/sleep, '", seconds, "'"));
    EXPECT_TRUE(Eventually([&] { return cluster_.Job(job_id).state() == v1::JOB_STATE_RUNNING; }))
        << cluster_.DaemonLogs();
    return job_id;
  }

  // Checks that the job succeeds, its ledger shows the elapsed time, and its timestamps follow the
  // clock.
  void ExpectTrueLedger(int64_t job_id, double seconds) {
    const v1::Job job = cluster_.WaitForEnd(job_id);
    const double passed = Seconds(steady_clock::now() - begin_).count();
    EXPECT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << cluster_.DaemonLogs();
    const v1::Ledger ledger = cluster_.Described(job_id).ledger();
    EXPECT_GE(ledger.wall_seconds(), seconds);
    EXPECT_LE(ledger.wall_seconds(), passed + 1) << ledger.DebugString();
    double sum = 0;
    for (const v1::PhaseTime& phase : ledger.phases()) sum += phase.seconds();
    EXPECT_NEAR(sum, ledger.wall_seconds(), 1e-6) << ledger.DebugString();
    EXPECT_GE(SecondsOf(ledger, v1::LEDGER_PHASE_TRAIN), seconds - 1) << ledger.DebugString();
    const double age = static_cast<double>(WallMs() + ahead_ms_ - job.submitted_time_ms()) / 1e3;
    EXPECT_GE(age, seconds - 1);
    EXPECT_LE(age, passed + 2);
  }

  MiniCluster cluster_;
  int64_t ahead_ms_ = 0;
  steady_clock::time_point begin_;
};

TEST_F(ClockTest, AClockThatJumpsByADayFalsifiesNoLedger) {
  const int64_t forward = RunSeconds("forward", 4);
  SetClock(kDayMs);
  ExpectTrueLedger(forward, 4);
  const int64_t back = RunSeconds("back", 4);
  SetClock(-kDayMs);
  ExpectTrueLedger(back, 4);
  const int64_t both = RunSeconds("both", 6);
  SetClock(kDayMs);
  ASSERT_TRUE(Eventually([&] {
    return cluster_.Job(both).submitted_time_ms() > WallMs() + kDayMs / 2;
  })) << cluster_.DaemonLogs();
  SetClock(0);
  ExpectTrueLedger(both, 6);
  // The duration of an ended job does not change.
  EXPECT_LE(cluster_.Described(forward).ledger().wall_seconds(), 60);
}

TEST_F(ClockTest, AClockThatJumpsWhileTheControllerIsDownFalsifiesNoLedger) {
  const int64_t forward = RunSeconds("forward", 6);
  Restart(kDayMs);
  ExpectTrueLedger(forward, 6);
  const int64_t back = RunSeconds("back", 6);
  Restart(-kDayMs);
  ExpectTrueLedger(back, 6);
}

TEST_F(ClockTest, AProgramWhoseClockJumpsShowsNoPhaseOfADay) {
  const std::string script = cluster_.WriteJob("script", R"(import json, os, time
telemetry = open(os.environ["TRAINYARD_TELEMETRY"], "a", buffering=1)
def enter(phase, ahead_ms):
    now = int(time.time() * 1000) + ahead_ms
    print(json.dumps({"type": "phase", "phase": phase, "time_ms": now}), file=telemetry)
enter("load", 0)
time.sleep(3)
enter("train", 86400000)
time.sleep(5)
enter("checkpoint", 86400000)
time.sleep(1)
enter("train", 0)
time.sleep(3)
)");
  const int64_t job_id = Submit("phases", absl::StrCat("/usr/bin/python3, ", script));
  ExpectTrueLedger(job_id, 8);
  const v1::Ledger ledger = cluster_.Described(job_id).ledger();
  EXPECT_NEAR(SecondsOf(ledger, v1::LEDGER_PHASE_LOAD), 3, 1.5) << ledger.DebugString();
  EXPECT_NEAR(SecondsOf(ledger, v1::LEDGER_PHASE_CHECKPOINT), 1, 1.5) << ledger.DebugString();
}

}  // namespace
}  // namespace trainyard::test
