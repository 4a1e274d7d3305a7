// Data of releases before queues, priorities and fair share opens with its queue in its order.
#include <cstdint>
#include <string>
#include <vector>

#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/schedule/queue_order.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr int kWaiting = 12;

class OlderReleaseTest : public ::testing::Test {
 protected:
  OlderReleaseTest() { cluster_.AddNode("a", 1); }

  std::vector<int64_t> Order() const {
    return JobsInOrder(cluster_.state, v1::DEVICE_KIND_CPU, cluster_.now);
  }

  // Ends the running job, and expects that the jobs run one after another.
  void ExpectStarts(int64_t running, const std::vector<int64_t>& jobs) {
    for (const int64_t next : jobs) {
      cluster_.ExitAll(running, 0);
      cluster_.ClearAll(running);
      cluster_.Settle();
      ASSERT_EQ(cluster_.StateOf(next), v1::JOB_STATE_STARTING) << next;
      cluster_.StartAll(next);
      running = next;
    }
  }

  TestCluster cluster_;
};

// Removes the settings and the usage that an older release does not write.
void RemoveNewFields(v1::Snapshot& snapshot) {
  snapshot.clear_queues();
  snapshot.clear_usages();
  snapshot.clear_topology();
  snapshot.clear_node_reservations();
  snapshot.clear_capacity();
  snapshot.clear_clock();
  for (v1::Job& job : *snapshot.mutable_jobs()) {
    job.clear_queue();
    job.clear_priority();
    job.clear_time_limit_use();
  }
}

TEST_F(OlderReleaseTest, ASnapshotOpensWithItsQueueInItsOrder) {
  const int64_t running = cluster_.Submit("running", 1, 1);
  cluster_.RunJob(running);
  std::vector<int64_t> waiting;
  for (int i = 0; i < kWaiting; ++i) {
    // Names and limits in another order than the numbers.
    v1::JobSpec spec = TestSpec("job-" + std::to_string(kWaiting - i), 1, 1);
    if (i % 3 != 0) spec.mutable_time_limit()->set_seconds(7200 - 60 * i);
    waiting.push_back(cluster_.Submit(spec));
  }
  v1::Snapshot snapshot = ToSnapshot(cluster_.state, 1);
  RemoveNewFields(snapshot);
  cluster_.state = FromSnapshot(snapshot);
  EXPECT_THAT(Order(), ElementsAreArray(waiting));
  ASSERT_NE(cluster_.View().schedule.HeadOf(v1::DEVICE_KIND_CPU), nullptr);
  EXPECT_EQ(cluster_.View().schedule.HeadOf(v1::DEVICE_KIND_CPU)->job_id, waiting.front());
  for (const int64_t id : waiting) EXPECT_EQ(cluster_.Job(id).queue(), "") << "the default queue";
  ExpectStarts(running, waiting);
}

TEST_F(OlderReleaseTest, ALogOpensWithItsQueueInItsOrder) {
  std::vector<int64_t> waiting;
  for (int64_t id = 1; id <= 3; ++id) {
    v1::Event event;
    event.set_time_ms(cluster_.now);
    v1::JobSubmitted& submitted = *event.mutable_job_submitted();
    submitted.set_job_id(id);
    v1::JobSpec& spec = *submitted.mutable_spec();
    spec.set_name("job-" + std::to_string(9 - id));
    spec.add_command("train");
    spec.mutable_resources()->set_nodes(1);
    spec.mutable_resources()->set_slots_per_node(1);
    spec.mutable_resources()->set_device(v1::DEVICE_KIND_CPU);
    Apply(event, cluster_.state);
    waiting.push_back(id);
  }
  EXPECT_THAT(Order(), ElementsAre(1, 2, 3));
  cluster_.RunJob(1);
  ExpectStarts(1, {2, 3});
}

}  // namespace
}  // namespace trainyard::controller
