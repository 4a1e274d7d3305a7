// Tests release from quarantine, by passed checks and by users.
#include "controller/core/health/quarantine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/health/node_health.h"
#include "controller/core/state/nodes/evidence_list.h"
#include "proto/contract/exit_code.h"
#include "tests/controller/core/health/quarantine_fixture.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;
using QuarantineReleaseTest = QuarantineTest;

TEST_F(QuarantineReleaseTest, ADeviceWhoseFatalErrorIsToldIsNotReleasedByChecks) {
  ReportDeviceError("a", 79, cluster_.now);
  cluster_.now += cluster_.options.quarantine_ms;
  v1::Heartbeat heartbeat;
  heartbeat.set_time_ms(cluster_.now);
  heartbeat.add_checks()->set_ok(true);
  heartbeat.mutable_condition()->add_device_errors()->set_xid(79);
  ObserveHeartbeat("a", heartbeat, cluster_.now, cluster_.state, cluster_.observations);
  cluster_.Settle();
  EXPECT_TRUE(IsQuarantined("a"));
  ReportChecks("a", true);
  EXPECT_FALSE(IsQuarantined("a")) << "its worker has begun anew and tells of none";
}

TEST_F(QuarantineReleaseTest, ChecksThatPassReleaseTheNodeOnceItsTimeIsOver) {
  ReportDeviceError("a", 79, cluster_.now);
  ASSERT_TRUE(IsQuarantined("a"));
  ReportChecks("a", true);
  EXPECT_TRUE(IsQuarantined("a")) << "too early";
  cluster_.now += cluster_.options.quarantine_ms;
  ReportChecks("a", false);
  EXPECT_TRUE(IsQuarantined("a")) << "a check fails";
  ReportChecks("a", true);
  EXPECT_FALSE(IsQuarantined("a"));
  EXPECT_TRUE(IsHealthy(Node("a")));
  EXPECT_EQ(Node("a").released_time_ms(), cluster_.now);
  EXPECT_LT(ScoreOf(Node("a"), cluster_.now), 100) << "its past still counts for the score";
}

TEST_F(QuarantineReleaseTest, ChecksThatPassReleaseNoNodeOutsideOfQuarantine) {
  ReportDeviceError("a", 94, cluster_.now);
  v1::Attempt attempt;
  attempt.set_placed_time_ms(cluster_.now);
  const auto failed = FailedStart(cluster_.state.nodes.at("a"), attempt, "disk full", cluster_.now);
  Apply(*failed, cluster_.state);
  ReportChecks("a", true);
  EXPECT_EQ(Node("a").released_time_ms(), 0);
  EXPECT_EQ(Node("a").health().failed_starts(), 1);
}

TEST_F(QuarantineReleaseTest, AUserReleasesTheNodeAndItsEvidenceCountsNoMore) {
  ReportDeviceError("a", 94, cluster_.now);
  cluster_.Pass(120'000);
  ReportDeviceError("a", 94, cluster_.now);
  ASSERT_TRUE(IsQuarantined("a"));
  v1::ReleaseNodeRequest request;
  request.set_node("a");
  const std::vector<v1::Event> events = cluster_.Do(ReleaseNode{request, {"ann"}});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].actor(), "user ann");
  EXPECT_TRUE(IsHealthy(Node("a")));
  EXPECT_TRUE(cluster_.Do(ReleaseNode{request}).empty()) << "repeating it changes nothing";
  cluster_.Pass(120'000);
  ReportDeviceError("a", 94, cluster_.now);
  EXPECT_FALSE(IsQuarantined("a")) << "the first failure since the release";
  request.set_node("none");
  EXPECT_EQ(cluster_.Try(ReleaseNode{request}).code(), absl::StatusCode::kNotFound);
}

TEST_F(QuarantineReleaseTest, ReleaseEndsTheWaitAfterFailedStartsToo) {
  ReportDeviceError("a", 79, cluster_.now);
  v1::Attempt attempt;
  attempt.set_placed_time_ms(cluster_.now);
  const auto failed = FailedStart(cluster_.state.nodes.at("a"), attempt, "disk full", cluster_.now);
  EXPECT_TRUE(failed->node_unhealthy().health().has_quarantine()) << "the quarantine stays";
  v1::Node node = Node("a");
  *node.mutable_health() = failed->node_unhealthy().health();
  EXPECT_TRUE(WithoutFailedStarts(node, cluster_.now).has_node_unhealthy());
  EndQuarantine(cluster_.now, node);
  EXPECT_TRUE(WithoutFailedStarts(node, cluster_.now).has_node_healthy());
}

TEST_F(QuarantineReleaseTest, AReleaseDropsEvidenceUpToItsOwnTime) {
  v1::Node node;
  v1::NodeEvidence evidence;
  evidence.set_time_ms(cluster_.now);
  AddEvidence(evidence, node);
  ASSERT_TRUE(Release(node, "checked", cluster_.now).has_value());
  EXPECT_EQ(Release(node, "checked", cluster_.now)->node_released().reason(), "checked");
  node.set_released_time_ms(cluster_.now);
  EXPECT_FALSE(Release(node, "checked", cluster_.now).has_value());
}

TEST_F(QuarantineReleaseTest, ChecksBeforeTheQuarantineDoNotEndItAtOnce) {
  cluster_.options.quarantine_ms = 0;
  ReportDeviceError("a", 94, cluster_.now);
  ReportChecks("a", true);
  cluster_.Pass(120'000);
  ReportDeviceError("a", 94, cluster_.now);
  ASSERT_EQ(Node("a").health().quarantine().since_ms(), cluster_.now);
  EXPECT_TRUE(IsQuarantined("a")) << "they passed two minutes ago";
  ReportChecks("a", true);
  EXPECT_FALSE(IsQuarantined("a"));
}

TEST_F(QuarantineReleaseTest, AfterTheClockWasSetBackNewChecksCountAtOnce) {
  ReportDeviceError("a", 79, cluster_.now);
  cluster_.now -= 1;
  ReportChecks("a", true);
  EXPECT_FALSE(IsQuarantined("a"));
}

TEST_F(QuarantineReleaseTest, ChecksCountFromTheEndOfTheQuarantinesTimeOn) {
  ReportDeviceError("a", 79, cluster_.now);
  cluster_.now += cluster_.options.quarantine_ms - 1;
  ReportChecks("a", true);
  EXPECT_TRUE(IsQuarantined("a"));
  cluster_.now += 1;
  cluster_.Settle();
  EXPECT_TRUE(IsQuarantined("a")) << "these checks are older";
  ReportChecks("a", true);
  EXPECT_FALSE(IsQuarantined("a"));
}

TEST_F(QuarantineReleaseTest, ANodeInTroubleOrWithoutAStreamIsNotReleased) {
  ReportDeviceError("a", 79, cluster_.now);
  cluster_.now += cluster_.options.quarantine_ms;
  v1::Heartbeat heartbeat;
  heartbeat.set_time_ms(cluster_.now);
  heartbeat.add_checks()->set_ok(true);
  heartbeat.mutable_condition()->set_trouble("its disk is full");
  ObserveHeartbeat("a", heartbeat, cluster_.now, cluster_.state, cluster_.observations);
  cluster_.Settle();
  EXPECT_TRUE(IsQuarantined("a"));
  ObserveDetached("a", cluster_.observations);
  ReportChecks("a", true);
  EXPECT_TRUE(IsQuarantined("a")) << "its stream is closed";
  cluster_.observations.nodes.at("a").attached = true;
  cluster_.Settle();
  EXPECT_FALSE(IsQuarantined("a"));
}

TEST_F(QuarantineReleaseTest, ANodeWithoutChecksIsNotReleased) {
  ReportDeviceError("a", 79, cluster_.now);
  cluster_.now += cluster_.options.quarantine_ms;
  v1::Heartbeat heartbeat;
  heartbeat.set_time_ms(cluster_.now);
  ObserveHeartbeat("a", heartbeat, cluster_.now, cluster_.state, cluster_.observations);
  cluster_.observations.nodes.at("a").checked_ms = cluster_.now;
  cluster_.Settle();
  EXPECT_TRUE(IsQuarantined("a"));
}

TEST_F(QuarantineReleaseTest, AWorkersOwnReasonOutlivesTheQuarantine) {
  v1::Node node;
  v1::NodeHealth& health = *node.mutable_health();
  health.set_reported("its disk is full");
  health.mutable_quarantine()->set_reason("2 failures");
  health.set_reason("2 failures");
  EndQuarantine(cluster_.now, node);
  EXPECT_EQ(node.health().reason(), "its disk is full");
  health.mutable_quarantine()->set_reason("2 failures");
  health.set_reason("could not start");
  health.set_failed_starts(1);
  health.clear_reported();
  EndQuarantine(cluster_.now, node);
  EXPECT_EQ(node.health().reason(), "could not start") << "another reason stays";
  EXPECT_FALSE(node.health().has_quarantine());
}

}  // namespace
}  // namespace trainyard::controller
