// Many jobs of one user or of one size delay others no longer than the rules allow.
#include <set>
#include <string>

#include "controller/core/state/slots/class_of_job.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

int64_t SubmitAs(const std::string& user, const v1::JobSpec& spec, TestCluster& cluster) {
  v1::SubmitJobRequest request;
  *request.mutable_spec() = spec;
  cluster.Do(Checked(request, {user}));
  return cluster.state.next_job_id - 1;
}

TEST(FloodsTest, TenThousandEqualJobsAreOneClassAndDelayNoOtherUser) {
  TestCluster cluster;
  cluster.AddNode("a", 1);
  const int64_t first = SubmitAs("ada", TestSpec("flood-0", 1, 1), cluster);
  cluster.RunJob(first);
  cluster.Pass(5000);
  for (int i = 1; i <= 10'000; ++i) {
    SubmitAs("ada", TestSpec("flood-" + std::to_string(i), 1, 1), cluster);
  }
  EXPECT_EQ(cluster.state.pending_classes.size(), 1U);
  const int64_t other = SubmitAs("grace", TestSpec("other", 1, 1), cluster);
  cluster.ExitAll(first, 0);
  cluster.ClearAll(first);
  EXPECT_EQ(cluster.StateOf(other), v1::JOB_STATE_STARTING) << "grace has used no slots";
}

// The rate is that of the busiest hour of the Philly trace (tests/simulation/traces).
TEST(FloodsTest, AThousandSmallJobsAnHourDelayAGangOnlyUntilItsPromise) {
  constexpr int kJobs = 1031;
  constexpr int64_t kEveryMs = 3'600'000 / kJobs;
  constexpr int64_t kRunMs = 110'000;
  TestCluster cluster;
  for (const char* id : {"a", "b"}) cluster.AddNode(id, 16);
  std::map<int64_t, Timestamp> ends;
  int64_t gang = 0, gang_started_after_ms = -1;
  Timestamp gang_submitted = 0;
  int finished = 0;
  for (int i = 0; i < kJobs; ++i) {
    v1::JobSpec small = TestSpec("small-" + std::to_string(i), 1, 1);
    small.mutable_time_limit()->set_seconds(120);
    SubmitAs("ada", small, cluster);
    if (i == kJobs / 3) {
      gang = SubmitAs("grace", TestSpec("gang", 2, 16), cluster);
      gang_submitted = cluster.now;
    }
    cluster.Pass(kEveryMs, kEveryMs);
    for (const int64_t id : std::set(cluster.state.live_jobs)) {
      if (id == gang && gang_started_after_ms < 0) {
        gang_started_after_ms = cluster.now - gang_submitted;
      }
      if (cluster.StateOf(id) == v1::JOB_STATE_STARTING) cluster.StartAll(id);
      const auto [end, is_new] = ends.try_emplace(id, cluster.now + kRunMs);
      if (is_new || end->second > cluster.now) continue;
      cluster.ExitAll(id, 0);
      cluster.ClearAll(id);
      ++finished;
    }
  }
  ASSERT_GE(gang_started_after_ms, 0) << "the gang never started";
  EXPECT_LE(gang_started_after_ms, 140'000) << "the time limit, the grace, and a pass";
  EXPECT_GT(finished, kJobs * 8 / 10);
}

}  // namespace
}  // namespace trainyard::controller
