// Tests which evidence counts towards a quarantine, and that no evidence counts twice.
#include "controller/core/health/quarantine.h"

#include <string>
#include <utility>
#include <vector>

#include "controller/core/state/nodes/evidence_list.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/controller/core/health/quarantine_fixture.h"

namespace trainyard::controller {
namespace {

class QuarantineEvidenceTest : public QuarantineTest {
 protected:
  void AddEvidenceTo(const std::string& node_id, v1::NodeFault fault, int64_t job_id,
                     Timestamp time_ms) {
    v1::NodeEvidence evidence;
    evidence.set_fault(fault);
    evidence.set_job_id(job_id);
    evidence.set_time_ms(time_ms);
    AddEvidence(evidence, cluster_.state.nodes.at(node_id).node);
  }
  // Returns the events that follow a failure of job 7 on node a. The job's gang of two ranks was
  // placed at `placed_ms`.
  std::vector<v1::Event> Blame(v1::VerdictCause cause, Timestamp placed_ms) {
    v1::Job job;
    job.set_id(7);
    v1::Attempt attempt;
    attempt.set_placed_time_ms(placed_ms);
    for (const char* id : {"a", "b"}) attempt.add_ranks()->set_node_id(id);
    v1::Verdict verdict;
    verdict.set_cause(cause);
    verdict.set_node_id("a");
    verdict.add_ranks(0);
    if (cause == v1::VERDICT_CAUSE_RANK_EXITED) verdict.set_log_tail(kEccOutput);
    return BlameFor(verdict, job, attempt, cluster_.state, cluster_.options, cluster_.now);
  }
  // Node `a` reports an error of a device that recovers. `node_ms` is the time of the report by the
  // node's clock; 0 if the report has no time.
  void ReportError(Timestamp time_ms, Timestamp node_ms, const std::string& device = "") {
    v1::Heartbeat heartbeat;
    v1::DeviceError& error = *heartbeat.mutable_condition()->add_device_errors();
    error.set_time_ms(time_ms);
    error.set_xid(94);
    error.set_device(device);
    heartbeat.set_time_ms(node_ms);
    ObserveHeartbeat("a", heartbeat, cluster_.now, cluster_.state, cluster_.observations);
  }
};

// A bug in a job's program can make the job hang. It can also make the job's final output look like
// a device error. Hangs and final output of one job therefore count as one piece of evidence. The
// loss of a node always counts as a further piece, because a bug cannot cause the loss of a node.
TEST_F(QuarantineEvidenceTest, OutputAndHangsOfOneJobCountOnce) {
  struct Case {
    v1::NodeFault fault;
    v1::VerdictCause cause;
    int64_t earlier_job;
    bool is_quarantined;
  };
  for (const Case& one : {
           Case{v1::NODE_FAULT_STALLED, v1::VERDICT_CAUSE_STALLED, 7, false},
           Case{v1::NODE_FAULT_STALLED, v1::VERDICT_CAUSE_STALLED, 6, true},
           Case{v1::NODE_FAULT_DEVICE, v1::VERDICT_CAUSE_RANK_EXITED, 7, false},
           Case{v1::NODE_FAULT_DEVICE, v1::VERDICT_CAUSE_RANK_EXITED, 6, true},
           Case{v1::NODE_FAULT_LOST, v1::VERDICT_CAUSE_NODE_LOST, 7, true},
       }) {
    cluster_.state.nodes.at("a").node.clear_evidence();
    AddEvidenceTo("a", one.fault, one.earlier_job, cluster_.now - 1000);
    const std::vector<v1::Event> events = Blame(one.cause, cluster_.now);
    ASSERT_FALSE(events.empty());
    EXPECT_EQ(events[0].node_blamed().evidence().fault(), one.fault);
    EXPECT_EQ(events.size() == 2, one.is_quarantined)
        << one.fault << " of jobs " << one.earlier_job << " and 7";
  }
}

TEST_F(QuarantineEvidenceTest, EvidenceOfThisMomentIsKnown) {
  AddEvidenceTo("a", v1::NODE_FAULT_LOST, 6, cluster_.now);
  EXPECT_TRUE(Blame(v1::VERDICT_CAUSE_NODE_LOST, cluster_.now).empty());
  EXPECT_FALSE(Blame(v1::VERDICT_CAUSE_NODE_LOST, cluster_.now + 1).empty());
}

TEST_F(QuarantineEvidenceTest, AnErrorHasTheTimeOfTheControllersClockIfTheOffsetIsKnown) {
  ReportError(cluster_.now - 5000, 0);
  cluster_.Settle();
  ASSERT_EQ(Node("a").evidence_size(), 1);
  EXPECT_EQ(Node("a").evidence(0).time_ms(), cluster_.now - 5000) << "an older release";
  cluster_.now += 100'000;
  ReportError(cluster_.now + 300'000 - 7000, cluster_.now + 300'000);
  cluster_.Settle();
  ASSERT_EQ(Node("a").evidence_size(), 2);
  EXPECT_EQ(Node("a").evidence(1).time_ms(), cluster_.now - 7000);
}

TEST_F(QuarantineEvidenceTest, AnErrorWithinAMinuteIsARepetition) {
  const Timestamp first_ms = cluster_.now;
  for (const auto& [age_ms, known] :
       {std::pair(0, 1), std::pair(60'000, 1), std::pair(60'001, 2)}) {
    cluster_.now = first_ms + age_ms;
    ReportError(cluster_.now, cluster_.now);
    cluster_.Settle();
    EXPECT_EQ(Node("a").evidence_size(), known) << age_ms;
  }
}

TEST_F(QuarantineEvidenceTest, AnErrorCountsFromOneMillisecondAfterARelease) {
  cluster_.state.nodes.at("a").node.set_released_time_ms(cluster_.now);
  ReportError(cluster_.now, cluster_.now);
  cluster_.Settle();
  EXPECT_EQ(Node("a").evidence_size(), 0);
  ++cluster_.now;
  ReportError(cluster_.now, cluster_.now);
  cluster_.Settle();
  EXPECT_EQ(Node("a").evidence_size(), 1);
}

TEST_F(QuarantineEvidenceTest, TheEventNamesTheDeviceAndTheError) {
  ReportError(cluster_.now, cluster_.now, std::string(33, 'x'));
  v1::Event expected;
  expected.set_time_ms(cluster_.now);
  expected.set_actor("controller");
  expected.mutable_node_blamed()->set_node_id("a");
  v1::NodeEvidence& evidence = *expected.mutable_node_blamed()->mutable_evidence();
  evidence.set_time_ms(cluster_.now);
  evidence.set_fault(v1::NODE_FAULT_DEVICE);
  evidence.set_xid(94);
  evidence.set_reason("device " + std::string(32, 'x') +
                      ": Xid 94 (contained ECC error) in the kernel log");
  const std::vector<v1::Event> events =
      QuarantineEventsDue(cluster_.state, cluster_.observations, cluster_.options, cluster_.now);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].DebugString(), expected.DebugString());
}

TEST_F(QuarantineEvidenceTest, OnlyAFatalErrorKeepsANodeWhoseChecksPassInQuarantine) {
  ReportDeviceError("a", 79, cluster_.now);
  ASSERT_TRUE(IsQuarantined("a"));
  cluster_.now += cluster_.options.quarantine_ms;
  v1::Heartbeat heartbeat;
  heartbeat.set_time_ms(cluster_.now);
  heartbeat.add_checks()->set_ok(true);
  for (const int xid : {94, 31, 999}) {
    heartbeat.mutable_condition()->add_device_errors()->set_xid(xid);
  }
  ObserveHeartbeat("a", heartbeat, cluster_.now, cluster_.state, cluster_.observations);
  cluster_.Settle();
  EXPECT_FALSE(IsQuarantined("a"));
}

TEST_F(QuarantineEvidenceTest, EvidenceOfThisMomentCountsInFullForTheScore) {
  AddEvidenceTo("a", v1::NODE_FAULT_LOST, 6, cluster_.now);
  EXPECT_EQ(ScoreOf(Node("a"), cluster_.now), 75);
  // The score starts at 100. The new evidence subtracts 25. The older evidence, which is just under
  // a day old, subtracts a little more than 12.5.
  AddEvidenceTo("a", v1::NODE_FAULT_LOST, 6, cluster_.now - 86'400'000 + 1);
  EXPECT_EQ(ScoreOf(Node("a"), cluster_.now), 62);
}

}  // namespace
}  // namespace trainyard::controller
