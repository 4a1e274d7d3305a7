#include "trainer/checkpoint/retention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trainer/checkpoint/checkpoint_directory.h"

namespace trainyard::trainer {
namespace {

using testing::ElementsAre;

std::vector<int64_t> Deleted(const RetentionPolicy& policy,
                             const std::vector<std::string>& in_use) {
  std::vector<PublishedCheckpoint> checkpoints;
  for (int64_t step = 10; step <= 60; step += 10) {
    checkpoints.push_back({"/c/" + std::to_string(step), step, {0, 1}, 0});
  }
  std::vector<int64_t> steps;
  for (const auto& checkpoint : CheckpointsToDelete(checkpoints, policy, in_use)) {
    steps.push_back(checkpoint.step);
  }
  return steps;
}

TEST(RetentionTest, KeepsTheLastOnes) {
  EXPECT_THAT(Deleted({2, 0}, {}), ElementsAre(10, 20, 30, 40));
  EXPECT_THAT(Deleted({6, 0}, {}), ElementsAre());
  EXPECT_THAT(Deleted({100, 0}, {}), ElementsAre());
  EXPECT_THAT(Deleted({0, 0}, {}), ElementsAre(10, 20, 30, 40, 50));
}

TEST(RetentionTest, KeepsMilestonesAndWhatIsInUse) {
  EXPECT_THAT(Deleted({1, 20}, {}), ElementsAre(10, 30, 50));
  EXPECT_THAT(Deleted({1, 0}, {"/c/10", "/c/30"}), ElementsAre(20, 40, 50));
}

// Outside of a job every run is attempt 1: what the run before has left is removed, too.
TEST(RetentionTest, RemovesWhatOlderAttemptsAndItsOwnHaveLeft) {
  const CheckpointDirectory directory;
  for (const char* name : {"step_000000010.tmp-e1-1", "step_000000010.tmp-e12-1",
                           "step_000000020.tmp-e2-3", "step_000000020.tmp-j1-e1-1",
                           "step_000000020", "notes.tmp-e1-1", "step_000000030.tmp-eX"}) {
    std::filesystem::create_directories(directory.path() + "/" + name + "/inside");
  }
  RemoveAbandoned(directory.path(), {0, 2});
  EXPECT_THAT(directory.Names(),
              ElementsAre("notes.tmp-e1-1", "step_000000010.tmp-e12-1", "step_000000020",
                          "step_000000020.tmp-j1-e1-1", "step_000000030.tmp-eX"));
  RemoveAbandoned(directory.path() + "/missing", {0, 2});
}

TEST(RetentionTest, RemovesWhatEarlierJobsHaveLeft) {
  const CheckpointDirectory directory;
  for (const AttemptKey& owner :
       {AttemptKey{0, 9}, AttemptKey{7, 8}, AttemptKey{8, 1}, AttemptKey{8, 2}, AttemptKey{9, 1}}) {
    std::filesystem::create_directories(directory.path() + "/" + TemporaryName(10, owner, 3));
  }
  RemoveAbandoned(directory.path(), {8, 1});
  EXPECT_THAT(directory.Names(),
              ElementsAre("step_000000010.tmp-j8-e2-3", "step_000000010.tmp-j9-e1-3"));
}

}  // namespace
}  // namespace trainyard::trainer
