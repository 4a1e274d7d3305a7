#include "controller/core/explain/expert_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::controller {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = ExpertProblem::Kind;

v1::JobSpec OurJob() {
  v1::JobSpec spec;
  spec.mutable_model()->set_moe_aux_loss_coeff(0.001);
  spec.mutable_optimizer()->set_lr(3e-4);
  return spec;
}

planner::Finding Advice(const ExpertProblem& problem, const v1::JobSpec& spec = OurJob()) {
  return AdviceOnExperts({problem}, spec).at(0);
}

TEST(ExpertAdviceTest, ACollapseNamesLayerFiguresAndSettings) {
  const planner::Finding finding = Advice({.kind = Kind::kCollapsed,
                                           .layer = 12,
                                           .value = 17.25,
                                           .since_step = 400,
                                           .layers = 3,
                                           .experts = 256,
                                           .topk = 8});
  EXPECT_EQ(finding.what, "the experts of layer 12 have collapsed");
  EXPECT_THAT(finding.why, AllOf(HasSubstr("17.2 times"), HasSubstr("worst: 32"),
                                 HasSubstr("since step 400"), HasSubstr("2 other layers")));
  EXPECT_THAT(finding.right, AllOf(HasSubstr("model.moe_aux_loss_coeff above 0.001"),
                                   HasSubstr("optimizer.lr below 0.0003"),
                                   Not(HasSubstr("moe_router_bias_update_rate"))));
}

TEST(ExpertAdviceTest, AModelWithABiasIsToldItsRate) {
  v1::JobSpec spec = OurJob();
  spec.mutable_model()->clear_moe_aux_loss_coeff();
  spec.mutable_model()->set_moe_router_enable_expert_bias(true);
  spec.mutable_model()->set_moe_router_bias_update_rate(0.001);
  EXPECT_THAT(Advice({.kind = Kind::kIdle, .value = 1, .expert = 7}, spec).right,
              AllOf(HasSubstr("moe_aux_loss_coeff 0.01"),
                    HasSubstr("moe_router_bias_update_rate above 0.001")));
}

TEST(ExpertAdviceTest, EachKindHasItsFigures) {
  EXPECT_THAT(
      Advice({.kind = Kind::kCertain, .layer = 3, .value = 0.012, .since_step = 5, .topk = 2}).why,
      AllOf(HasSubstr("0.012"), HasSubstr("2 experts"), Not(HasSubstr("other layer"))));
  EXPECT_THAT(Advice({.kind = Kind::kDropping, .value = 0.234, .since_step = 5}).why,
              AllOf(HasSubstr("23.4 %"), HasSubstr("more than 10 %")));
  EXPECT_THAT(Advice({.kind = Kind::kIdle, .value = 1, .since_step = 5, .expert = 7}).why,
              HasSubstr("expert 7 had no rows"));
  EXPECT_THAT(
      Advice({.kind = Kind::kIdle, .value = 2, .since_step = 5, .expert = 7, .experts = 64}).why,
      HasSubstr("2 of 64 experts (the first is expert 7)"));
}

TEST(ExpertAdviceTest, AStateThatMayBeOlderHasNoExactFirstStep) {
  for (const Kind kind : {Kind::kCollapsed, Kind::kCertain, Kind::kDropping, Kind::kIdle}) {
    ExpertProblem problem{.kind = kind, .value = 1, .since_step = 400, .experts = 8, .topk = 2};
    EXPECT_THAT(Advice(problem).why,
                AllOf(HasSubstr("since step 400"), Not(HasSubstr("or earlier"))));
    problem.maybe_earlier = true;
    EXPECT_THAT(Advice(problem).why, HasSubstr("since step 400 or earlier"));
  }
}

TEST(ExpertAdviceTest, OtherProgramsGetNoSettingsOfOurTrainer) {
  v1::JobSpec spec;
  spec.add_command("python3");
  for (const Kind kind : {Kind::kCollapsed, Kind::kCertain, Kind::kDropping, Kind::kIdle}) {
    EXPECT_THAT(Advice({.kind = kind, .value = 1}, spec).right, Not(HasSubstr("model.")));
  }
}

}  // namespace
}  // namespace trainyard::controller
