#include "controller/core/state/attempts/starting_point.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(NextStartingPointTest, WithoutACheckpointIsAsTheUserNamedItWithoutStepAndAttempt) {
  v1::Job job;
  job.mutable_spec()->mutable_checkpoint()->set_resume_from("/theirs");
  const StartingPoint start = NextStartingPoint(job);
  EXPECT_EQ(start.path, "/theirs");
  EXPECT_EQ(start.step, 0);
  EXPECT_EQ(start.attempt, 0);
}

TEST(NextStartingPointTest, OfAnotherJobsCheckpointKnowsTheStepInItsName) {
  const auto step = [](const std::string& path, bool is_foreign) {
    v1::Job job;
    job.mutable_spec()->mutable_checkpoint()->set_resume_from(path);
    if (is_foreign) job.mutable_spec()->add_command("python3");
    return NextStartingPoint(job).step;
  };
  EXPECT_EQ(step("/c/25-first/step_000000020", false), 20);
  EXPECT_EQ(step("/c/25-first/step_000000020/", false), 20);
  EXPECT_EQ(step("/c/step_20", false), 0) << "not a name that the trainer gives";
  EXPECT_EQ(step("/c/my_step_000000020", false), 0);
  EXPECT_EQ(step("/c/step_000000020/copy", false), 0);
  EXPECT_EQ(step("/c/step_9999999999999999999", false), 0);
  EXPECT_EQ(step("/c/step_9999999999999", false), 0) << "more than kMaxStep";
  EXPECT_EQ(step("/c/step_000000020", true), 0) << "a program may count its steps anew";
}

TEST(WatchedCheckpointsOfTest, AreTheNewestUsableOnesOfAWatchedJob) {
  v1::Job job;
  for (int64_t step = 1; step <= 300; ++step) {
    v1::Checkpoint& checkpoint = *job.add_checkpoints();
    checkpoint.set_step(step);
    checkpoint.set_damaged(step == 299);
    checkpoint.set_rolled_back(step == 298);
  }
  EXPECT_TRUE(WatchedCheckpointsOf(job).empty()) << "the job watches no files";
  job.mutable_spec()->mutable_checkpoint()->set_watch("*.pt");
  const std::vector<v1::Checkpoint> newest = WatchedCheckpointsOf(job);
  ASSERT_EQ(newest.size(), 200);
  EXPECT_EQ(newest[0].step(), 300);
  EXPECT_EQ(newest[1].step(), 297);
  EXPECT_EQ(newest[199].step(), 99);
}

TEST(NextStartingPointTest, OfTwoCheckpointsOfOneStepAndAttemptIsTheFirstPublished) {
  v1::Job job;
  for (const char* path : {"/c/first", "/c/second"}) {
    v1::Checkpoint& checkpoint = *job.add_checkpoints();
    checkpoint.set_path(path);
    checkpoint.set_step(20);
    checkpoint.set_attempt(3);
  }
  const StartingPoint start = NextStartingPoint(job);
  EXPECT_EQ(start.path, "/c/first");
  EXPECT_EQ(start.step, 20);
  EXPECT_EQ(start.attempt, 3);
}

TEST(StartingPointTest, IsTheSoundCheckpointOfTheHighestStepThenTheHighestAttempt) {
  v1::Job job;
  EXPECT_EQ(NextStartingPoint(job).path, "");
  job.mutable_spec()->mutable_checkpoint()->set_resume_from("/theirs");
  EXPECT_EQ(NextStartingPoint(job).path, "/theirs");
  EXPECT_EQ(NextStartingPoint(job).step, 0);
  for (const auto& [step, attempt_number] :
       {std::pair{10, 2}, std::pair{20, 1}, std::pair{20, 3}}) {
    v1::Checkpoint& checkpoint = *job.add_checkpoints();
    checkpoint.set_step(step);
    checkpoint.set_attempt(attempt_number);
    checkpoint.set_path(absl::StrCat("/c/", step, "-", attempt_number));
  }
  EXPECT_EQ(NextStartingPoint(job).path, "/c/20-3");
  EXPECT_EQ(NextStartingPoint(job).step, 20);
  job.mutable_checkpoints(2)->set_damaged(true);
  EXPECT_EQ(NextStartingPoint(job).path, "/c/20-1");
  for (v1::Checkpoint& checkpoint : *job.mutable_checkpoints()) checkpoint.set_damaged(true);
  EXPECT_EQ(NextStartingPoint(job).path, "/theirs");
}

}  // namespace
}  // namespace trainyard::controller
