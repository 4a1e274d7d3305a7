// Tests jobs that users pause, hold and resume.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/equal_losses.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;

class PauseTest : public testing::Test {
 protected:
  PauseTest() : cluster_(/*nodes=*/2), tokens_(cluster_.MakeTokens()) {}

  int64_t Submit(const std::string& name, const std::vector<std::string>& more = {}) {
    return cluster_.Submit(cluster_.WriteJob(name, TinyJob(name, tokens_, 2, 1'000'000)), more);
  }

  bool WaitFor(int64_t job_id, v1::JobState state) {
    return Eventually([&] { return cluster_.Job(job_id).state() == state; }, Seconds(60));
  }

  std::string Cli(const std::vector<std::string>& arguments) {
    return cluster_.Cli(arguments).output;
  }

  MiniCluster cluster_;
  const std::string tokens_;
};

TEST_F(PauseTest, APausedJobGoesOnWhereItSavedBitForBit) {
  const int64_t paused = Submit("paused");
  ASSERT_TRUE(cluster_.WaitForStep(paused, 30)) << cluster_.DaemonLogs();
  EXPECT_THAT(Cli({"pause", "paused"}), HasSubstr("job 1 paused pausing"));
  ASSERT_TRUE(WaitFor(paused, v1::JOB_STATE_PAUSED)) << cluster_.DaemonLogs();
  EXPECT_THAT(Cli({"why", "paused"}), HasSubstr("uses no slots and continues from the checkpoint"));
  const int64_t saved = cluster_.Job(paused).attempts(0).last_step();

  // While a job is paused, other jobs use its slots. The job stays paused when the controller
  // restarts.
  const int64_t undisturbed = Submit("undisturbed");
  ASSERT_TRUE(cluster_.WaitForStep(undisturbed, 20)) << cluster_.DaemonLogs();
  cluster_.KillController();
  cluster_.StartController();
  EXPECT_THAT(Cli({"resume", "paused"}), HasSubstr("job 1 paused queued"));
  ASSERT_TRUE(cluster_.WaitForStep(undisturbed, saved + 30)) << cluster_.DaemonLogs();
  cluster_.StopAfter(undisturbed, saved + 30);
  ASSERT_TRUE(cluster_.WaitForStep(paused, saved + 20)) << cluster_.DaemonLogs();
  const v1::Job job = cluster_.StopAfter(paused, saved + 20);
  ASSERT_EQ(job.attempts_size(), 2) << job.DebugString();
  EXPECT_EQ(job.attempts(1).resume_step(), saved) << "no step is lost";
  EXPECT_EQ(job.restarts(), 0);
  ExpectEqualLosses(cluster_, paused, undisturbed, saved);
  EXPECT_THAT(Cli({"describe", "paused"}), HasSubstr("paused"));
}

TEST_F(PauseTest, AJobThatIsSubmittedToBeHeldWaitsForResume) {
  const int64_t held = Submit("held", {"--hold"});
  const int64_t younger = Submit("younger");
  ASSERT_TRUE(cluster_.WaitForStep(younger, 5)) << cluster_.DaemonLogs();
  EXPECT_EQ(cluster_.Job(held).state(), v1::JOB_STATE_HELD);
  EXPECT_THAT(Cli({"ps"}), HasSubstr("held"));
  Cli({"resume", absl::StrCat(held)});
  EXPECT_EQ(cluster_.Job(held).state(), v1::JOB_STATE_QUEUED);
  cluster_.StopAfter(younger, 5);
  EXPECT_TRUE(cluster_.WaitForStep(held, 5)) << cluster_.DaemonLogs();
}

}  // namespace
}  // namespace trainyard::test
