// Tests GPU time and costs in reports, and their division among weeks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "controller/core/explain/report.h"
#include "controller/core/ledger/ledger.h"
#include "tests/controller/core/explain/report_scenes.h"

namespace trainyard::controller {
namespace {

const GpuPrice kPrice{.per_hour = 2.5, .currency = "USD"};

TEST(ReportCostTest, CpuJobsHaveSlotTimeButNoGpuTime) {
  Report report(By(v1::REPORT_BY_USER), {}, kMonday + kDay, kPrice);
  v1::JobTime cpu = JobAt(kMonday, 1, "ann");
  cpu.set_device(v1::DEVICE_KIND_CPU);
  v1::JobTime gpu = JobAt(kMonday, 2, "bob");
  gpu.set_device(v1::DEVICE_KIND_GPU);
  report.Add(cpu);
  report.Add(gpu);
  report.Add(JobAt(kMonday, 3, "bob"));  // The record of an older release.
  const v1::GetReportResponse response = report.Take();
  ASSERT_EQ(response.groups_size(), 2);
  EXPECT_EQ(response.groups(0).name(), "bob");
  EXPECT_DOUBLE_EQ(response.groups(0).gpu_seconds(), 2 * 4 * 190);
  EXPECT_DOUBLE_EQ(response.groups(0).cost().amount(), 2 * 4 * 190 / 3600.0 * 2.5);
  EXPECT_DOUBLE_EQ(response.groups(1).slot_seconds(), 4 * 190);
  EXPECT_EQ(response.groups(1).gpu_seconds(), 0);
  EXPECT_TRUE(response.groups(1).has_cost());
  EXPECT_EQ(response.groups(1).cost().amount(), 0);
  EXPECT_DOUBLE_EQ(response.total().gpu_seconds(), 2 * 4 * 190);
  EXPECT_EQ(response.total().cost().currency(), "USD");
}

TEST(ReportCostTest, WithoutAPriceNoGroupHasACost) {
  Report report(By(v1::REPORT_BY_WEEK), {}, kMonday + kDay);
  report.Add(JobAt(kMonday, 1, "ann"));
  const v1::GetReportResponse response = report.Take();
  EXPECT_FALSE(response.groups(0).has_cost());
  EXPECT_FALSE(response.total().has_cost());
  EXPECT_DOUBLE_EQ(response.total().gpu_seconds(), 4 * 190);
}

TEST(ReportCostTest, TheRestAndTheTotalHaveTheSumOfTheCosts) {
  v1::GetReportRequest request = By(v1::REPORT_BY_JOB);
  request.set_limit(1);
  Report report(request, {}, kMonday + kDay, kPrice);
  for (int id = 1; id <= 3; ++id) report.Add(JobAt(kMonday, id, "ann"));
  const v1::GetReportResponse response = report.Take();
  const double one = 4 * 190 / 3600.0 * 2.5;
  EXPECT_DOUBLE_EQ(response.groups(0).cost().amount(), one);
  EXPECT_DOUBLE_EQ(response.rest().cost().amount(), 2 * one);
  EXPECT_DOUBLE_EQ(response.total().cost().amount(), 3 * one);
}

TEST(ReportCostTest, AReportOfOneJobLeavesOutOtherJobsAndIdleSlots) {
  v1::GetReportRequest request = By(v1::REPORT_BY_WEEK);
  request.set_job_id(2);
  v1::CapacityHistory capacity;
  CountCapacity(10, kMonday, capacity);
  CountCapacity(10, kMonday + kDay, capacity);
  Report report(request, capacity, kMonday + kDay, kPrice);
  for (int id = 1; id <= 3; ++id) report.Add(JobAt(kMonday, id, "ann"));
  const v1::GetReportResponse response = report.Take();
  EXPECT_EQ(response.total().jobs(), 1);
  EXPECT_DOUBLE_EQ(response.total().gpu_seconds(), 4 * 190);
  EXPECT_EQ(response.total().idle_since_ms(), 0);
  request.set_job_id(-1);
  EXPECT_TRUE(absl::IsInvalidArgument(CheckReportRequest(request, kMonday)));
}

// An attempt from Sunday to Thursday, with 4 h of saves. A quarter of the attempt's time is in the
// first week, so a quarter of the time for saves counts there, too.
TEST(ReportCostTest, AJobThatSpansWeeksIsDividedByTheTimesOfItsAttempts) {
  v1::Job job;
  job.mutable_spec()->mutable_resources()->set_nodes(1);
  job.mutable_spec()->mutable_resources()->set_slots_per_node(8);
  job.set_submitted_time_ms(kMonday - kDay);
  v1::Attempt& attempt = *job.add_attempts();
  attempt.set_number(1);
  attempt.set_placed_time_ms(kMonday - kDay);
  attempt.set_started_time_ms(kMonday - kDay);
  attempt.set_ended_time_ms(kMonday + 3 * kDay);
  attempt.set_last_step(100);
  attempt.mutable_time_use()->set_checkpoint_ms(4 * kHourMs);
  attempt.mutable_verdict()->set_cause(v1::VERDICT_CAUSE_COMPLETED);
  job.set_ended_time_ms(kMonday + 3 * kDay);
  Report report(By(v1::REPORT_BY_WEEK), {}, kMonday + 7 * kDay, kPrice);
  report.Add(JobTimeOf(job, kMonday + 7 * kDay));
  const v1::GetReportResponse response = report.Take();
  ASSERT_EQ(response.groups_size(), 2);
  EXPECT_DOUBLE_EQ(response.groups(0).gpu_seconds(), 24.0 * 8 * 3600);
  EXPECT_DOUBLE_EQ(response.groups(1).gpu_seconds(), 72.0 * 8 * 3600);
  EXPECT_DOUBLE_EQ(SlotSeconds(response.groups(0), v1::LEDGER_PHASE_CHECKPOINT), 8.0 * 3600);
  EXPECT_DOUBLE_EQ(SlotSeconds(response.groups(1), v1::LEDGER_PHASE_CHECKPOINT), 3 * 8.0 * 3600);
  EXPECT_DOUBLE_EQ(response.groups(0).cost().amount(), 24.0 * 8 * 2.5);
}

// Returns a job of up to 40 attempts, each of hours to days, with random phases.
v1::Job AnyLongJob(std::mt19937& random) {
  std::uniform_int_distribution<int64_t> any(0, 2 * kDay);
  v1::Job job;
  v1::ResourcesSpec& resources = *job.mutable_spec()->mutable_resources();
  resources.set_nodes(1);
  resources.set_slots_per_node(1 + static_cast<int>(any(random) % 8));
  Timestamp at = kMonday + any(random);
  job.set_submitted_time_ms(at);
  const int64_t attempts = 1 + any(random) % 40;
  int64_t step = 0;
  for (int i = 0; i < attempts; ++i) {
    v1::Attempt& attempt = *job.add_attempts();
    attempt.set_number(i + 1);
    attempt.set_resume_step(step);
    attempt.set_standbys(static_cast<int>(any(random) % 2));
    attempt.set_placed_time_ms(at += any(random));
    attempt.set_started_time_ms(at += any(random) / 10);
    at += any(random);
    attempt.set_ended_time_ms(at += any(random) / 10);
    attempt.mutable_verdict()->set_time_ms(at - any(random) / 20);
    attempt.set_last_step(step + 100);
    v1::TimeUse& use = *attempt.mutable_time_use();
    use.set_load_ms(any(random) / 10);
    use.set_checkpoint_ms(any(random) / 10);
    use.set_evaluation_ms(any(random) / 10);
    use.set_stalled_ms(any(random) / 10);
    use.set_slow_ms(any(random) / 20);
    use.set_diverged_ms(any(random) / 20);
    use.set_unsaved_steps(any(random) % 50);
    step += any(random) % 100;
    if (job.attempts_size() > 10) FoldOldestAttempt(job);
  }
  if (any(random) % 2 == 0) job.set_ended_time_ms(at);
  return job;
}

TEST(ReportCostTest, TheWeeksOfAJobAddUpToItsLedgerInEachPhase) {
  std::mt19937 random(42);
  for (int round = 0; round < 200; ++round) {
    const v1::Job job = AnyLongJob(random);
    const Timestamp now = kMonday + 300 * kDay;
    const v1::Ledger ledger = LedgerOf(job, now);
    Report report(By(v1::REPORT_BY_WEEK), {}, now, kPrice);
    report.Add(JobTimeOf(job, now));
    std::map<v1::LedgerPhase, double> slot_seconds;
    double gpu_seconds = 0, wall_seconds = 0, cost = 0;
    const v1::GetReportResponse response = report.Take();
    for (const v1::ReportGroup& week : response.groups()) {
      EXPECT_LE(week.wall_seconds(), 7 * 86'400 + 1e-6) << "a week has seven days";
      for (const v1::PhaseTime& time : week.phases()) {
        slot_seconds[time.phase()] += time.slot_seconds();
      }
      gpu_seconds += week.gpu_seconds();
      wall_seconds += week.wall_seconds();
      cost += week.cost().amount();
    }
    EXPECT_NEAR(gpu_seconds, ledger.gpu_seconds(), 1e-3) << round;
    EXPECT_NEAR(wall_seconds, ledger.wall_seconds(), 1e-3) << round;
    EXPECT_NEAR(cost, ledger.gpu_seconds() / 3600 * kPrice.per_hour, 1e-3) << round;
    for (const v1::PhaseTime& time : ledger.phases()) {
      EXPECT_NEAR(slot_seconds[time.phase()], time.slot_seconds(), 1e-3) << time.phase();
    }
  }
}

}  // namespace
}  // namespace trainyard::controller
