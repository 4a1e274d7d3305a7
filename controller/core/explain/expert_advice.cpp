#include "controller/core/explain/expert_advice.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "controller/core/support/text.h"
#include "controller/planner/figures.h"
#include "proto/contract/expert_load.h"
#include "proto/jobspec/fields/run_config_of.h"

namespace trainyard::controller {
namespace {

using Kind = ExpertProblem::Kind;

// Describes the other layers with the same problem. Empty if there are no such layers.
std::string OtherLayers(const ExpertProblem& problem) {
  if (problem.layers <= 1) return "";
  return absl::StrCat("; ", Counted(problem.layers - 1, "other layer"), " too");
}

std::string LayerText(const ExpertProblem& problem) {
  return absl::StrCat("layer ", problem.layer);
}

// Returns, for example, "step 400" or "step 400 or earlier".
std::string FirstStepText(const ExpertProblem& problem) {
  return absl::StrCat("step ", problem.since_step, problem.maybe_earlier ? " or earlier" : "");
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

planner::Finding Collapsed(const ExpertProblem& problem, const v1::JobSpec& spec) {
  return {absl::StrCat("the experts of ", LayerText(problem), " have collapsed"),
          absl::StrFormat("the busiest expert has %s times the mean load (even: 1, worst: %s); the "
                          "load has been this uneven since %s%s",
                          planner::FigureText(problem.value, 3),
                          planner::FigureText(WorstBalance(problem.experts, problem.topk), 3),
                          FirstStepText(problem), OtherLayers(problem)),
          BalanceAdvice(spec)};
}

planner::Finding Certain(const ExpertProblem& problem, const v1::JobSpec& spec) {
  return {
      absl::StrCat("the router of ", LayerText(problem), " uses one expert per token"),
      absl::StrFormat("the entropy of its scores is %s (all experts alike: 1) and has been below "
                      "%s since %s, although a token has %d experts%s",
                      planner::FigureText(problem.value, 2), planner::FigureText(kLowEntropy, 2),
                      FirstStepText(problem), problem.topk, OtherLayers(problem)),
      RunsOurTrainer(spec)
          ? "model.moe_z_loss_coeff 0.001, which keeps the logits of routers small, or a lower "
            "optimizer.lr"
          : "a loss that keeps the logits of routers small (z-loss), or a lower learning rate"};
}

planner::Finding Dropping(const ExpertProblem& problem, const v1::JobSpec& spec) {
  const std::string capacity = RunsOurTrainer(spec) ? "a higher model.moe_expert_capacity_factor"
                                                    : "a higher capacity factor";
  return {absl::StrCat("experts of ", LayerText(problem), " drop tokens"),
          absl::StrCat(planner::PercentText(problem.value, 1),
                       " of the choices find their expert full, and more than ",
                       planner::PercentText(kMuchDropped, 0), " have since ",
                       FirstStepText(problem), OtherLayers(problem)),
          absl::StrCat(capacity, ", or ", BalanceAdvice(spec))};
}

planner::Finding Idle(const ExpertProblem& problem, const v1::JobSpec& spec) {
  const auto idle = static_cast<int64_t>(problem.value);
  const std::string which =
      idle == 1 ? absl::StrCat("expert ", problem.expert)
                : absl::StrCat(idle, " of ", problem.experts, " experts (the first is expert ",
                               problem.expert, ")");
  return {absl::StrCat("experts of ", LayerText(problem), " get no tokens"),
          absl::StrCat(which, " had no rows in any of the recorded steps since ",
                       FirstStepText(problem), OtherLayers(problem)),
          BalanceAdvice(spec)};
}

planner::Finding AdviceOn(const ExpertProblem& problem, const v1::JobSpec& spec) {
  switch (problem.kind) {
    case Kind::kCollapsed:
      return Collapsed(problem, spec);
    case Kind::kCertain:
      return Certain(problem, spec);
    case Kind::kDropping:
      return Dropping(problem, spec);
    case Kind::kIdle:
      break;
  }
  return Idle(problem, spec);
}

}  // namespace

std::vector<planner::Finding> AdviceOnExperts(const std::vector<ExpertProblem>& problems,
                                              const v1::JobSpec& spec) {
  std::vector<planner::Finding> findings;
  for (const ExpertProblem& problem : problems) findings.push_back(AdviceOn(problem, spec));
  return findings;
}

}  // namespace trainyard::controller
