// A cluster of three nodes with one slot each, and helpers that send reports blaming a node.
#ifndef TRAINYARD_TESTS_CONTROLLER_CORE_HEALTH_QUARANTINE_FIXTURE_H_
#define TRAINYARD_TESTS_CONTROLLER_CORE_HEALTH_QUARANTINE_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "controller/core/observations/observe.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {

inline constexpr char kEccOutput[] =
    "step 41\nRuntimeError: CUDA error: uncorrectable ECC error encountered\n";

class QuarantineTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* id : {"a", "b", "c"}) cluster_.AddNode(id, 1);
  }

  // Fails the current attempt of a one-slot job with `log_tail` as its final output, then places
  // the next attempt.
  void Fail(int64_t job_id, const std::string& log_tail, int exit_code = 1) {
    v1::RankExited exited;
    exited.set_rank(0);
    exited.set_exit_code(exit_code);
    exited.set_log_tail(log_tail);
    exited.set_time_ms(cluster_.now);
    cluster_.Exit(job_id, exited);
    cluster_.Settle();
    cluster_.ClearAll(job_id);
    cluster_.Pass(5000);
  }
  int64_t RunOn(const std::string& node_id, const std::string& name) {
    const int64_t job = cluster_.Submit(name, 1, 1);
    cluster_.RunJob(job);
    EXPECT_EQ(cluster_.Placement(job), node_id + ":0");
    return job;
  }
  void ReportDeviceError(const std::string& node_id, int xid, Timestamp time_ms) {
    v1::Heartbeat heartbeat;
    v1::DeviceError& error = *heartbeat.mutable_condition()->add_device_errors();
    error.set_time_ms(time_ms);
    error.set_xid(xid);
    error.set_device("0000:3b:00");
    heartbeat.set_time_ms(cluster_.now);
    ObserveHeartbeat(node_id, heartbeat, cluster_.now, cluster_.state, cluster_.observations);
    cluster_.Settle();
  }
  void ReportChecks(const std::string& node_id, bool ok) {
    v1::Heartbeat heartbeat;
    heartbeat.set_time_ms(cluster_.now);
    heartbeat.add_checks()->set_ok(true);
    heartbeat.add_checks()->set_ok(ok);
    ObserveHeartbeat(node_id, heartbeat, cluster_.now, cluster_.state, cluster_.observations);
    cluster_.Settle();
  }
  const v1::Node& Node(const std::string& id) { return cluster_.state.nodes.at(id).node; }
  bool IsQuarantined(const std::string& id) { return Node(id).health().has_quarantine(); }

  TestCluster cluster_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_CORE_HEALTH_QUARANTINE_FIXTURE_H_
