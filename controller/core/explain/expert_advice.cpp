#include "controller/core/explain/expert_advice.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/core/support/text.h"
#include "controller/planner/figures.h"
#include "proto/jobspec/run_config_of.h"

namespace trainyard::controller {
namespace {

using Kind = ExpertTrouble::Kind;

// Describes the further layers in the same state. Empty if there are none.
std::string OtherLayers(const ExpertTrouble& trouble) {
  if (trouble.layers <= 1) return "";
  return absl::StrCat("; ", Counted(trouble.layers - 1, "other layer"), " too");
}

std::string LayerText(const ExpertTrouble& trouble) {
  return absl::StrCat("layer ", trouble.layer);
}

// Returns settings that make the load more even.
std::string BalanceAdvice(const v1::JobSpec& spec) {
  if (!RunsOurTrainer(spec)) {
    return "a higher coefficient of the program's balance loss, or a lower learning rate";
  }
  const v1::ModelSpec& model = spec.model();
  const std::string rate =
      absl::StrCat("an optimizer.lr below ", planner::FigureText(spec.optimizer().lr(), 3));
  std::string balance = model.moe_aux_loss_coeff() > 0
                            ? absl::StrCat("a model.moe_aux_loss_coeff above ",
                                           planner::FigureText(model.moe_aux_loss_coeff(), 3))
                            : "model.moe_aux_loss_coeff 0.01";
  if (model.moe_router_enable_expert_bias()) {
    absl::StrAppend(&balance, ", a model.moe_router_bias_update_rate above ",
                    planner::FigureText(model.moe_router_bias_update_rate(), 3));
  }
  return absl::StrCat(balance, ", or ", rate,
                      "; go back to a checkpoint before the collapse, because experts without "
                      "rows do not recover alone");
}

planner::Finding Collapsed(const ExpertTrouble& trouble, const v1::JobSpec& spec) {
  return {absl::StrCat("the experts of ", LayerText(trouble), " have collapsed"),
          absl::StrFormat(
              "the busiest expert has %s times the mean load (even: 1, worst: %s); the "
              "load has been this uneven since step %d%s",
              planner::FigureText(trouble.value, 3),
              planner::FigureText(
                  static_cast<double>(trouble.experts) / static_cast<double>(trouble.topk), 3),
              trouble.since_step, OtherLayers(trouble)),
          BalanceAdvice(spec)};
}

planner::Finding Certain(const ExpertTrouble& trouble, const v1::JobSpec& spec) {
  return {
      absl::StrCat("the router of ", LayerText(trouble), " uses one expert per token"),
      absl::StrFormat("the entropy of its scores is %s (all experts alike: 1) and has been below "
                      "%s since step %d, although a token has %d experts%s",
                      planner::FigureText(trouble.value, 2), planner::FigureText(kLowEntropy, 2),
                      trouble.since_step, trouble.topk, OtherLayers(trouble)),
      RunsOurTrainer(spec)
          ? "model.moe_z_loss_coeff 0.001, which keeps the logits of routers small, or a lower "
            "optimizer.lr"
          : "a loss that keeps the logits of routers small (z-loss), or a lower learning rate"};
}

planner::Finding Dropping(const ExpertTrouble& trouble, const v1::JobSpec& spec) {
  const std::string capacity = RunsOurTrainer(spec) ? "a higher model.moe_expert_capacity_factor"
                                                    : "a higher capacity factor";
  return {absl::StrCat("experts of ", LayerText(trouble), " drop tokens"),
          absl::StrCat(planner::PercentText(trouble.value, 1),
                       " of the choices find their expert full, and more than ",
                       planner::PercentText(kMuchDropped, 0), " have since step ",
                       trouble.since_step, OtherLayers(trouble)),
          absl::StrCat(capacity, ", or ", BalanceAdvice(spec))};
}

planner::Finding Idle(const ExpertTrouble& trouble, const v1::JobSpec& spec) {
  const auto idle = static_cast<int64_t>(trouble.value);
  const std::string which =
      idle == 1 ? absl::StrCat("expert ", trouble.expert)
                : absl::StrCat(idle, " of ", trouble.experts, " experts (the first is expert ",
                               trouble.expert, ")");
  return {absl::StrCat("experts of ", LayerText(trouble), " get no tokens"),
          absl::StrCat(which, " had no rows in any of the recorded steps since step ",
                       trouble.since_step, OtherLayers(trouble)),
          BalanceAdvice(spec)};
}

planner::Finding AdviceOn(const ExpertTrouble& trouble, const v1::JobSpec& spec) {
  switch (trouble.kind) {
    case Kind::kCollapsed:
      return Collapsed(trouble, spec);
    case Kind::kCertain:
      return Certain(trouble, spec);
    case Kind::kDropping:
      return Dropping(trouble, spec);
    case Kind::kIdle:
      break;
  }
  return Idle(trouble, spec);
}

}  // namespace

std::vector<planner::Finding> AdviceOnExperts(const std::vector<ExpertTrouble>& troubles,
                                              const v1::JobSpec& spec) {
  std::vector<planner::Finding> findings;
  for (const ExpertTrouble& trouble : troubles) findings.push_back(AdviceOn(trouble, spec));
  return findings;
}

}  // namespace trainyard::controller
