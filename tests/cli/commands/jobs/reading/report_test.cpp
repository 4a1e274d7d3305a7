// Tests `report`.
#include <string>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class ReportTest : public CliFixture {
 protected:
  // Two weeks of a cluster: 10 and 30 GPU-hours, of which 9 and 24 were spent on steps that count.
  void AnswerWeeks() {
    v1::GetReportResponse& report = answers().report;
    AddTime("2026-11-16", 36'000, 32'400, *report.add_groups());
    AddTime("2026-11-23", 108'000, 86'400, *report.add_groups());
    AddTime("total", 144'000, 118'800, *report.mutable_total());
  }

  static void AddTime(const std::string& name, double gpu_seconds, double trained,
                      v1::ReportGroup& group) {
    group.set_name(name);
    group.set_jobs(1);
    group.set_slot_seconds(gpu_seconds);
    group.set_gpu_seconds(gpu_seconds);
    group.set_goodput_ratio(trained / gpu_seconds);
    v1::PhaseTime& train = *group.add_phases();
    train.set_phase(v1::LEDGER_PHASE_TRAIN);
    train.set_slot_seconds(trained);
  }

  static void SetCost(v1::ReportGroup& group) {
    v1::Cost& cost = *group.mutable_cost();
    cost.set_amount(group.gpu_seconds() / 3600 * 2.5);
    cost.set_currency("USD");
    cost.set_gpu_hour_price(2.5);
  }
};

TEST_F(ReportTest, ReportJudgesTheLossCurve) {
  v1::GetLossReportResponse& report = answers().loss;
  report.set_losses(150);
  report.set_losses_needed(200);
  EXPECT_THAT(Run({"report", "17"}).err,
              HasSubstr("has reported 150 losses, but the report needs at least 200"));
  report.mutable_curve()->set_improvement_rate(0.25);
  report.mutable_curve()->set_spike_count(1);
  report.mutable_curve()->add_spike_steps(251);
  EXPECT_THAT(Run({"report", "17"}).out, HasSubstr("Stagnant    no"));
  const auto document = nlohmann::json::parse(Run({"report", "17", "-o", "json"}).out);
  EXPECT_EQ(document["improvement_rate"], 0.25);
  EXPECT_EQ(document["is_stagnant"], false);
  EXPECT_EQ(document["spike_count"], 1);
  EXPECT_EQ(document["spike_steps"], nlohmann::json::array({251}));
}

TEST_F(ReportTest, WeeksHaveGpuHoursAndWithoutAPriceNoCosts) {
  AnswerWeeks();
  const CliResult result = Run({"report", "--by", "week", "--user", "ada"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("GPU HOURS"));
  EXPECT_THAT(result.out, ContainsRegex("2026-11-23 .* 30\\.0 "));
  EXPECT_THAT(result.out, ContainsRegex("total .* 40\\.0 "));
  EXPECT_THAT(result.out, Not(HasSubstr("COST")));
  ASSERT_EQ(answers().report_requests.size(), 1);
  EXPECT_EQ(answers().report_requests[0].by(), v1::REPORT_BY_WEEK);
  EXPECT_EQ(answers().report_requests[0].user(), "ada");
}

TEST_F(ReportTest, WithAPriceEachGroupHasItsCost) {
  AnswerWeeks();
  for (v1::ReportGroup& group : *answers().report.mutable_groups()) SetCost(group);
  SetCost(*answers().report.mutable_total());
  const std::string table = Run({"report", "--by", "week"}).out;
  EXPECT_THAT(table, HasSubstr("COST USD"));
  EXPECT_THAT(table, ContainsRegex("2026-11-23 .* 30\\.0 +75\\.00 "));
  EXPECT_THAT(table, ContainsRegex("total .* 40\\.0 +100\\.00 "));
  const std::string csv = Run({"report", "--by", "week", "-o", "csv"}).out;
  EXPECT_THAT(csv, HasSubstr("SLOT TIME,GPU HOURS,COST USD,GOODPUT"));
  EXPECT_THAT(csv, HasSubstr("2026-11-16,1,0,0.000,36000.000,10.000,25.000,0.900000"));
  const auto document = nlohmann::json::parse(Run({"report", "--by", "week", "-o", "json"}).out);
  EXPECT_EQ(document["groups"][1]["gpu_seconds"], 108'000);
  EXPECT_EQ(document["groups"][1]["cost"]["amount"], 75);
  EXPECT_EQ(document["total"]["cost"]["currency"], "USD");
}

TEST_F(ReportTest, TheWeeksOfOneJobAreRequestedByItsNumber) {
  AnswerWeeks();
  answers().job.mutable_job()->set_id(17);
  EXPECT_EQ(Run({"report", "tiny", "--by", "week"}).exit_code, 0);
  ASSERT_EQ(answers().get_requests.size(), 1);
  EXPECT_EQ(answers().get_requests[0].job(), "tiny");
  ASSERT_EQ(answers().report_requests.size(), 1);
  EXPECT_EQ(answers().report_requests[0].job_id(), 17);
}

TEST_F(ReportTest, RefusesAnUnknownGroup) {
  EXPECT_THAT(Run({"report", "--by", "month"}).err, HasSubstr("--by"));
}

}  // namespace
}  // namespace trainyard::cli
