// Jobs whose ranks request CPU cores and memory of their nodes.
#include <random>
#include <string>

#include "controller/core/event_log/snapshot.h"
#include "controller/core/explain/pending_reason.h"
#include "controller/core/explain/preview.h"
#include "controller/core/schedule/admission.h"
#include "controller/core/schedule/expected_ends.h"
#include "controller/core/schedule/host_releases.h"
#include "controller/core/schedule/open_nodes.h"
#include "controller/core/schedule/preemption.h"
#include "controller/core/schedule/schedule.h"
#include "controller/core/state/nodes/host_capacity.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kGiB = int64_t{1} << 30;

v1::JobSpec HostSpec(const std::string& name, int nodes, int slots, const HostAmount& per_rank,
                     int64_t limit_s = 0) {
  v1::JobSpec spec = TestSpec(name, nodes, slots);
  if (per_rank.cpus > 0) {
    spec.mutable_resources()->set_cpus_per_rank(static_cast<int32_t>(per_rank.cpus));
  }
  if (per_rank.memory_bytes > 0) {
    spec.mutable_resources()->set_memory_per_rank(per_rank.memory_bytes);
  }
  if (limit_s > 0) spec.mutable_time_limit()->set_seconds(limit_s);
  return spec;
}

HostAmount FreeOn(const TestCluster& cluster, const std::string& id) {
  return cluster.state.nodes.at(id).free_host;
}

TEST(HostRequestsTest, RanksHoldTheirRequestUntilTheNodeIsClear) {
  TestCluster cluster;
  cluster.AddNode("a", 8, {64, 256 * kGiB});
  const int64_t job = cluster.Submit(HostSpec("job", 1, 2, {8, 64 * kGiB}));
  cluster.RunJob(job);
  EXPECT_EQ(FreeOn(cluster, "a"), (HostAmount{48, 128 * kGiB}));
  const v1::SlotUse& use = cluster.state.nodes.at("a").node.slot_uses(1);
  EXPECT_EQ(use.requested_cpus(), 8);
  EXPECT_EQ(use.requested_memory_bytes(), 64 * kGiB);
  cluster.ExitAll(job, 0);
  EXPECT_EQ(FreeOn(cluster, "a"), (HostAmount{48, 128 * kGiB}));
  cluster.ClearAll(job);
  EXPECT_EQ(FreeOn(cluster, "a"), (HostAmount{64, 256 * kGiB}));
}

TEST(HostRequestsTest, SlotsAloneAreNotEnough) {
  TestCluster cluster;
  cluster.AddNode("a", 8, {64, 256 * kGiB});
  cluster.AddNode("b", 8, {64, 256 * kGiB});
  const int64_t first = cluster.Submit(HostSpec("first", 1, 3, {0, 64 * kGiB}));
  const int64_t second = cluster.Submit(HostSpec("second", 1, 2, {0, 64 * kGiB}));
  const int64_t third = cluster.Submit(HostSpec("third", 1, 1, {32, 0}));
  cluster.Settle();
  EXPECT_EQ(cluster.Placement(first), "a:0 a:1 a:2");
  EXPECT_EQ(cluster.Placement(second), "b:0 b:1") << "64 GiB are left on a";
  EXPECT_EQ(cluster.Placement(third), "a:3") << "a has the fewest free slots";
}

TEST(HostRequestsTest, JobsWithoutRequestUseNothing) {
  TestCluster cluster;
  cluster.AddNode("a", 4, {8, 8 * kGiB});
  cluster.RunJob(cluster.Submit(HostSpec("full", 1, 1, {8, 8 * kGiB})));
  const int64_t plain = cluster.Submit("plain", 1, 3);
  cluster.Settle();
  EXPECT_EQ(cluster.Placement(plain), "a:1 a:2 a:3");
  EXPECT_EQ(FreeOn(cluster, "a"), HostAmount{});
}

TEST(HostRequestsTest, TheGangsOfOnePassShareANode) {
  TestCluster cluster;
  cluster.AddNode("a", 8, {8, 100 * kGiB});
  const int64_t first = cluster.Submit(HostSpec("first", 1, 1, {0, 60 * kGiB}));
  const int64_t second = cluster.Submit(HostSpec("second", 1, 1, {0, 60 * kGiB}));
  const int64_t third = cluster.Submit(HostSpec("third", 1, 1, {0, 40 * kGiB}));
  const Schedule schedule = cluster.View().schedule;
  ASSERT_EQ(schedule.placements.size(), 1U);
  EXPECT_EQ(schedule.placements.front().job_id, first);
  cluster.Settle();
  EXPECT_EQ(cluster.StateOf(second), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster.StateOf(third), v1::JOB_STATE_QUEUED) << "it could delay the second job";
}

TEST(HostRequestsTest, ARecoveringJobKeepsItsRequest) {
  TestCluster cluster;
  cluster.AddNode("a", 2, {8, 100 * kGiB});
  const int64_t job = cluster.Submit(HostSpec("job", 1, 1, {0, 60 * kGiB}));
  cluster.RunJob(job);
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  ASSERT_EQ(cluster.StateOf(job), v1::JOB_STATE_RECOVERING);
  EXPECT_EQ(FreeOn(cluster, "a").memory_bytes, 40 * kGiB);
  const int64_t other = cluster.Submit(HostSpec("other", 1, 1, {0, 60 * kGiB}));
  cluster.Pass(60'000);
  EXPECT_EQ(cluster.Placement(job), "a:0");
  EXPECT_EQ(cluster.Job(job).attempts_size(), 2);
  EXPECT_EQ(cluster.StateOf(other), v1::JOB_STATE_QUEUED);
}

TEST(HostRequestsTest, AJobThatNoNodeCouldHoldIsRefused) {
  TestCluster cluster;
  cluster.AddNode("a", 8, {64, 256 * kGiB});
  cluster.AddNode("b", 2, {96, 512 * kGiB});
  const auto refusal = [&](const v1::JobSpec& spec) {
    return std::string(Admit(cluster.state, spec).message());
  };
  EXPECT_EQ(
      refusal(HostSpec("job", 1, 4, {0, 65 * kGiB})),
      "the job needs 1 node with 4 cpu slots, and 65 GiB of memory per rank, which is 260 GiB "
      "of memory per node, but too few nodes have that much; the largest nodes with enough "
      "slots have 64 CPUs and 256 GiB of memory; reduce resources.cpus_per_rank or "
      "resources.memory_per_rank");
  EXPECT_THAT(refusal(HostSpec("job", 1, 1, {97, 0})), HasSubstr("97 CPUs per node"));
  EXPECT_EQ(refusal(HostSpec("job", 1, 4, {0, 64 * kGiB})), "");
  EXPECT_EQ(refusal(HostSpec("job", 1, 1, {96, 512 * kGiB})), "");
  EXPECT_THAT(refusal(HostSpec("job", 2, 1, {65, 0})), HasSubstr("too few nodes"));
}

TEST(HostRequestsTest, WhyNamesTheMissingMemory) {
  TestCluster cluster;
  cluster.AddNode("a", 8, {64, 256 * kGiB});
  cluster.AddNode("b", 8, {32, 192 * kGiB});
  cluster.RunJob(cluster.Submit(HostSpec("x", 1, 2, {0, 100 * kGiB})));
  cluster.RunJob(cluster.Submit(HostSpec("y", 1, 2, {1, 50 * kGiB})));
  const int64_t job = cluster.Submit(HostSpec("job", 1, 2, {1, 60 * kGiB}));
  cluster.Settle();
  const std::string why = WhyPending(cluster.View(), cluster.state.jobs.at(job)).message();
  EXPECT_THAT(why, HasSubstr("needs 1 node with 2 cpu slots, and 1 CPU and 60 GiB of memory per "
                             "rank; none of 2 nodes has enough available slots, CPUs and memory"));
  EXPECT_THAT(why,
              HasSubstr("all ranks of a node request 2 CPUs and 120 GiB of memory, and the most "
                        "that nodes with enough free slots have unrequested is 64 CPUs on a "
                        "and 92 GiB of memory on b"));
}

TEST(HostRequestsTest, APlanCountsMemory) {
  TestCluster cluster;
  cluster.AddNode("a", 8, {64, 256 * kGiB});
  cluster.RunJob(cluster.Submit(HostSpec("x", 1, 1, {0, 200 * kGiB})));
  const auto plan = PreviewJob(cluster.View(), HostSpec("job", 1, 1, {0, 57 * kGiB}));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(plan->pending().code(), v1::PENDING_CODE_RESOURCES);
  EXPECT_EQ(PreviewJob(cluster.View(), HostSpec("job", 1, 1, {0, 56 * kGiB}))->pending().code(),
            v1::PENDING_CODE_NOT_PENDING);
}

TEST(HostRequestsTest, OpenNodesCountTheJobsOwnMemory) {
  TestCluster cluster;
  cluster.AddNode("a", 2, {64, 100 * kGiB});
  cluster.AddNode("b", 2, {64, 100 * kGiB});
  cluster.AddNode("c", 2, {64, 100 * kGiB});
  const int64_t job = cluster.Submit(HostSpec("job", 1, 1, {0, 60 * kGiB}));
  cluster.RunJob(job);
  cluster.RunJob(cluster.Submit(HostSpec("other", 1, 1, {0, 50 * kGiB})));
  EXPECT_EQ(CountOpenNodesFor(cluster.state, {}, cluster.state.jobs.at(job), 1), 2) << "a and c";
}

TEST(HostRequestsTest, OldSnapshotsHaveNoRequests) {
  TestCluster cluster;
  cluster.AddNode("a", 2, {64, 100 * kGiB});
  cluster.RunJob(cluster.Submit(HostSpec("job", 1, 1, {0, 60 * kGiB})));
  v1::Snapshot snapshot = ToSnapshot(cluster.state, 1);
  EXPECT_EQ(FromSnapshot(snapshot).nodes.at("a").free_host, (HostAmount{64, 40 * kGiB}));
  for (v1::SlotUse& use : *snapshot.mutable_nodes(0)->mutable_node()->mutable_slot_uses()) {
    use.clear_requested_memory_bytes();
  }
  EXPECT_EQ(FromSnapshot(snapshot).nodes.at("a").free_host, (HostAmount{64, 100 * kGiB}));
}

// A head that waits for memory.
class MemoryHeadTest : public ::testing::Test {
 protected:
  MemoryHeadTest() {
    cluster_.AddNode("a", 8, {64, 100 * kGiB});
    holder_ = cluster_.Submit(HostSpec("holder", 1, 1, {0, 60 * kGiB}, 1000));
    cluster_.RunJob(holder_);
    head_ = cluster_.Submit(HostSpec("head", 1, 2, {0, 40 * kGiB}));
    cluster_.Settle();
  }

  Timestamp Promised() const {
    const Schedule schedule = cluster_.View().schedule;
    const QueueHead* head = schedule.AsHead(head_);
    return head == nullptr ? 0 : head->promised;
  }

  v1::JobState StateAfter(const v1::JobSpec& spec) {
    const int64_t job = cluster_.Submit(spec);
    cluster_.Settle();
    return cluster_.StateOf(job);
  }

  TestCluster cluster_;
  int64_t holder_ = 0;
  int64_t head_ = 0;
};

TEST_F(MemoryHeadTest, ThePromiseIsTheEndOfTheJobThatHoldsTheMemory) {
  const Timestamp end =
      ExpectedEndsOf(cluster_.state, cluster_.observations, cluster_.now)(holder_);
  EXPECT_EQ(Promised(), end);
  EXPECT_GT(end, cluster_.now);
}

TEST_F(MemoryHeadTest, AJobThatWouldTakeTheMemoryDoesNotStart) {
  EXPECT_EQ(StateAfter(HostSpec("large", 1, 1, {0, 30 * kGiB})), v1::JOB_STATE_QUEUED)
      << "20 GiB are left beside the head";
  EXPECT_EQ(StateAfter(HostSpec("short", 1, 1, {0, 40 * kGiB}, 100)), v1::JOB_STATE_STARTING);
}

TEST_F(MemoryHeadTest, LaterPassesKeepThePromise) {
  const Timestamp first = Promised();
  for (int i = 0; i < 6; ++i) {
    StateAfter(HostSpec("job-" + std::to_string(i), 1, 1, {0, (i % 3) * 10 * kGiB}, i * 400));
    EXPECT_LE(Promised(), first) << i;
  }
}

// 50 GiB are left for the head and others, of which the head needs 40 GiB.
TEST(HostRequestsTest, AJobOfOneSlotCanDelayTheHeadByItsMemory) {
  TestCluster cluster;
  cluster.AddNode("a", 8, {64, 100 * kGiB});
  cluster.RunJob(cluster.Submit(HostSpec("stays", 1, 1, {0, 50 * kGiB})));
  cluster.RunJob(cluster.Submit(HostSpec("ends", 1, 1, {0, 30 * kGiB}, 1000)));
  cluster.Submit(HostSpec("head", 1, 4, {0, 10 * kGiB}));
  const int64_t large = cluster.Submit(HostSpec("large", 1, 1, {0, 20 * kGiB}));
  const int64_t small = cluster.Submit(HostSpec("small", 1, 1, {0, 10 * kGiB}));
  cluster.Settle();
  EXPECT_EQ(cluster.StateOf(large), v1::JOB_STATE_QUEUED);
  EXPECT_EQ(cluster.StateOf(small), v1::JOB_STATE_STARTING);
}

// A job that starts before the head in the same pass takes a slot of the node and none of the
// memory for which the head waits.
TEST(HostRequestsTest, AJobPlacedBeforeTheHeadTakesOnlyWhatItRequests) {
  TestCluster cluster;
  cluster.AddNode("a", 4, {64, 100 * kGiB});
  const int64_t holder = cluster.Submit(HostSpec("holder", 1, 1, {0, 60 * kGiB}, 1000));
  cluster.RunJob(holder);
  const int64_t head = cluster.Submit(HostSpec("head", 1, 1, {0, 60 * kGiB}));
  v1::JobSpec first = HostSpec("first", 1, 1, {0, 10 * kGiB}, 5000);
  first.set_priority(1);
  const int64_t before = cluster.Submit(first);
  const int64_t later = cluster.Submit(HostSpec("later", 1, 1, {0, 30 * kGiB}, 3000));
  const Schedule schedule = cluster.View().schedule;
  ASSERT_NE(schedule.AsHead(head), nullptr);
  EXPECT_EQ(schedule.AsHead(head)->promised,
            ExpectedEndsOf(cluster.state, cluster.observations, cluster.now)(holder));
  cluster.Settle();
  EXPECT_EQ(cluster.StateOf(before), v1::JOB_STATE_STARTING);
  EXPECT_EQ(cluster.StateOf(later), v1::JOB_STATE_QUEUED) << "it ends after the holder";
  EXPECT_EQ(cluster.StateOf(cluster.Submit(HostSpec("short", 1, 1, {0, 30 * kGiB}, 500))),
            v1::JOB_STATE_QUEUED);
}

TEST(HostRequestsTest, ANodeThatReturnsWithLessMemoryIsReplaced) {
  TestCluster cluster;
  cluster.AddNode("a", 2, {8, 100 * kGiB});
  const int64_t job = cluster.Submit(HostSpec("job", 1, 1, {0, 60 * kGiB}));
  cluster.RunJob(job);
  cluster.AddNode("b", 4, {8, 100 * kGiB});
  cluster.ExitAll(job, 1);
  cluster.ClearAll(job);
  v1::Hello hello = cluster.HelloOf("a");
  hello.mutable_inventory()->set_memory_bytes(50 * kGiB);
  cluster.Do(AttachWorker{hello});
  EXPECT_EQ(FreeOn(cluster, "a").memory_bytes, -10 * kGiB);
  cluster.Pass(60'000);
  EXPECT_EQ(cluster.Placement(job), "b:0");
}

TEST(HostPreemptionTest, OnlyJobsThatHoldTheMissingMemoryYield) {
  TestCluster cluster;
  cluster.AddNode("a", 8, {64, 100 * kGiB});
  const auto run = [&](const std::string& name, int64_t gib) {
    v1::JobSpec spec = SparesSpec(name, 1, 1, 0);
    if (gib > 0) spec.mutable_resources()->set_memory_per_rank(gib * kGiB);
    const int64_t job = cluster.Submit(spec);
    cluster.RunJob(job);
    return job;
  };
  run("none", 0);
  run("some", 20);
  const int64_t most = run("most", 50);
  v1::JobSpec spec = HostSpec("head", 1, 1, {0, 70 * kGiB});
  spec.set_priority(1);
  const int64_t head = cluster.Submit(spec);
  cluster.now += PreemptionLimits().run_ms;
  const auto victims = [&](int64_t job) {
    const PlacementPass pass(cluster.state, {});
    const JobEntry& entry = cluster.state.jobs.at(job);
    const auto ends = ExpectedEndsOf(cluster.state, cluster.observations, cluster.now);
    return JobsToPreempt(cluster.state, entry,
                         ReleasesForHead(cluster.state, pass, entry, ends, cluster.now),
                         PreemptionLimits(), cluster.now)
        .job_ids;
  };
  EXPECT_THAT(victims(head), ElementsAre(most));
  spec = HostSpec("equal", 1, 1, {0, 70 * kGiB});
  EXPECT_THAT(victims(cluster.Submit(spec)), IsEmpty());
}

// Random jobs come and go. No node ever has less than its ranks request, and the requests that the
// state counts are those of the jobs.
TEST(HostRequestsRandomTest, NoNodeIsOversubscribed) {
  std::mt19937 random(1);
  const auto draw = [&](int from, int to) {
    return std::uniform_int_distribution<int>(from, to)(random);
  };
  TestCluster cluster;
  for (const char* id : {"a", "b", "c"}) cluster.AddNode(id, 8, {32, 128 * kGiB});
  int64_t placed = 0;
  for (int i = 0; i < 300; ++i) {
    const HostAmount host{draw(0, 2) * draw(0, 5), draw(0, 2) * draw(0, 21) * kGiB};
    v1::JobSpec spec = HostSpec("job-" + std::to_string(i), draw(1, 3), draw(1, 3), host);
    if (draw(0, 1) == 0) spec.mutable_time_limit()->set_seconds(draw(1, 5) * 100);
    cluster.Submit(spec);
    cluster.Settle();
    const std::set<int64_t> live = cluster.state.live_jobs;
    for (const int64_t job : live) {
      if (draw(0, 3) > 0) continue;
      cluster.StartAll(job);
      cluster.ExitAll(job, 0);
      cluster.ClearAll(job);
      ++placed;
    }
    for (const auto& [id, entry] : cluster.state.nodes) {
      HostAmount requested;
      for (const v1::SlotUse& use : entry.node.slot_uses()) {
        if (use.job_id() == 0) continue;
        const v1::ResourcesSpec& resources = cluster.Job(use.job_id()).spec().resources();
        requested = requested + HostAmount{resources.cpus_per_rank(), resources.memory_per_rank()};
      }
      ASSERT_EQ(HostOf(entry.node) - requested, entry.free_host);
      ASSERT_GE(entry.free_host.cpus, 0);
      ASSERT_GE(entry.free_host.memory_bytes, 0);
    }
  }
  EXPECT_GT(placed, 150);
}

}  // namespace
}  // namespace trainyard::controller
