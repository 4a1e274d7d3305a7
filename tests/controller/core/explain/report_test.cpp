#include "controller/core/explain/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "absl/strings/str_cat.h"
#include "controller/core/event_log/snapshot.h"
#include "controller/core/ledger/ledger.h"
#include "controller/core/state/nodes/capacity.h"
#include "google/protobuf/descriptor.h"
#include "tests/controller/core/explain/report_scenes.h"
#include "tests/controller/core/test_cluster.h"

namespace trainyard::controller {
namespace {

using testing::HasSubstr;

TEST(ReportTest, JobsOfAUserAreSummedUp) {
  Report report(By(v1::REPORT_BY_USER), {}, kMonday + kDay);
  report.Add(JobAt(kMonday, 1, "ann"));
  report.Add(JobAt(kMonday + 5000, 2, "bob"));
  report.Add(JobAt(kMonday + 9000, 3, "ann"));
  const v1::GetReportResponse response = report.Take();
  ASSERT_EQ(response.groups_size(), 2);
  const v1::ReportGroup& ann = response.groups(0);
  EXPECT_EQ(ann.name(), "ann") << "the most slot time comes first";
  EXPECT_EQ(ann.jobs(), 2);
  EXPECT_DOUBLE_EQ(ann.wall_seconds(), 2 * 200);
  EXPECT_DOUBLE_EQ(ann.slot_seconds(), 2 * 4 * 190);
  EXPECT_DOUBLE_EQ(SlotSeconds(ann, v1::LEDGER_PHASE_TRAIN), 2 * 4 * 90);
  EXPECT_DOUBLE_EQ(ann.goodput_ratio(), 90.0 / 190);
  EXPECT_DOUBLE_EQ(response.total().slot_seconds(), 3 * 4 * 190);
  EXPECT_EQ(response.since_ms(), kMonday);
}

TEST(ReportTest, SavingAndWaitingForDataAreEffectiveTimeButNoGoodput) {
  v1::JobTime job;
  *job.add_spans() = Span(v1::LEDGER_PHASE_INIT, kMonday, 1000, 1);
  *job.add_spans() = Span(v1::LEDGER_PHASE_TRAIN, kMonday + 1000, 5000, 1);
  *job.add_spans() = Span(v1::LEDGER_PHASE_CHECKPOINT, kMonday + 6000, 1000, 1);
  *job.add_spans() = Span(v1::LEDGER_PHASE_DATA_STALL, kMonday + 7000, 1000, 1);
  *job.add_spans() = Span(v1::LEDGER_PHASE_RESTART, kMonday + 8000, 2000, 1);
  job.set_submitted_time_ms(kMonday);
  Report report(By(v1::REPORT_BY_CLUSTER), {}, kMonday + kDay);
  report.Add(job);
  const v1::ReportGroup total = report.Take().total();
  EXPECT_DOUBLE_EQ(total.goodput_ratio(), 0.5);
  EXPECT_DOUBLE_EQ(total.effective_ratio(), 0.7);
}

TEST(ReportTest, StandbysLowerTheGoodputButNotTheEffectiveRatio) {
  v1::JobTime job;
  *job.add_spans() = Span(v1::LEDGER_PHASE_TRAIN, kMonday, 10'000, 4);
  v1::JobTimeSpan& standby = *job.add_spans();
  standby = Span(v1::LEDGER_PHASE_STANDBY, kMonday, 10'000, 1);
  standby.set_length_ms(0);
  job.set_submitted_time_ms(kMonday);
  Report report(By(v1::REPORT_BY_CLUSTER), {}, kMonday + kDay);
  report.Add(job);
  const v1::ReportGroup total = report.Take().total();
  EXPECT_DOUBLE_EQ(total.goodput_ratio(), 0.8);
  EXPECT_DOUBLE_EQ(total.effective_ratio(), 1);
}

// After a downgrade, the archive may contain phases that only a newer release knows.
TEST(ReportTest, TimeInAnUnknownPhaseIsLeftOutAndUnspecifiedTimeCounts) {
  v1::JobTime job;
  *job.add_spans() = Span(v1::LEDGER_PHASE_TRAIN, kMonday, 1000, 1);
  *job.add_spans() = Span(v1::LEDGER_PHASE_UNSPECIFIED, kMonday + 1000, 2000, 1);
  const auto unknown = static_cast<v1::LedgerPhase>(v1::LedgerPhase_ARRAYSIZE);
  *job.add_spans() = Span(unknown, kMonday + 3000, 5000, 1);
  job.set_submitted_time_ms(kMonday);
  Report report(By(v1::REPORT_BY_CLUSTER), {}, kMonday + kDay);
  report.Add(job);
  const v1::ReportGroup total = report.Take().total();
  EXPECT_DOUBLE_EQ(total.wall_seconds(), 3);
  EXPECT_DOUBLE_EQ(total.slot_seconds(), 3);
}

TEST(ReportTest, TimeInEveryPhaseCounts) {
  const auto& phases = *v1::LedgerPhase_descriptor();
  v1::JobTime job;
  job.set_submitted_time_ms(kMonday);
  for (int i = 0; i < phases.value_count(); ++i) {
    const auto phase = static_cast<v1::LedgerPhase>(phases.value(i)->number());
    *job.add_spans() = Span(phase, kMonday + i * 1000, 1000, i + 1);
  }
  Report report(By(v1::REPORT_BY_CLUSTER), {}, kMonday + kDay);
  report.Add(job);
  const v1::ReportGroup total = report.Take().total();
  ASSERT_EQ(total.phases_size(), phases.value_count());
  for (int i = 0; i < phases.value_count(); ++i) {
    const auto phase = static_cast<v1::LedgerPhase>(phases.value(i)->number());
    EXPECT_DOUBLE_EQ(SlotSeconds(total, phase), i + 1) << phases.value(i)->name();
  }
}

TEST(ReportTest, GroupsOfEqualTimeAreSortedByName) {
  Report report(By(v1::REPORT_BY_USER), {}, kMonday + kDay);
  for (const char* user : {"cid", "ann", "bob"}) report.Add(JobAt(kMonday, 1, user));
  const v1::GetReportResponse response = report.Take();
  ASSERT_EQ(response.groups_size(), 3);
  EXPECT_EQ(response.groups(0).name(), "ann");
  EXPECT_EQ(response.groups(1).name(), "bob");
  EXPECT_EQ(response.groups(2).name(), "cid");
}

TEST(ReportTest, OnlyTheTimeThatIsAskedForCounts) {
  v1::GetReportRequest request = By(v1::REPORT_BY_JOB);
  request.set_since_ms(kMonday + 50'000);
  request.set_until_ms(kMonday + 150'000);
  Report report(request, {}, kMonday + kDay);
  report.Add(JobAt(kMonday, 1, "ann"));
  report.Add(JobAt(kMonday + 200'000, 2, "ann"));
  const v1::GetReportResponse response = report.Take();
  ASSERT_EQ(response.groups_size(), 1) << "the other job came later";
  EXPECT_EQ(response.groups(0).job_id(), 1);
  EXPECT_DOUBLE_EQ(SlotSeconds(response.groups(0), v1::LEDGER_PHASE_TRAIN), 4 * 50);
  EXPECT_DOUBLE_EQ(SlotSeconds(response.groups(0), v1::LEDGER_PHASE_REDONE), 4 * 50);
  EXPECT_DOUBLE_EQ(response.groups(0).wall_seconds(), 100);
}

TEST(ReportTest, WeeksBeginOnMonday) {
  Report report(By(v1::REPORT_BY_WEEK), {}, kMonday + 8 * kDay);
  report.Add(JobAt(kMonday - 100'000, 1, "ann"));
  const v1::GetReportResponse response = report.Take();
  ASSERT_EQ(response.groups_size(), 2);
  EXPECT_EQ(response.groups(0).name(), "2026-11-16");
  EXPECT_DOUBLE_EQ(SlotSeconds(response.groups(0), v1::LEDGER_PHASE_TRAIN), 4 * 90);
  EXPECT_DOUBLE_EQ(SlotSeconds(response.groups(0), v1::LEDGER_PHASE_REDONE), 0);
  EXPECT_EQ(response.groups(1).name(), "2026-11-23");
  EXPECT_DOUBLE_EQ(SlotSeconds(response.groups(1), v1::LEDGER_PHASE_REDONE), 4 * 100);
  EXPECT_EQ(response.total().jobs(), 1);
}

TEST(ReportTest, SlotsThatNoJobHeldAreIdle) {
  v1::CapacityHistory capacity;
  CountCapacity(10, kMonday, capacity);
  CountCapacity(10, kMonday + 100'000, capacity);
  CountCapacity(8, kMonday + 200'000, capacity);
  Report report(By(v1::REPORT_BY_CLUSTER), capacity, kMonday + 200'000);
  // 190 s on 4 slots. The cluster's capacity was not yet recorded in the first 50 s.
  report.Add(JobAt(kMonday - 60'000, 1, "ann"));
  const v1::ReportGroup total = report.Take().total();
  EXPECT_DOUBLE_EQ(total.idle_slot_seconds(), 10 * 100 + 8 * 100 - 4 * 140);
  EXPECT_EQ(total.idle_since_ms(), kMonday);
}

TEST(ReportTest, IdleSlotsOfEveryHourCount) {
  v1::CapacityHistory capacity;
  CountCapacity(10, kMonday, capacity);
  CountCapacity(10, kMonday + 3 * kHourMs, capacity);
  Report report(By(v1::REPORT_BY_CLUSTER), capacity, kMonday + 3 * kHourMs);
  report.Add(JobAt(kMonday, 1, "ann"));
  EXPECT_DOUBLE_EQ(report.Take().total().idle_slot_seconds(), 10 * 3 * 3600 - 4 * 190);
}

TEST(ReportTest, OfManyJobsTheLargestComeAndTheRestIsOneGroup) {
  v1::GetReportRequest request = By(v1::REPORT_BY_JOB);
  request.set_limit(3);
  Report report(request, {}, kMonday + kDay);
  for (int id = 1; id <= 10'000; ++id) {
    v1::JobTime job = JobAt(kMonday, id, "ann");
    job.mutable_spans(1)->set_slot_ms(id);
    report.Add(job);
  }
  const v1::GetReportResponse response = report.Take();
  ASSERT_EQ(response.groups_size(), 3);
  EXPECT_EQ(response.groups(0).job_id(), 10'000);
  EXPECT_EQ(response.groups(2).job_id(), 9'998);
  EXPECT_EQ(response.rest().name(), "9997 others");
  EXPECT_EQ(response.rest().jobs(), 9'997);
  EXPECT_EQ(response.total().jobs(), 10'000);
  EXPECT_NEAR(response.total().wall_seconds(), 200.0 * 10'000, 1e-3);
}

TEST(ReportTest, OfManyEqualJobsEachCountsOnce) {
  v1::GetReportRequest request = By(v1::REPORT_BY_JOB);
  request.set_limit(3);
  Report report(request, {}, kMonday + kDay);
  for (int id = 1; id <= 5000; ++id) report.Add(JobAt(kMonday, id, "ann"));
  const v1::GetReportResponse response = report.Take();
  EXPECT_EQ(response.groups_size(), 3);
  EXPECT_EQ(response.rest().jobs(), 4997);
  EXPECT_EQ(response.total().jobs(), 5000);
}

// To bound memory, the smaller half of the groups is merged when there are more than 4096.
TEST(ReportTest, AGroupThatWasMergedBeginsAnew) {
  v1::GetReportRequest request = By(v1::REPORT_BY_USER);
  request.set_limit(1);
  Report report(request, {}, kMonday + kDay);
  for (int id = 1; id <= 4097; ++id) {
    v1::JobTime job = JobAt(kMonday, id, absl::StrCat("user-", id));
    job.mutable_spans(1)->set_slot_ms(id);
    report.Add(job);
  }
  v1::JobTime large = JobAt(kMonday, 4098, "user-1");
  large.mutable_spans(1)->set_slot_ms(10'000'000);
  report.Add(large);
  const v1::GetReportResponse response = report.Take();
  ASSERT_EQ(response.groups_size(), 1);
  EXPECT_EQ(response.groups(0).name(), "user-1");
  EXPECT_EQ(response.groups(0).jobs(), 1) << "the first job was the smallest";
  EXPECT_EQ(response.rest().jobs(), 4097);
  EXPECT_EQ(response.total().jobs(), 4098);
}

TEST(ReportTest, BadRequestsAreRefused) {
  v1::GetReportRequest request;
  EXPECT_TRUE(CheckReportRequest(request, kMonday).ok()) << "all time, by cluster";
  request.set_limit(1001);
  EXPECT_THAT(CheckReportRequest(request, kMonday).message(),
              HasSubstr("limit: must be from 0 to 1000"));
  request.set_limit(0);
  request.set_since_ms(kMonday);
  EXPECT_THAT(CheckReportRequest(request, kMonday).message(), HasSubstr("before now"));
  request.set_since_ms(-1);
  EXPECT_FALSE(CheckReportRequest(request, kMonday).ok());
  request.set_since_ms(kMonday - 1);
  EXPECT_TRUE(CheckReportRequest(request, kMonday).ok());
}

// Returns a job that has folded attempts and listed attempts, with random times.
v1::Job AnyJob(int64_t id, std::mt19937& random) {
  std::uniform_int_distribution<int64_t> any(1, 3 * kHourMs);
  v1::Job job;
  job.set_id(id);
  job.set_name(absl::StrCat("job-", id));
  job.set_user(absl::StrCat("user-", id % 3));
  job.mutable_spec()->mutable_resources()->set_nodes(1 + static_cast<int>(id % 4));
  job.mutable_spec()->mutable_resources()->set_slots_per_node(8);
  Timestamp at = kMonday - any(random);
  job.set_submitted_time_ms(at);
  const int attempts = static_cast<int>(any(random) % 150);
  int64_t step = 0;
  for (int i = 0; i < attempts; ++i) {
    v1::Attempt& attempt = *job.add_attempts();
    attempt.set_number(i + 1);
    attempt.set_resume_step(step);
    attempt.set_placed_time_ms(at += any(random));
    attempt.set_started_time_ms(at += any(random));
    attempt.set_stopping_time_ms(at += any(random));
    attempt.set_ended_time_ms(at += any(random));
    attempt.set_last_step(step + 100);
    attempt.mutable_time_use()->set_checkpoint_ms(any(random) / 10);
    step += any(random) % 120 - 20;
    step = std::max<int64_t>(step, 0);
    if (job.attempts_size() > 10) FoldOldestAttempt(job);
  }
  if (id % 2 == 0) job.set_ended_time_ms(at);
  return job;
}

// No second may be lost or counted twice, whatever the grouping and wherever weeks begin.
TEST(ReportTest, EveryWayToGroupGivesTheSameSumsAndPhasesAddUpToWallTime) {
  std::mt19937 random(5);
  std::vector<v1::Job> jobs;
  for (int id = 1; id <= 60; ++id) jobs.push_back(AnyJob(id, random));
  const Timestamp now = kMonday + 100 * kDay;
  double wall = 0, slots = 0;
  for (const v1::Job& job : jobs) {
    const v1::Ledger ledger = LedgerOf(job, now);
    wall += ledger.wall_seconds();
    for (const v1::PhaseTime& time : ledger.phases()) slots += time.slot_seconds();
  }
  for (const v1::ReportBy by :
       {v1::REPORT_BY_CLUSTER, v1::REPORT_BY_USER, v1::REPORT_BY_JOB, v1::REPORT_BY_WEEK}) {
    Report report(By(by), {}, now);
    for (const v1::Job& job : jobs) report.Add(JobTimeOf(job, now));
    const v1::GetReportResponse response = report.Take();
    EXPECT_NEAR(response.total().wall_seconds(), wall, 1e-3) << by;
    EXPECT_NEAR(response.total().slot_seconds(), slots, 1e-2) << by;
    double groups_wall = 0;
    for (const v1::ReportGroup& group : response.groups()) {
      double phases = 0;
      for (const v1::PhaseTime& time : group.phases()) phases += time.seconds();
      EXPECT_NEAR(phases, group.wall_seconds(), 1e-6);
      groups_wall += phases;
    }
    EXPECT_NEAR(groups_wall, wall, 1e-3) << by;
  }
}

TEST(CapacityTest, SlotsAreCountedFromTheFirstNodeOnAndLostNodesHaveNone) {
  TestCluster cluster;
  const Timestamp begin = cluster.now;
  EXPECT_EQ(CapacityUntil(cluster.state, begin).since_ms(), 0);
  cluster.AddNode("a", 4);
  cluster.AddNode("b", 2);
  cluster.now += 10'000;
  v1::CapacityHistory capacity = CapacityUntil(cluster.state, cluster.now);
  double sum = 0;
  for (const int64_t slot_ms : capacity.slot_ms()) sum += static_cast<double>(slot_ms);
  EXPECT_EQ(sum, 6 * 10'000);
  cluster.StopHeartbeats("b");
  cluster.Pass(60'000);
  ASSERT_EQ(cluster.NodeStateOf("b"), v1::NODE_STATE_LOST);
  EXPECT_EQ(cluster.state.present_slots, 4);
  const ClusterState restarted = FromSnapshot(ToSnapshot(cluster.state, 1));
  EXPECT_EQ(restarted.present_slots, 4);
  EXPECT_EQ(CapacityUntil(restarted, cluster.now).SerializeAsString(),
            CapacityUntil(cluster.state, cluster.now).SerializeAsString());
}

TEST(CapacityTest, AYearOfHoursIsKept) {
  v1::CapacityHistory capacity;
  CountCapacity(1, kMonday, capacity);
  CountCapacity(2, kMonday + 300 * kDay, capacity);
  CountCapacity(3, kMonday + 600 * kDay, capacity);
  EXPECT_EQ(capacity.slot_ms_size(), 366 * 24);
  EXPECT_EQ(capacity.until_ms(), kMonday + 600 * kDay);
  CountCapacity(5, kMonday + 5000 * kDay, capacity);
  EXPECT_EQ(capacity.slot_ms_size(), 366 * 24);
  EXPECT_EQ(capacity.slot_ms(0), 5 * kHourMs);
  CountCapacity(5, kMonday, capacity);
  EXPECT_EQ(capacity.until_ms(), kMonday + 5000 * kDay) << "the clock was set back";
}

}  // namespace
}  // namespace trainyard::controller
