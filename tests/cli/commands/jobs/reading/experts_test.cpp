// experts.
#include <string>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/cli/cli_fixture.h"

namespace trainyard::cli {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class ExpertsTest : public CliFixture {
 protected:
  void AnswerTwoLayers() {
    v1::GetExpertsResponse& experts = answers().experts;
    experts.add_steps(20);
    experts.add_steps(40);
    v1::ExpertBalance& balance = *experts.mutable_balance();
    balance.set_step(40);
    balance.set_attempt(1);
    balance.set_experts(4);
    balance.set_topk(2);
    balance.set_worst_layer(1);
    AddLayer(0, {1, 1, 1, 1}, balance);
    AddLayer(1, {0, 0.5, 2, 1.5}, balance);
    v1::RunFinding& finding = *experts.add_findings();
    finding.set_what("experts of layer 1 get no tokens");
    finding.set_why("expert 0 had no rows");
    finding.set_change("model.moe_aux_loss_coeff 0.01");
  }

  static void AddLayer(int number, const std::vector<double>& load, v1::ExpertBalance& balance) {
    v1::LayerBalance& layer = *balance.add_layers();
    layer.set_layer(number);
    layer.set_balance(*std::max_element(load.begin(), load.end()));
    layer.set_entropy(0.875);
    layer.set_dropped(0.0125);
    layer.mutable_load()->Add(load.begin(), load.end());
  }
};

TEST_F(ExpertsTest, EachLayerHasItsFigures) {
  AnswerTwoLayers();
  const CliResult result = Run({"experts", "17", "--step", "45"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(answers().experts_requests.at(0).job(), "17");
  EXPECT_EQ(answers().experts_requests.at(0).step(), 45);
  EXPECT_THAT(result.out, HasSubstr("Layer 1 has the least even load: its busiest expert has 2 "
                                    "times the mean (even: 1, worst: 2)."));
  EXPECT_THAT(result.out, ContainsRegex("1 +2 +0.875 +- +1.2 % +expert 2 +1"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("advice: experts of layer 1 get no tokens"),
                                HasSubstr("try: model.moe_aux_loss_coeff 0.01")));
}

TEST_F(ExpertsTest, JsonHasTheLoads) {
  AnswerTwoLayers();
  const auto document = nlohmann::json::parse(Run({"experts", "17", "-o", "json"}).out);
  EXPECT_EQ(document["balance"]["layers"][1]["load"], nlohmann::json({0, 0.5, 2, 1.5}));
  EXPECT_EQ(document["steps"], nlohmann::json({20, 40}));
}

TEST_F(ExpertsTest, WithoutARecordTheCauseIsNamed) {
  answers().experts.clear_steps();
  EXPECT_THAT(Run({"experts", "17"}).err, HasSubstr("has not reported the load of experts"));
  answers().experts.add_steps(20);
  EXPECT_THAT(Run({"experts", "17", "--step", "5"}).err, HasSubstr("the oldest is of step 20"));
}

TEST_F(ExpertsTest, ReportShowsTheFindings) {
  AnswerTwoLayers();
  answers().loss.mutable_curve()->set_recent_loss(2.5);
  EXPECT_THAT(Run({"report", "17"}).out, HasSubstr("advice: experts of layer 1 get no tokens"));
  const auto document = nlohmann::json::parse(Run({"report", "17", "-o", "json"}).out);
  EXPECT_EQ(document["findings"], nlohmann::json::parse(R"([{
    "what": "experts of layer 1 get no tokens",
    "why": "expert 0 had no rows",
    "change": "model.moe_aux_loss_coeff 0.01"
  }])"));
  answers().experts.clear_findings();
  EXPECT_FALSE(nlohmann::json::parse(Run({"report", "17", "-o", "json"}).out).contains("findings"));
}

}  // namespace
}  // namespace trainyard::cli
