#include "tests/simulation/replay/llm_mix.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

namespace trainyard::replay {
namespace {

double MedianOf(std::vector<int64_t> values) {
  std::ranges::sort(values);
  return static_cast<double>(values[values.size() / 2]);
}

// Kalos: a mean of 26.77 GPUs, a median of 1, and running times with a mean of 1,260 s and a median
// of 124 s. Pretraining is 3 % of the jobs and more than 90 % of the GPU time.
TEST(LlmMixTest, HasTheFiguresOfTheRealCluster) {
  double gpus = 0, seconds = 0, gpu_seconds = 0, pretraining_seconds = 0;
  std::vector<int64_t> sizes, durations;
  std::map<std::string, int> queues;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const TraceJob& job : MakeLlmMix(seed)) {
      const auto duration = static_cast<double>(job.duration);
      gpus += job.gpus;
      seconds += duration;
      gpu_seconds += job.gpus * duration;
      if (job.queue == "pretraining") pretraining_seconds += job.gpus * duration;
      sizes.push_back(job.gpus);
      durations.push_back(job.duration);
      ++queues[job.queue];
    }
  }
  const auto count = static_cast<double>(sizes.size());
  EXPECT_NEAR(gpus / count, 26.77, 4);
  EXPECT_EQ(MedianOf(sizes), 1);
  EXPECT_EQ(std::ranges::max(sizes), 1024);
  EXPECT_NEAR(seconds / count, 1260, 200);
  EXPECT_NEAR(MedianOf(durations), 124, 15);
  EXPECT_GT(pretraining_seconds / gpu_seconds, 0.9);
  EXPECT_NEAR(queues["pretraining"] / count, 0.035, 0.01);
  EXPECT_GT(queues["evaluation"] / count, 0.88);
}

TEST(LlmMixTest, EqualSeedsGiveEqualJobsInOrder) {
  const std::vector<TraceJob> jobs = MakeLlmMix(7), again = MakeLlmMix(7), other = MakeLlmMix(8);
  ASSERT_EQ(jobs.size(), again.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    EXPECT_EQ(jobs[i].submit, again[i].submit);
    EXPECT_EQ(jobs[i].duration, again[i].duration);
    EXPECT_EQ(jobs[i].gpus, again[i].gpus);
  }
  EXPECT_TRUE(std::ranges::is_sorted(jobs, {}, &TraceJob::submit));
  EXPECT_NE(jobs[0].submit, other[0].submit);
}

}  // namespace
}  // namespace trainyard::replay
