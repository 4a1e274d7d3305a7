#include "controller/core/state/starting_point.h"

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

}  // namespace
}  // namespace trainyard::controller
