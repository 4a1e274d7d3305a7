#include "controller/core/apply/time_shift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "controller/core/apply/apply.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/ledger/ledger.h"
#include "controller/core/observations/observe.h"
#include "controller/core/observations/observe_telemetry.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr int64_t kShiftDay = 86'400'000;

// Collects the fields of all message types that can occur in a snapshot.
void AddFieldsOf(const Descriptor& type, std::set<const Descriptor*>& seen,
                 std::vector<const FieldDescriptor*>& fields) {
  if (!seen.insert(&type).second) return;
  for (int i = 0; i < type.field_count(); ++i) {
    fields.push_back(type.field(i));
    if (type.field(i)->message_type() != nullptr) {
      AddFieldsOf(*type.field(i)->message_type(), seen, fields);
    }
  }
}

TEST(TimeShiftTest, EveryTimeOfASnapshotIsListed) {
  std::set<const Descriptor*> seen;
  std::vector<const FieldDescriptor*> fields;
  AddFieldsOf(*v1::Snapshot::descriptor(), seen, fields);
  int moments = 0;
  for (const FieldDescriptor* field : fields) {
    const std::string name(field->name());
    if (!name.ends_with("_ms")) continue;
    EXPECT_NE(TimeFieldOf(*field), TimeField::kNone)
        << field->full_name() << " is missing in time_shift.cpp";
    moments += TimeFieldOf(*field) == TimeField::kMoment;
  }
  EXPECT_GT(moments, 20);
}

class ClockSetTest : public testing::Test {
 protected:
  ClockSetTest() { cluster_.now = cluster_.observations.since_ms = 1'700'000'000'000; }

  // Builds a state with as many time fields set as possible. Returns the id of its job.
  int64_t Fill() {
    cluster_.AddNode("a", 1);
    cluster_.AddNode("b", 1);
    v1::JobSpec spec = TestSpec("job", 2, 1);
    spec.mutable_restart()->mutable_backoff()->set_seconds(5);
    const int64_t job = cluster_.Submit(spec);
    cluster_.Pass(2000);
    cluster_.RunJob(job);
    cluster_.Pass(4000);
    cluster_.ExitAll(job, 1);
    cluster_.Pass(1000);
    cluster_.ClearAll(job);
    const int64_t ended = cluster_.Submit("ended", 1, 1);
    cluster_.Stop(ended);
    cluster_.Settle();
    ReportLostEvents loss;
    loss.mark.set_sequence(1000);
    loss.mark.set_term(7);
    loss.seen_by = "node a";
    cluster_.Do(loss);
    return job;
  }

  TestCluster cluster_;
};

TEST_F(ClockSetTest, MovesEachMomentOfTheStateByTheStep) {
  Fill();
  v1::Snapshot moved = ToSnapshot(cluster_.state, 1);
  ShiftTimes(-kShiftDay, moved);
  cluster_.StepClock(-kShiftDay);
  v1::Snapshot state = ToSnapshot(cluster_.state, 1);
  EXPECT_LT(state.capacity().until_ms(), moved.capacity().until_ms()) << "moved beside the list";
  for (v1::Snapshot* snapshot : {&moved, &state}) {
    snapshot->clear_capacity();
    snapshot->clear_clock();
  }
  EXPECT_EQ(state.DebugString(), moved.DebugString());
  ClusterState copy = FromSnapshot(ToSnapshot(cluster_.state, 1));
  EXPECT_EQ(DifferentIndexes(copy, cluster_.state), "");
}

TEST_F(ClockSetTest, AStepOfOneMillisecondCounts) {
  const int64_t job = Fill();
  const Timestamp submitted = cluster_.Job(job).submitted_time_ms();
  cluster_.StepClock(1);
  EXPECT_EQ(cluster_.Job(job).submitted_time_ms(), submitted + 1);
}

TEST_F(ClockSetTest, ALedgerIsThatOfSteadyTime) {
  const int64_t job = Fill();
  const v1::Ledger before = LedgerOf(cluster_.Job(job), cluster_.now);
  for (const int64_t step : {kShiftDay, -3 * kShiftDay}) {
    cluster_.StepClock(step);
    const v1::Ledger after = LedgerOf(cluster_.Job(job), cluster_.now);
    EXPECT_EQ(after.wall_seconds(), before.wall_seconds());
    ASSERT_EQ(after.phases_size(), before.phases_size());
    for (int i = 0; i < after.phases_size(); ++i) {
      EXPECT_EQ(after.phases(i).DebugString(), before.phases(i).DebugString());
    }
  }
  cluster_.Pass(3000);
  EXPECT_EQ(LedgerOf(cluster_.Job(job), cluster_.now).wall_seconds(), before.wall_seconds() + 3);
}

TEST_F(ClockSetTest, AnExitThatANodeWithAJumpedClockReportsIsNotADayEarly) {
  const int64_t job = Fill();
  cluster_.Pass(10'000);
  cluster_.RunJob(job);
  // The exit time was read before the node's clock jumped a day ahead. The newest message was sent
  // after the jump.
  ReceiveFact fact{"a", {}, kShiftDay, cluster_.now - 500};
  fact.fact.set_sequence(cluster_.state.nodes.at("a").fact_sequence + 1);
  v1::RankExited& exited = *fact.fact.mutable_rank_exited();
  exited.set_job_id(job);
  exited.set_attempt(cluster_.Attempt(job).number());
  exited.set_exit_code(1);
  exited.set_time_ms(cluster_.now - 400);
  const std::vector<v1::Event> events = cluster_.Do(fact);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events[0].rank_exited().corrected_ms(), cluster_.now - 500 - kClockWindowMs);
}

TEST_F(ClockSetTest, AJumpOfANodesClockMakesNoPhaseOfItsRanksLong) {
  cluster_.AddNode("a", 1);
  const int64_t job = cluster_.Submit("job", 1, 1);
  cluster_.RunJob(job);
  const auto report = [&](const char* phase, int64_t ahead_ms) {
    v1::Heartbeat heartbeat;
    heartbeat.set_time_ms(cluster_.now + ahead_ms);
    ObserveHeartbeat("a", heartbeat, cluster_.now, cluster_.state, cluster_.observations);
    v1::TelemetryBatch batch;
    batch.mutable_stream()->set_job_id(job);
    batch.mutable_stream()->set_attempt(1);
    v1::TelemetryRecord& record = *batch.add_records();
    record.set_time_ms(cluster_.now + ahead_ms);
    record.mutable_phase()->set_phase(phase);
    ObserveTelemetry(batch, cluster_.state, cluster_.observations);
  };
  report("checkpoint", 300'000);
  cluster_.now += 2000;
  report("train", 300'000 + kShiftDay);
  EXPECT_EQ(LongestPhaseMs(cluster_.observations, job, "checkpoint"), 2000);
  cluster_.now += 1000;
  report("eval", kShiftDay);
  cluster_.now += 500;
  cluster_.StepClock(-kShiftDay);
  report("train", 2 * kShiftDay);
  EXPECT_LE(LongestPhaseMs(cluster_.observations, job, "eval").value_or(0), 501'500);
}

TEST_F(ClockSetTest, TheNewestEventIsRemembered) {
  cluster_.AddNode("a", 1);
  EXPECT_EQ(cluster_.state.clock.newest_ms(), cluster_.now);
  cluster_.StepClock(-kShiftDay);
  EXPECT_EQ(cluster_.state.clock.newest_ms(), cluster_.now);
  EXPECT_EQ(cluster_.state.clock.boot_time_ms(), -kShiftDay);
  EXPECT_EQ(Bytes(FromSnapshot(ToSnapshot(cluster_.state, 1))), Bytes(cluster_.state));
}

TEST_F(ClockSetTest, TimesInTheFirstFieldOfAMessageMove) {
  Fill();
  ASSERT_FALSE(cluster_.state.losses.empty());
  const Timestamp before = cluster_.state.losses.front().time_ms();
  ASSERT_GT(before, 0);
  cluster_.StepClock(5000);
  EXPECT_EQ(cluster_.state.losses.front().time_ms(), before + 5000);
}

// Jobs, attempts and heals contain verdicts. The times of verdicts must be shifted in all three.
TEST(TimeShiftTest, TimesMoveWhereverAMessageOccurs) {
  v1::Snapshot snapshot;
  v1::Job& job = *snapshot.add_jobs();
  v1::Attempt& attempt = *job.add_attempts();
  v1::Heal& heal = *attempt.add_heals();
  for (v1::Verdict* verdict :
       {job.mutable_verdict(), attempt.mutable_verdict(), heal.mutable_verdict()}) {
    verdict->set_time_ms(1000);
  }
  snapshot.add_nodes()->mutable_node()->set_joined_time_ms(2000);
  snapshot.add_removed_nodes()->mutable_node()->set_joined_time_ms(3000);
  ShiftTimes(50, snapshot);
  EXPECT_EQ(job.verdict().time_ms(), 1050);
  EXPECT_EQ(attempt.verdict().time_ms(), 1050);
  EXPECT_EQ(heal.verdict().time_ms(), 1050);
  EXPECT_EQ(snapshot.nodes(0).node().joined_time_ms(), 2050);
  EXPECT_EQ(snapshot.removed_nodes(0).node().joined_time_ms(), 3050);
}

TEST_F(ClockSetTest, CorrectedTimesOfExitsMoveAndThoseOfNodesStay) {
  ClusterState& state = cluster_.state;
  v1::RankExited& exited = state.jobs[1].exited_ranks[0];
  exited.set_time_ms(7000);
  exited.set_corrected_ms(8000);
  cluster_.StepClock(50);
  EXPECT_EQ(exited.corrected_ms(), 8050);
  EXPECT_EQ(exited.time_ms(), 7000);
}

TEST_F(ClockSetTest, TheClockKeepsBootAndDoubt) {
  v1::ClockSet set;
  set.set_boot_id("boot");
  set.set_boot_time_ms(77);
  set.set_doubt("the clock went back");
  TakeClockSet(set, cluster_.state);
  EXPECT_EQ(cluster_.state.clock.boot_id(), "boot");
  EXPECT_EQ(cluster_.state.clock.boot_time_ms(), 77);
  EXPECT_EQ(cluster_.state.clock.doubt(), "the clock went back");
}

}  // namespace
}  // namespace trainyard::controller
