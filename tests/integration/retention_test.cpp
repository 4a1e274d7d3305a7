// Tests deletion and retention with the real programs.
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/mini_cluster.h"

namespace trainyard::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class DeletionRunTest : public testing::Test {
 protected:
  DeletionRunTest() {
    const std::string tokens = cluster_.MakeTokens();
    job_ = cluster_.Submit(cluster_.WriteJob("job", TinyJob("job", tokens, 1, 20)));
    EXPECT_EQ(cluster_.WaitForEnd(job_).state(), v1::JOB_STATE_SUCCEEDED);
  }

  // Deletes the job once all of its output has arrived.
  CommandResult Delete(std::vector<std::string> more) {
    more.insert(more.begin(), {"delete", absl::StrCat(job_)});
    CommandResult result;
    Eventually([&] {
      result = cluster_.Cli(more);
      return result.exit_code == 0;
    });
    return result;
  }

  MiniCluster cluster_{1};
  int64_t job_ = 0;
};

TEST_F(DeletionRunTest, ADryRunShowsWhatGoesAndTheDeletionSurvivesKillMinusNine) {
  const CommandResult dry = Delete({"--checkpoints"});
  EXPECT_EQ(dry.exit_code, 0) << dry.output;
  EXPECT_THAT(dry.output, HasSubstr("would be deleted"));
  EXPECT_THAT(dry.output, HasSubstr("metrics"));
  const v1::Job job = cluster_.Job(job_);
  ASSERT_FALSE(job.checkpoints().empty());
  const std::string checkpoint = job.checkpoints(job.checkpoints_size() - 1).path();
  EXPECT_TRUE(fs::exists(checkpoint));
  EXPECT_FALSE(cluster_.Series(job_, "loss").empty());

  const CommandResult done = Delete({"--checkpoints", "--yes"});
  EXPECT_EQ(done.exit_code, 0) << done.output;
  cluster_.KillController();
  cluster_.StartController();
  const CommandResult described = cluster_.Cli({"describe", absl::StrCat(job_)});
  EXPECT_NE(described.exit_code, 0);
  EXPECT_THAT(described.error, HasSubstr("was deleted on"));
  EXPECT_THAT(cluster_.Cli({"ps", "--all"}).output, Not(HasSubstr("succeeded")));
  EXPECT_TRUE(Eventually([&] { return !fs::exists(checkpoint); }));
}

TEST_F(DeletionRunTest, WithoutTheFlagCheckpointsStay) {
  const std::string checkpoint = cluster_.Job(job_).checkpoints(0).path();
  const CommandResult done = Delete({"--yes"});
  EXPECT_EQ(done.exit_code, 0) << done.output;
  EXPECT_THAT(done.output, HasSubstr("--checkpoints"));
  EXPECT_TRUE(fs::exists(checkpoint));
}

TEST_F(DeletionRunTest, OldOutputOfAnEndedJobGoesAndTheJobStays) {
  Eventually([&] { return !cluster_.Logs(job_, 0, 1).empty(); });
  const std::string config = cluster_.directory() + "/controller.yaml";
  std::ofstream(config) << "retention:\n  logs: 0s\n  metrics: never\n";
  cluster_.KillController();
  cluster_.StartController({"--config", config});
  EXPECT_TRUE(Eventually([&] { return cluster_.Logs(job_, 0, 1).empty(); }));
  EXPECT_FALSE(cluster_.Series(job_, "loss").empty());
  EXPECT_EQ(cluster_.Job(job_).state(), v1::JOB_STATE_SUCCEEDED);
}

TEST_F(DeletionRunTest, StatusShowsTheSpaceAndTheRules) {
  const CommandResult status = cluster_.Cli({"server", "status"});
  EXPECT_THAT(status.output, HasSubstr("logs 30d, at most 40% of the disk"));
  EXPECT_THAT(status.output, HasSubstr("of at most"));
  EXPECT_THAT(status.output, HasSubstr("free of"));
}

}  // namespace
}  // namespace trainyard::test
