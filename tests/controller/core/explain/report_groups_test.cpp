// Tests the groups of a report: which jobs they include, their fields, and their maximum number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "controller/core/explain/report.h"
#include "proto/contract/limits.h"
#include "tests/controller/core/explain/report_scenes.h"

namespace trainyard::controller {
namespace {

// Returns a text such as "LEDGER_PHASE_TRAIN 1 s, 4 slot s" per phase.
std::vector<std::string> GroupLines(const v1::ReportGroup& group) {
  std::vector<std::string> lines;
  for (const v1::PhaseTime& time : group.phases()) {
    lines.push_back(absl::StrCat(v1::LedgerPhase_Name(time.phase()), " ", time.seconds(), " s, ",
                                 time.slot_seconds(), " slot s"));
  }
  return lines;
}

// Returns the slot time of a standby, which is not part of the job's time.
v1::JobTimeSpan StandbySpan(Timestamp begin, int64_t length_ms, int slots) {
  v1::JobTimeSpan span = Span(v1::LEDGER_PHASE_STANDBY, begin, length_ms, slots);
  span.set_length_ms(0);
  return span;
}

v1::ReportGroup TotalOf(const v1::JobTime& job) {
  Report report(By(v1::REPORT_BY_CLUSTER), {}, kMonday + kDay);
  report.Add(job);
  return report.Take().total();
}

// Returns a report by user. Each user has one job, whose slot time is proportional to the user's
// number.
Report ReportOfUsers(int users, int limit) {
  v1::GetReportRequest request = By(v1::REPORT_BY_USER);
  request.set_limit(limit);
  Report report(request, {}, kMonday + kDay);
  for (int id = 1; id <= users; ++id) {
    v1::JobTime job = JobAt(kMonday, id, absl::StrCat("user-", id));
    job.mutable_spans(1)->set_slot_ms(id);
    report.Add(job);
  }
  return report;
}

void AddLargeJob(const std::string& user, int64_t slot_ms, Report& report) {
  v1::JobTime job = JobAt(kMonday, 9999, user);
  job.mutable_spans(1)->set_slot_ms(slot_ms);
  report.Add(job);
}

TEST(ReportGroupsTest, PhasesComeInOrderAndThoseWithoutTimeAreLeftOut) {
  v1::JobTime job;
  job.set_submitted_time_ms(kMonday);
  *job.add_spans() = Span(v1::LEDGER_PHASE_TRAIN, kMonday + 2001, 1000, 1);
  *job.add_spans() = StandbySpan(kMonday + 2001, 1, 1);
  *job.add_spans() = Span(v1::LEDGER_PHASE_QUEUED, kMonday + 2000, 1, 0);
  *job.add_spans() = Span(v1::LEDGER_PHASE_UNSPECIFIED, kMonday, 2000, 1);
  EXPECT_THAT(GroupLines(TotalOf(job)),
              testing::ElementsAre(
                  "LEDGER_PHASE_UNSPECIFIED 2 s, 2 slot s", "LEDGER_PHASE_QUEUED 0.001 s, 0 slot s",
                  "LEDGER_PHASE_TRAIN 1 s, 1 slot s", "LEDGER_PHASE_STANDBY 0 s, 0.001 slot s"));
}

TEST(ReportGroupsTest, AJobOfOneMillisecondCounts) {
  v1::JobTime job;
  job.set_submitted_time_ms(kMonday);
  *job.add_spans() = Span(v1::LEDGER_PHASE_TRAIN, kMonday, 1, 1);
  const v1::ReportGroup total = TotalOf(job);
  EXPECT_EQ(total.jobs(), 1);
  EXPECT_DOUBLE_EQ(total.wall_seconds(), 0.001);
  EXPECT_DOUBLE_EQ(total.slot_seconds(), 0.001);
  EXPECT_DOUBLE_EQ(total.goodput_ratio(), 1);
  EXPECT_DOUBLE_EQ(total.effective_ratio(), 1);
}

TEST(ReportGroupsTest, WithoutSlotTimeOfAGangBothRatiosAreZero) {
  v1::JobTime job;
  job.set_submitted_time_ms(kMonday);
  *job.add_spans() = Span(v1::LEDGER_PHASE_QUEUED, kMonday, 1000, 0);
  EXPECT_EQ(TotalOf(job).goodput_ratio(), 0);
  EXPECT_EQ(TotalOf(job).effective_ratio(), 0);
  *job.add_spans() = StandbySpan(kMonday, 1000, 1);
  EXPECT_DOUBLE_EQ(TotalOf(job).slot_seconds(), 1);
  EXPECT_EQ(TotalOf(job).goodput_ratio(), 0);
  EXPECT_EQ(TotalOf(job).effective_ratio(), 0);
}

TEST(ReportGroupsTest, OnlyJobsOfTheUserAskedForCount) {
  v1::GetReportRequest request = By(v1::REPORT_BY_USER);
  request.set_user("ann");
  Report report(request, {}, kMonday + kDay);
  report.Add(JobAt(kMonday, 1, "ann"));
  report.Add(JobAt(kMonday, 2, "bob"));
  const v1::GetReportResponse response = report.Take();
  ASSERT_EQ(response.groups_size(), 1);
  EXPECT_EQ(response.groups(0).name(), "ann");
  EXPECT_EQ(response.total().jobs(), 1);
}

TEST(ReportGroupsTest, RestartsOfJobsAddUp) {
  Report report(By(v1::REPORT_BY_USER), {}, kMonday + kDay);
  for (const int64_t restarts : {2, 3}) {
    v1::JobTime job = JobAt(kMonday, restarts, "ann");
    job.set_restarts(restarts);
    report.Add(job);
  }
  const v1::GetReportResponse response = report.Take();
  ASSERT_EQ(response.groups_size(), 1);
  EXPECT_EQ(response.groups(0).restarts(), 5);
  EXPECT_EQ(response.total().restarts(), 5);
}

TEST(ReportGroupsTest, WithoutALimitAHundredGroupsComeAndTheOthersAreOne) {
  EXPECT_FALSE(ReportOfUsers(100, 0).Take().has_rest());
  const v1::GetReportResponse one_more = ReportOfUsers(101, 0).Take();
  EXPECT_EQ(one_more.groups_size(), 100);
  EXPECT_EQ(one_more.rest().name(), "1 others");
  const v1::GetReportResponse two_more = ReportOfUsers(102, 0).Take();
  EXPECT_EQ(two_more.groups_size(), 100);
  EXPECT_EQ(two_more.rest().name(), "2 others");
  EXPECT_EQ(two_more.rest().jobs(), 2);
}

TEST(ReportGroupsTest, UpTo4096GroupsAreExact) {
  Report report = ReportOfUsers(4096, 1);
  AddLargeJob("user-1", 10'000'000, report);
  const v1::GetReportResponse response = report.Take();
  ASSERT_EQ(response.groups_size(), 1);
  EXPECT_EQ(response.groups(0).name(), "user-1");
  EXPECT_EQ(response.groups(0).jobs(), 2);
}

TEST(ReportGroupsTest, BeyondThemTheLargest2048AreExact) {
  Report report = ReportOfUsers(4097, 2);
  AddLargeJob("user-2050", 20'000'000, report);
  AddLargeJob("user-2049", 10'000'000, report);
  const v1::GetReportResponse response = report.Take();
  ASSERT_EQ(response.groups_size(), 2);
  EXPECT_EQ(response.groups(0).name(), "user-2050");
  EXPECT_EQ(response.groups(0).jobs(), 2);
  EXPECT_EQ(response.groups(1).name(), "user-2049");
  EXPECT_EQ(response.groups(1).jobs(), 1) << "its first job was merged";
}

TEST(ReportGroupsTest, TheLimitsOfARequestAreInclusive) {
  v1::GetReportRequest request;
  request.set_limit(1000);
  request.set_user(std::string(kMaxUserBytes, 'x'));
  EXPECT_TRUE(CheckReportRequest(request, kMonday).ok());
  request.set_user(std::string(kMaxUserBytes + 1, 'x'));
  EXPECT_EQ(CheckReportRequest(request, kMonday).message(), "user: at most 128 bytes");
  request.clear_user();
  request.set_limit(-1);
  EXPECT_EQ(CheckReportRequest(request, kMonday).message(), "limit: must be from 0 to 1000");
}

TEST(ReportGroupsTest, TheTimeOfAReportEndsWhereTheRequestSaysOrNow) {
  const auto until_ms = [](Timestamp requested) {
    v1::GetReportRequest request = By(v1::REPORT_BY_CLUSTER);
    request.set_until_ms(requested);
    return Report(request, {}, kMonday + kDay).Take().until_ms();
  };
  EXPECT_EQ(until_ms(0), kMonday + kDay);
  EXPECT_EQ(until_ms(kMonday + 1000), kMonday + 1000);
  EXPECT_EQ(until_ms(kMonday + 2 * kDay), kMonday + kDay);
}

}  // namespace
}  // namespace trainyard::controller
