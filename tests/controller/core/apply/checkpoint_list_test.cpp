#include "controller/core/apply/checkpoint_list.h"

#include <utility>

#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

TEST(CheckpointListTest, ARejectionDamagesOnlyWhatEarlierAttemptsPublishedThere) {
  v1::Job job;
  for (const auto& [path, attempt_number] :
       {std::pair{"/c/10", 1}, std::pair{"/c/20", 1}, std::pair{"/c/20", 2}}) {
    v1::Checkpoint& checkpoint = *job.add_checkpoints();
    checkpoint.set_path(path);
    checkpoint.set_attempt(attempt_number);
  }
  v1::CheckpointRejected rejected;
  rejected.set_path("/c/20");
  rejected.set_attempt(2);
  MarkDamaged(rejected, job);
  EXPECT_FALSE(job.checkpoints(0).damaged()) << "at another path";
  EXPECT_TRUE(job.checkpoints(1).damaged());
  EXPECT_FALSE(job.checkpoints(2).damaged()) << "published by the rejecting attempt itself";
}

}  // namespace
}  // namespace trainyard::controller
