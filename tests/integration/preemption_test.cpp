// Tests jobs that are preempted. A job preempts only after it has waited for ten minutes, so the
// tests suspend the controller's machine: its clocks move, and those of the workers stay.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/equal_losses.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;

// Longer than the wait before a preemption, and than the run that an attempt is granted.
constexpr int64_t kSuspendedMs = 601'000;

class PreemptionTest : public testing::Test {
 protected:
  PreemptionTest() : cluster_(/*nodes=*/2), tokens_(cluster_.MakeTokens()) {
    Suspend(0);
    cluster_.RunControllerThrough(
        {"/usr/bin/env", absl::StrCat("LD_PRELOAD=", CLOCK_LIBRARY), "ROUGH_CLOCK=" + ClockFile()});
    RestartController();
  }

  std::string ClockFile() const { return cluster_.directory() + "/clock"; }

  // Moves the wall clock and the boot clock of the controller.
  void Suspend(int64_t ms) {
    suspended_ms_ += ms;
    const std::array<int64_t, 2> shifts = {suspended_ms_, suspended_ms_};
    // The file is overwritten in place, because the controller has mapped it into memory.
    const int fd = open(ClockFile().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(pwrite(fd, shifts.data(), sizeof shifts, 0), static_cast<ssize_t>(sizeof shifts));
    close(fd);
  }

  void RestartController() {
    cluster_.KillController();
    cluster_.StartController();
  }

  int64_t Submit(const std::string& name, int priority) {
    return cluster_.Submit(cluster_.WriteJob(
        name, absl::StrCat(TinyJob(name, tokens_, 2, 1'000'000), "priority: ", priority, "\n")));
  }

  // Submits a job that preempts the running job, and waits until the running job yields.
  int64_t Preempt(int64_t running) {
    const int64_t urgent = Submit("urgent", 1);
    EXPECT_TRUE(Eventually([&] { return cluster_.Job(urgent).state() == v1::JOB_STATE_QUEUED; }));
    Suspend(kSuspendedMs);
    EXPECT_TRUE(
        Eventually([&] { return cluster_.Job(running).attempts(0).has_yield(); }, Seconds(60)))
        << cluster_.DaemonLogs();
    return urgent;
  }

  MiniCluster cluster_;
  const std::string tokens_;
  int64_t suspended_ms_ = 0;
};

// The controller is killed while the preempted job saves, and again before the job resumes.
TEST_F(PreemptionTest, APreemptedJobContinuesBitForBitAlthoughTheControllerIsKilled) {
  const int64_t preempted = Submit("preempted", 0);
  ASSERT_TRUE(cluster_.WaitForStep(preempted, 30)) << cluster_.DaemonLogs();
  const int64_t urgent = Preempt(preempted);
  RestartController();
  ASSERT_TRUE(cluster_.WaitForStep(urgent, 10)) << cluster_.DaemonLogs();
  const v1::Job waiting = cluster_.Job(preempted);
  EXPECT_EQ(waiting.state(), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(waiting.attempts(0).yield().cause(), v1::YIELD_CAUSE_PREEMPTED);
  EXPECT_EQ(waiting.attempts(0).yield().for_job_id(), urgent);
  EXPECT_THAT(cluster_.Cli({"describe", "preempted"}).output, HasSubstr("urgent (#2) has waited"));

  RestartController();
  cluster_.StopAfter(urgent, 20);
  const int64_t saved = waiting.attempts(0).last_step();
  ASSERT_TRUE(cluster_.WaitForStep(preempted, saved + 20)) << cluster_.DaemonLogs();
  const v1::Job job = cluster_.StopAfter(preempted, saved + 20);
  ASSERT_EQ(job.attempts_size(), 2) << job.DebugString();
  EXPECT_EQ(job.attempts(1).resume_step(), saved) << "no step is lost";
  EXPECT_EQ(job.restarts(), 0);

  const int64_t undisturbed = Submit("undisturbed", 0);
  ASSERT_TRUE(cluster_.WaitForStep(undisturbed, saved + 20, Seconds(120))) << cluster_.DaemonLogs();
  cluster_.StopAfter(undisturbed, saved + 20);
  ExpectEqualLosses(cluster_, preempted, undisturbed, saved);
}

// A preempted job that ends while it saves has ended: it does not wait for slots again.
TEST_F(PreemptionTest, AJobThatIsStoppedDuringItsPreemptionEnds) {
  const int64_t preempted = Submit("preempted", 0);
  ASSERT_TRUE(cluster_.WaitForStep(preempted, 10)) << cluster_.DaemonLogs();
  const int64_t urgent = Preempt(preempted);
  cluster_.Cli({"stop", "preempted"});
  const v1::Job job = cluster_.WaitForEnd(preempted);
  EXPECT_EQ(job.state(), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(job.attempts_size(), 1);
  ASSERT_TRUE(cluster_.WaitForStep(urgent, 10)) << cluster_.DaemonLogs();
  cluster_.StopAfter(urgent, 10);
}

}  // namespace
}  // namespace trainyard::test
