// Jobs that start behind the head of the queue: which gangs are tried, and that no job is left out.
#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "controller/core/schedule/admission.h"
#include "controller/core/schedule/expected_ends.h"
#include "controller/core/schedule/head_promise.h"
#include "controller/core/schedule/placement.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/attempts/gang_request.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

int64_t SubmitLimited(TestCluster& cluster, int nodes, int slots, int64_t limit_s) {
  v1::JobSpec spec = TestSpec("job-" + std::to_string(cluster.state.next_job_id), nodes, slots);
  if (limit_s > 0) spec.mutable_time_limit()->set_seconds(limit_s);
  return cluster.Submit(spec);
}

// Both nodes have two free slots. The head fits on node a when job 1 ends. Node b is too small.
TEST(BackfillGangTest, AnotherGangIsTriedIfTheBestFitDelaysTheHead) {
  TestCluster cluster;
  cluster.AddNode("a", 3);
  cluster.RunJob(SubmitLimited(cluster, 1, 1, 1000));
  SubmitLimited(cluster, 1, 3, 0);
  cluster.AddNode("b", 2);
  const int64_t later = SubmitLimited(cluster, 1, 1, 0);
  cluster.Settle();
  ASSERT_EQ(cluster.StateOf(later), v1::JOB_STATE_STARTING);
  EXPECT_EQ(cluster.Placement(later), "b:0");
}

// The recovering job has two of the four slots again. The head fits once the job with the limit of
// 1,000 s ends. A job with a longer limit would delay the head, also in the pass in which the
// recovering job is placed.
TEST(BackfillGangTest, APlacedRecoveringJobOccupiesItsSlotsOnce) {
  TestCluster cluster;
  cluster.AddNode("a", 4);
  const int64_t recovering = SubmitLimited(cluster, 1, 2, 0);
  cluster.RunJob(recovering);
  cluster.RunJob(SubmitLimited(cluster, 1, 1, 1000));
  SubmitLimited(cluster, 1, 2, 0);
  cluster.ExitAll(recovering, 1);
  cluster.ClearAll(recovering);
  const int64_t longer = SubmitLimited(cluster, 1, 1, 5000);
  cluster.Settle();
  ASSERT_EQ(cluster.StateOf(recovering), v1::JOB_STATE_RECOVERING);
  ASSERT_EQ(cluster.StateOf(longer), v1::JOB_STATE_QUEUED);
  cluster.Pass(2000);
  ASSERT_EQ(cluster.StateOf(recovering), v1::JOB_STATE_STARTING);
  EXPECT_EQ(cluster.StateOf(longer), v1::JOB_STATE_QUEUED);
}

// Returns all gangs of equal slots on `count` of the nodes from `first` on.
void AddGangs(const std::vector<NodeSlots>& nodes, std::size_t first, std::size_t count, Gang gang,
              std::vector<Gang>& gangs) {
  if (gang.size() == count) return gangs.push_back(gang);
  for (std::size_t i = first; i < nodes.size(); ++i) {
    gang.push_back(nodes[i]);
    AddGangs(nodes, i + 1, count, gang, gangs);
    gang.pop_back();
  }
}

// Returns all gangs that fit on free slots.
std::vector<Gang> GangsFor(const ClusterState& state, const GangShape& shape) {
  std::vector<NodeSlots> nodes;
  for (const auto& [id, entry] : state.nodes) {
    if (FreeSlots(entry.node, shape.kind) < shape.slots_per_node) continue;
    nodes.push_back({id, std::vector<int>(static_cast<std::size_t>(shape.slots_per_node))});
  }
  std::vector<Gang> gangs;
  AddGangs(nodes, 0, static_cast<std::size_t>(shape.nodes), {}, gangs);
  return gangs;
}

class BackfillRandomTest : public ::testing::TestWithParam<unsigned> {
 protected:
  int Draw(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }

  // Fails if a waiting job behind the head could start on some gang without delaying the head.
  void ExpectNobodyIsLeftOut() {
    const ClusterView view = cluster_.View();
    ASSERT_TRUE(view.schedule.placements.empty());
    const QueueHead* head = view.schedule.HeadOf(v1::DEVICE_KIND_CPU);
    if (head == nullptr) return;
    const PlacementPass pass(cluster_.state, {});
    const HeadPromise promise(
        GangRequestOf(cluster_.Job(head->job_id).spec()).Full(), false,
        ReleasesOf(cluster_.state, pass, v1::DEVICE_KIND_CPU,
                   ExpectedEndsOf(cluster_.state, cluster_.observations, cluster_.now),
                   cluster_.now));
    ASSERT_EQ(promise.promised(), head->promised);
    for (const auto& [job_class, jobs] : cluster_.state.pending_classes) {
      if (jobs.contains(head->job_id)) continue;
      const std::optional<Refusal> refusal = view.schedule.refusals.Find(job_class);
      const Timestamp end = LatestEnd(job_class, cluster_.now);
      const auto gangs = GangsFor(cluster_.state,
                                  {job_class.nodes, job_class.slots_per_node, v1::DEVICE_KIND_CPU});
      EXPECT_EQ(refusal, gangs.empty() ? Refusal::kSlots : Refusal::kDelaysHead);
      for (const Gang& gang : gangs) {
        EXPECT_FALSE(promise.Allows(gang, end)) << "job " << *jobs.begin();
      }
    }
  }

  TestCluster cluster_;
  std::mt19937 random_{GetParam()};
};

TEST_P(BackfillRandomTest, NoJobThatCouldStartWaits) {
  for (const char* id : {"a", "b", "c", "d", "e"}) cluster_.AddNode(id, Draw(1, 4));
  for (int round = 0; round < 12; ++round) {
    for (int i = Draw(1, 4); i > 0; --i) {
      const int nodes = Draw(1, 3), slots = Draw(1, 3);
      if (!CheckGangFits(cluster_.state, {}, {nodes, slots, v1::DEVICE_KIND_CPU}).ok()) continue;
      SubmitLimited(cluster_, nodes, slots, 100 * Draw(0, 6));
    }
    cluster_.Settle();
    ExpectNobodyIsLeftOut();
    const std::set<int64_t> live = cluster_.state.live_jobs;
    for (const int64_t job : live) {
      if (cluster_.StateOf(job) == v1::JOB_STATE_STARTING) cluster_.StartAll(job);
      if (Draw(0, 2) > 0) continue;
      cluster_.ExitAll(job, 0);
      cluster_.ClearAll(job);
    }
    cluster_.Pass(Draw(1, 20) * 1000, 1000);
    ExpectNobodyIsLeftOut();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, BackfillRandomTest, ::testing::Range(0U, 40U));

}  // namespace
}  // namespace trainyard::controller
