// report.
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::HasSubstr;

class ReportTest : public CliFixture {};

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

}  // namespace
}  // namespace trainyard::cli
