// Elastic jobs on a cluster of nodes with one CPU slot each.
#ifndef TRAINYARD_TESTS_CONTROLLER_CORE_ELASTIC_FIXTURE_H_
#define TRAINYARD_TESTS_CONTROLLER_CORE_ELASTIC_FIXTURE_H_

#include <cstdint>
#include <string>

#include "controller/core/state/attempts/gang.h"
#include "gtest/gtest.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {

// With one slot per node, the batch of 24 samples divides among 1, 2, 3, 4, 6 and 8 nodes.
inline v1::JobSpec ElasticSpec(const std::string& name, int min_nodes, int nodes) {
  v1::JobSpec spec = SparesSpec(name, nodes, 1, 0);
  spec.set_min_nodes(min_nodes);
  spec.mutable_train()->set_global_batch(24);
  return spec;
}

class ElasticFixture : public ::testing::Test {
 protected:
  void AddNodes(const std::string& ids) {
    for (const char id : ids) cluster_.AddNode(std::string(1, id), 1);
  }

  int64_t Run(const v1::JobSpec& spec) {
    const int64_t job = cluster_.Submit(spec);
    cluster_.RunJob(job);
    return job;
  }

  int SizeOf(int64_t job) const { return TrainingNodes(cluster_.Attempt(job)); }

  // The nodes send no heartbeats until they are lost. All ranks end.
  void Lose(int64_t job, const std::string& ids) {
    for (const char id : ids) cluster_.StopHeartbeats(std::string(1, id));
    for (const v1::RankPlacement& rank : cluster_.Attempt(job).ranks()) {
      if (ids.find(rank.node_id()) == std::string::npos) cluster_.ExitRank(job, rank.rank(), 69);
    }
    cluster_.Pass(4000);
    for (const std::string& node : GangNodes(cluster_.Attempt(job))) {
      if (ids.find(node) == std::string::npos) cluster_.ClearNode(job, node);
    }
    cluster_.Pass(20'000);
    for (const char id : ids) {
      ASSERT_EQ(cluster_.NodeStateOf(std::string(1, id)), v1::NODE_STATE_LOST) << id;
    }
  }

  void LimitQueue(int max_slots) {
    SetQueue set{.request = {}, .principal = {"ada"}};
    set.request.mutable_queue()->set_name("default");
    v1::SlotQuota& quota = *set.request.mutable_queue()->add_quotas();
    quota.set_device(v1::DEVICE_KIND_CPU);
    quota.set_max_slots(max_slots);
    cluster_.Do(set);
  }

  // All ranks of a yielding job save and exit.
  void ExitYielded(int64_t job) {
    cluster_.ExitAll(job, 143);
    cluster_.ClearAll(job);
  }

  TestCluster cluster_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_CORE_ELASTIC_FIXTURE_H_
