// Runs the real trainer without faults, then starts a second run from the first run's checkpoint.
// Checks the reports of both runs.
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Enough steps for a report on the losses, and to write more checkpoints than keep_last.
constexpr int kHealthySteps = 240;

TEST(JudgementsTest, AHealthyRunIsReportedAsOne) {
  MiniCluster cluster(1);
  const std::string tokens = cluster.MakeTokens();
  const int64_t id =
      cluster.Submit(cluster.WriteJob("healthy", TinyJob("healthy", tokens, 1, kHealthySteps)));
  const v1::Job job = cluster.WaitForEnd(id);
  ASSERT_EQ(job.state(), v1::JOB_STATE_SUCCEEDED) << job.DebugString();
  const std::string number = absl::StrCat(id);

  EXPECT_THAT(cluster.Cli({"report", number}).output, HasSubstr("none found by the loss guard"));

  EXPECT_THAT(cluster.Cli({"ckpt", "list", number}).output, Not(HasSubstr("deleted")));
  EXPECT_THAT(cluster.Cli({"ckpt", "list", number, "-a"}).output,
              AllOf(HasSubstr("published"), HasSubstr("deleted"), HasSubstr("step_000000020")));

  ASSERT_GT(job.checkpoints_size(), 0);
  const std::string start =
      absl::StrCat("checkpoint.resume_from=", job.checkpoints(job.checkpoints_size() - 1).path());
  const std::string next = cluster.WriteJob("next", TinyJob("next", tokens, 1, 2 * kHealthySteps));
  const CommandResult other =
      cluster.Cli({"submit", next, "--set", start, "--set", "model.ffn_hidden_size=192"});
  EXPECT_NE(other.exit_code, 0);
  EXPECT_THAT(other.error,
              HasSubstr("model.ffn_hidden_size is 192 in this job and 128 in the checkpoint"));
  const int64_t resumed = cluster.Submit(next, {"--set", start});
  EXPECT_EQ(cluster.WaitForEnd(resumed).state(), v1::JOB_STATE_SUCCEEDED);
}

}  // namespace
}  // namespace trainyard::test
