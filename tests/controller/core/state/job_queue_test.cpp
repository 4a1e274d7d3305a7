#include "controller/core/state/job_queue.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;

JobQueue QueueOf(const std::vector<int64_t>& ids) {
  JobQueue queue;
  for (const int64_t id : ids) queue.Insert({id});
  return queue;
}

TEST(JobQueueTest, JobsAreInTheOrderOfTheirNumbersHoweverTheyJoin) {
  EXPECT_THAT(QueueOf({7, 3, 9, 5}),
              ElementsAre(QueueKey{3}, QueueKey{5}, QueueKey{7}, QueueKey{9}));
  v1::Job earlier, later;
  earlier.set_id(3);
  later.set_id(4);
  EXPECT_LT(QueueKeyOf(earlier), QueueKeyOf(later));
}

TEST(JobQueueTest, RemoveTakesTheJobOnly) {
  JobQueue queue = QueueOf({3, 5, 7});
  queue.Remove({5});
  EXPECT_THAT(queue, ElementsAre(QueueKey{3}, QueueKey{7}));
  // Removing an absent job has no effect. Job 5 would be between two jobs, and job 8 behind the
  // last job.
  queue.Remove({5});
  queue.Remove({8});
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_FALSE(queue.Contains({5}));
  EXPECT_TRUE(queue.Contains({7}));
}

TEST(JobQueueTest, CountBeforeCountsSmallerKeysOnly) {
  const JobQueue queue = QueueOf({3, 5, 7});
  EXPECT_EQ(queue.CountBefore({3}), 0u);
  EXPECT_EQ(queue.CountBefore({4}), 1u);
  EXPECT_EQ(queue.CountBefore({7}), 2u);
  EXPECT_EQ(queue.CountBefore({8}), 3u);
}

TEST(JobQueueTest, ClearRemovesAllJobs) {
  JobQueue queue = QueueOf({1, 2});
  EXPECT_FALSE(queue.empty());
  queue.clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue, JobQueue());
}

}  // namespace
}  // namespace trainyard::controller
