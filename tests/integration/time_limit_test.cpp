// Tests jobs that reach their time limits.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/equal_losses.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::HasSubstr;

// Long enough for trainyard-trainer to start and to train some steps, also on a busy machine.
constexpr char kLimit[] = "12s";

class TimeLimitTest : public testing::Test {
 protected:
  TimeLimitTest() : cluster_(/*nodes=*/2), tokens_(cluster_.MakeTokens()) {}

  int64_t Submit(const std::string& name, const std::string& limit, int save_every = 20) {
    const std::string job =
        absl::StrReplaceAll(TinyJob(name, tokens_, 2, 1'000'000),
                            {{"every_steps: 20", absl::StrCat("every_steps: ", save_every)}}) +
        limit;
    return cluster_.Submit(cluster_.WriteJob(name, job));
  }

  void RestartController() {
    cluster_.KillController();
    cluster_.StartController();
  }

  CommandResult Cli(const std::vector<std::string>& arguments) { return cluster_.Cli(arguments); }

  MiniCluster cluster_;
  const std::string tokens_;
};

// The controller is killed while the job saves.
TEST_F(TimeLimitTest, TheJobSavesBeforeItEnds) {
  const int64_t job_id = Submit("limited", absl::StrCat("time_limit: ", kLimit, "\n"));
  ASSERT_TRUE(cluster_.WaitForStep(job_id, 5)) << cluster_.DaemonLogs();
  EXPECT_THAT(Cli({"describe", "limited"}).output, HasSubstr("left, then ended"));
  ASSERT_TRUE(Eventually([&] { return cluster_.Job(job_id).state() != v1::JOB_STATE_RUNNING; },
                         Seconds(60)))
      << cluster_.DaemonLogs();
  RestartController();
  const CommandResult waited = Cli({"wait", "limited"});
  EXPECT_EQ(waited.exit_code, 8) << waited.output;
  const v1::Job job = cluster_.Job(job_id);
  EXPECT_EQ(job.state(), v1::JOB_STATE_STOPPED);
  EXPECT_EQ(job.verdict().cause(), v1::VERDICT_CAUSE_TIME_LIMIT);
  EXPECT_THAT(job.verdict().summary(), HasSubstr("ended by its time limit of 12 s"));
  EXPECT_EQ(job.verdict().lost_steps(), 0);
  ASSERT_FALSE(job.checkpoints().empty());
  EXPECT_EQ(job.checkpoints().rbegin()->step(), job.attempts(0).last_step());
  EXPECT_THAT(Cli({"extend", "limited", "+1h"}).error, HasSubstr("ended"));
}

// The controller is killed while the job saves, and again after the job was placed again.
TEST_F(TimeLimitTest, ARequeuedJobContinuesBitForBit) {
  const int64_t requeued =
      Submit("requeued", absl::StrCat("time_limit: ", kLimit, "\nat_time_limit: requeue\n"));
  const auto newest = [&] { return *cluster_.Job(requeued).attempts().rbegin(); };
  ASSERT_TRUE(Eventually([&] { return cluster_.Job(requeued).attempts_size() == 1; }));
  ASSERT_TRUE(Eventually([&] { return newest().has_yield(); }, Seconds(90)))
      << cluster_.DaemonLogs();
  RestartController();
  ASSERT_TRUE(Eventually([&] { return newest().number() > 1; }, Seconds(60)))
      << cluster_.DaemonLogs();
  RestartController();
  const int64_t saved = cluster_.Job(requeued).attempts(0).last_step();
  ASSERT_TRUE(cluster_.WaitForStep(requeued, saved + 20)) << cluster_.DaemonLogs();
  const v1::Job job = cluster_.StopAfter(requeued, saved + 20);
  EXPECT_EQ(job.attempts(0).yield().cause(), v1::YIELD_CAUSE_TIME_LIMIT);
  EXPECT_EQ(job.attempts(1).resume_step(), saved) << "no step is lost";
  EXPECT_EQ(job.restarts(), 0);
  EXPECT_GE(job.time_limit_use().requeues(), 1);

  const int64_t undisturbed = Submit("undisturbed", "");
  ASSERT_TRUE(cluster_.WaitForStep(undisturbed, saved + 20, Seconds(120))) << cluster_.DaemonLogs();
  cluster_.StopAfter(undisturbed, saved + 20);
  ExpectEqualLosses(cluster_, requeued, undisturbed, saved);
}

TEST_F(TimeLimitTest, TheWarningSavesACheckpointAndAnExtensionMovesTheLimit) {
  const int64_t job_id = Submit("warned",
                                "time_limit: 3600s\n"
                                "time_limit_signal: USR1\n"
                                "time_limit_warning: 3590s\n",
                                /*save_every=*/0);
  // The warning is due 10 s after the placement, and USR1 saves. An earlier USR1 would kill the
  // trainer while it loads its libraries.
  ASSERT_TRUE(Eventually([&] { return !cluster_.Job(job_id).checkpoints().empty(); }, Seconds(60)))
      << cluster_.DaemonLogs();
  const v1::Job job = cluster_.Job(job_id);
  EXPECT_EQ(job.state(), v1::JOB_STATE_RUNNING);
  EXPECT_EQ(job.attempts(0).time_limit_warnings().number(), 1);
  EXPECT_THAT(Cli({"extend", "warned", "+2h"}).output, HasSubstr("left until its time limit"));
  EXPECT_GT(cluster_.Job(job_id).time_limit_use().remaining_ms(), 2 * 3'600'000);
  EXPECT_THAT(Cli({"extend", "warned", "soon"}).error, HasSubstr("must be a duration"));
  EXPECT_THAT(Cli({"why", "warned"}).output, HasSubstr("(extended by 2 h)"));
}

}  // namespace
}  // namespace trainyard::test
