#include "trainer/checkpoint/starting_point.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/checkpoint_directory.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kJob = 7;

// Attempt 1 of the job has published steps 80, 90 and 100. The same directory contains step 200 of
// another job.
class StartingPointTest : public testing::Test {
 protected:
  StartingPointTest() {
    Save(200, {kJob - 1, 9});
    for (const int64_t step : {80, 90, 100}) Save(step, {kJob, 1});
  }

  void Save(int64_t step, const AttemptKey& attempt) const {
    CheckpointWriterOptions options = directory_.Options(attempt);
    options.retention.keep_last = 10;
    CheckpointWriter writer(options);
    writer.Save(step, {}, {WholeTensor("w", torch::ones({100}))});
    writer.Finish();
  }

  // Returns the steps of the replacements that were considered for `named`. The last replacement is
  // used. Empty if `named` itself is used.
  std::vector<int64_t> Instead(const std::string& named, int64_t job_id = kJob) const {
    const StartingPoint start = FindStartingPoint(named, directory_.path(), job_id);
    std::vector<int64_t> steps;
    for (const PublishedCheckpoint& checkpoint : start.instead) steps.push_back(checkpoint.step);
    EXPECT_EQ(start.path, steps.empty() ? named : directory_.Step(steps.back()));
    return steps;
  }

  const CheckpointDirectory directory_;
};

TEST_F(StartingPointTest, IsWhatIsNamedWhileThatIsThere) {
  EXPECT_THAT(Instead(directory_.Step(80)), IsEmpty());
  std::filesystem::remove(directory_.Step(80) + "/manifest.json");
  EXPECT_THAT(Instead(directory_.Step(80)), IsEmpty()) << "damaged is not gone";
}

TEST_F(StartingPointTest, IsTheNewestOfTheJobWhenWhatIsNamedIsGone) {
  EXPECT_THAT(Instead(directory_.Step(70)), ElementsAre(80, 90, 100));
  EXPECT_THAT(Instead(directory_.Step(70) + "/"), ElementsAre(80, 90, 100));
  Save(85, {kJob, 2});  // after a roll-back
  EXPECT_THAT(Instead(directory_.Step(70)), ElementsAre(80, 90, 100, 85));
}

TEST_F(StartingPointTest, PassesOverWhatARollbackMadeBad) {
  const StartingPoint start =
      FindStartingPoint(directory_.Step(70), directory_.path(), kJob, {{1, 90}});
  EXPECT_EQ(start.path, directory_.Step(80));
}

TEST_F(StartingPointTest, PassesOverWhatIsTorn) {
  const std::string file = directory_.Step(100) + "/rank_00000.safetensors";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  EXPECT_THAT(Instead(directory_.Step(70)), ElementsAre(80, 90));
}

// Only a missing checkpoint in the job's own directory is replaced. If a user names a checkpoint in
// another directory, that checkpoint is not replaced.
TEST_F(StartingPointTest, IsWhatIsNamedOutsideOfTheJobsOwn) {
  EXPECT_THAT(Instead("/no/such/step_000000070"), IsEmpty());
  EXPECT_THAT(Instead(directory_.path() + "/deeper/step_000000070"), IsEmpty());
  EXPECT_THAT(Instead(directory_.Step(70), /*job_id=*/0), IsEmpty());
  EXPECT_THAT(Instead(directory_.Step(70), /*job_id=*/kJob + 1), IsEmpty());
}

TEST_F(StartingPointTest, JobDoesNotStartBeforeCheckpointsOfAnotherOne) {
  const auto error = [&](int64_t job_id, int64_t step) -> std::string {
    try {
      CheckOverwritesNone(directory_.path(), job_id, step);
      return "";
    } catch (const TrainerError& refused) {
      EXPECT_EQ(refused.code(), ExitCode::kBadConfig);
      return refused.what();
    }
  };
  EXPECT_THAT(error(kJob, 0), testing::HasSubstr("checkpoints of job 6, up to step 200"));
  EXPECT_THAT(error(kJob, 199), testing::HasSubstr("resume_from: " + directory_.Step(200)));
  EXPECT_EQ(error(kJob, 200), "");
  EXPECT_EQ(error(0, 0), "") << "a run outside of any job";
  std::filesystem::remove_all(directory_.Step(200));
  EXPECT_EQ(error(kJob, 0), "") << "its own";
}

}  // namespace
}  // namespace trainyard::trainer
