// Tests `extrapolate`.
#include <cmath>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr double kTokensOfStep = 786432;

class ExtrapolateTest : public CliFixture {
 protected:
  ExtrapolateTest() {
    v1::Job& job = *answers().job.mutable_job();
    job = RunningJob();
    job.mutable_spec()->mutable_resources()->set_nodes(1);
    job.mutable_spec()->mutable_resources()->set_slots_per_node(2);
  }

  // Reports losses of L = 2 + 400 / D^0.28 for D tokens, at 20,000 tokens per second.
  void Report(int64_t steps) {
    v1::GetSeriesResponse& response = answers().series;
    response.Clear();
    v1::Series& losses = *response.add_series();
    losses.set_key("loss");
    v1::Series& rates = *response.add_series();
    rates.set_key("tokens_per_second");
    for (int64_t step = 1; step <= steps; ++step) {
      const double tokens = kTokensOfStep * static_cast<double>(step);
      losses.add_steps(step);
      losses.add_x(static_cast<int64_t>(tokens));
      losses.add_last(2 + 400 * std::pow(tokens, -0.28));
      rates.add_last(step < 10 ? 100 : 20000);
    }
  }
};

TEST_F(ExtrapolateTest, ExpectsLossAndDaysLeft) {
  Report(2000);
  const CliResult result = Run({"extrapolate", "17", "--tokens", "85B"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("at 85B tokens"), HasSubstr("/ D^0.28"),
                    HasSubstr("median of the most recent half"), HasSubstr("slot-hours")));
  EXPECT_EQ(answers().series_requests.back().axis(), v1::SERIES_AXIS_TOKENS);
  const nlohmann::json document =
      nlohmann::json::parse(Run({"extrapolate", "17", "--tokens", "85B", "-o", "json"}).out);
  EXPECT_NEAR(document["loss"], 2 + 400 * std::pow(85e9, -0.28), 2e-3);
  EXPECT_LE(document["loss_low"], document["loss"]);
  EXPECT_GE(document["loss_high"], document["loss"]);
  const double seconds = (85e9 - 2000 * kTokensOfStep) / 20000;
  EXPECT_NEAR(document["days_left"], seconds / 86400, 1e-6);
  EXPECT_TRUE(document["dollars_left"].is_null()) << "CPU slots have no price";
}

TEST_F(ExtrapolateTest, RefusesFarMoreTokensThanWereSeen) {
  Report(2000);  // 1.57 B tokens.
  const CliResult result = Run({"extrapolate", "17", "--tokens", "400T"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.out, testing::IsEmpty());
  EXPECT_THAT(result.err, AllOf(HasSubstr("times the tokens seen so far"), HasSubstr("2403.08540"),
                                HasSubstr("request at most 157B tokens")));
  EXPECT_THAT(Run({"extrapolate", "17", "--tokens", "85B"}).out,
              HasSubstr("beyond 10 times the tokens seen"));
  EXPECT_THAT(Run({"extrapolate", "17", "--tokens", "8B"}).out, testing::Not(HasSubstr("caution")));
}

TEST_F(ExtrapolateTest, RefusesTooFewLosses) {
  Report(15);
  const CliResult result = Run({"extrapolate", "17", "--tokens", "85B"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, AllOf(HasSubstr("job 17 cannot be extrapolated"),
                                HasSubstr("a fit needs at least 20"), HasSubstr("train longer")));
}

TEST_F(ExtrapolateTest, RefusesAJobWithoutLossesOrTokens) {
  EXPECT_THAT(Run({"extrapolate", "17", "--tokens", "1B"}).err,
              HasSubstr("not reported a loss yet"));
  Report(100);
  for (auto& x : *answers().series.mutable_series(0)->mutable_x()) x = 0;
  EXPECT_THAT(Run({"extrapolate", "17", "--tokens", "1B"}).err,
              HasSubstr("does not report how many tokens"));
}

TEST_F(ExtrapolateTest, RefusesTokensThatAreNoAmount) {
  Report(2000);
  EXPECT_EQ(Run({"extrapolate", "17", "--tokens", "many"}).exit_code, 2);
  EXPECT_THAT(Run({"extrapolate", "17", "--tokens", "1M"}).err,
              HasSubstr("more than the requested 1e+06"));
}

}  // namespace
}  // namespace trainyard::cli
