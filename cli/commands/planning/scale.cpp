#include "cli/commands/planning/scale.h"

#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/grammar/amount_option.h"
#include "cli/grammar/svg_option.h"
#include "cli/output/files/output_file.h"
#include "cli/output/plans/plan_figures.h"
#include "cli/output/terminal/readable.h"
#include "controller/planner/amount.h"
#include "controller/planner/scaling_law.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/loader.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

using planner::AmountText;

struct Budget {
  double flops = 0;
  double parameters = 0;  // 0: not given.
  double tokens = 0;      // 0: not given.
};

absl::StatusOr<Budget> BudgetOf(const ScaleOptions& options) {
  Budget budget;
  TRAINYARD_ASSIGN_OR_RETURN(budget.flops, ReadAmountOption("--flops", options.flops));
  TRAINYARD_ASSIGN_OR_RETURN(budget.parameters,
                             ReadAmountOption("--parameters", options.parameters));
  TRAINYARD_ASSIGN_OR_RETURN(budget.tokens, ReadAmountOption("--tokens", options.tokens));
  const bool has_sizes = budget.parameters > 0 || budget.tokens > 0;
  if (budget.flops > 0 && has_sizes) {
    return absl::InvalidArgumentError(
        "--flops cannot be combined with --parameters or --tokens, which determine the FLOPs; pass "
        "either --flops or the sizes");
  }
  if (budget.flops > 0) return budget;
  if (!has_sizes) {
    return absl::InvalidArgumentError("pass --flops, or at least one of --parameters and --tokens");
  }
  // If only parameters or only tokens are given, computes the missing number by the rule of thumb
  // of 20 tokens per parameter.
  const double parameters = budget.parameters > 0 ? budget.parameters : budget.tokens / 20;
  const double tokens = budget.tokens > 0 ? budget.tokens : 20 * budget.parameters;
  budget.flops = 6 * parameters * tokens;
  return budget;
}

Row OptimumRow(const planner::Optimum& optimum) {
  const double ratio = optimum.tokens / optimum.parameters;
  return {{std::string(optimum.law), AmountText(optimum.parameters), AmountText(optimum.tokens),
           NumberText(ratio, 3), NumberText(optimum.flops, 3),
           absl::StrFormat("%.3f", optimum.loss), std::string(optimum.source)},
          std::string(optimum.law),
          {{"law", std::string(optimum.law)},
           {"source", std::string(optimum.source)},
           {"parameters", optimum.parameters},
           {"tokens", optimum.tokens},
           {"tokens_per_parameter", ratio},
           {"flops", optimum.flops},
           {"loss", optimum.loss}}};
}

Listing LawListing(double flops) {
  Listing listing;
  listing.columns = {{"LAW"},        {"PARAMETERS", true}, {"TOKENS", true}, {"TOKENS/PARAM", true},
                     {"FLOP", true}, {"LOSS", true},       {"SOURCE"}};
  for (const planner::Optimum& optimum :
       {planner::RuleOfTwenty(flops), planner::GuideCoefficients(flops),
        planner::LossMinimum(flops), planner::KaplanOptimum(flops)}) {
    listing.rows.push_back(OptimumRow(optimum));
  }
  return listing;
}

std::string GivenText(const Budget& budget) {
  const planner::OverTraining over = planner::OverTrainingOf(budget.parameters, budget.tokens);
  const double loss = planner::LossOf(budget.parameters, budget.tokens);
  return absl::StrCat(
      AmountText(budget.parameters), " parameters on ", AmountText(budget.tokens),
      " tokens: ", NumberText(budget.flops, 3), " FLOP (6 N D), ",
      NumberText(over.tokens_per_parameter, 3), " tokens per parameter. The rule D = 20 N gives ",
      AmountText(over.optimal_tokens), " tokens; this budget has ", NumberText(over.ratio, 3),
      " times as many. Predicted loss: ", absl::StrFormat("%.3f", loss),
      "; best loss at the same FLOPs: ", absl::StrFormat("%.3f", over.optimal_loss), "\n\n");
}

absl::StatusOr<planner::BudgetShape> ShapeLike(const std::string& like, double flops,
                                               const Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const ResolvedSpec resolved,
      ResolveJobFile(like, {}, FileSystemReader(context.recipe_directories)));
  const RunConfig config = RunConfigOf(resolved.spec);
  if (config.model.num_layers == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("`", like, "` has no `model` section; name a recipe of trainyard-trainer"));
  }
  const auto best = planner::BestShape(config.model, config.train.seq_length, flops);
  if (best.has_value()) return *best;
  return absl::InvalidArgumentError(absl::StrCat(
      NumberText(flops, 3), " FLOPs are not enough to train the smallest model like `", like, "`"));
}

std::string ShapeText(const std::string& like, const planner::BudgetShape& shape) {
  const ModelConfig& model = shape.model;
  return absl::StrCat("\nBest model shape in the family of ", like,
                      " (FLOPs include attention)\n  model: {num_layers: ", model.num_layers,
                      ", hidden_size: ", model.hidden_size,
                      ", ffn_hidden_size: ", model.ffn_hidden_size,
                      ", num_attention_heads: ", model.num_attention_heads,
                      ", num_query_groups: ", model.num_query_groups, "}\n  ",
                      AmountText(shape.parameters), " parameters on ", AmountText(shape.tokens),
                      " tokens, loss ", absl::StrFormat("%.3f", shape.loss), "\n");
}

nlohmann::json ShapeDocument(const planner::BudgetShape& shape) {
  const ModelConfig& model = shape.model;
  return {{"num_layers", model.num_layers},
          {"hidden_size", model.hidden_size},
          {"ffn_hidden_size", model.ffn_hidden_size},
          {"num_attention_heads", model.num_attention_heads},
          {"num_query_groups", model.num_query_groups},
          {"parameters", shape.parameters},
          {"tokens", shape.tokens},
          {"loss", shape.loss}};
}

}  // namespace

void AddScale(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<ScaleOptions>();
  CLI::App* command = parent.add_subcommand(
      "scale", "Split a compute budget into parameters and tokens, using scaling laws");
  command->add_option("--flops", options->flops, "compute budget in FLOPs, such as 1.36e21");
  command->add_option("--parameters", options->parameters, "number of parameters, such as 7B");
  command->add_option("--tokens", options->tokens, "number of tokens, such as 2T");
  command->add_option("--like", options->like,
                      "also show the best model shape in the family of this recipe");
  AddSvgOption(*command, options->svg, "write a chart of loss as a function of FLOPs");
  grammar.runners[command] = [options](Context& context) { return RunScale(*options, context); };
}

Outcome RunScale(const ScaleOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const Budget budget, BudgetOf(options));
  std::optional<planner::BudgetShape> shape;
  if (!options.like.empty()) {
    TRAINYARD_ASSIGN_OR_RETURN(shape, ShapeLike(options.like, budget.flops, context));
  }
  if (!options.svg.empty()) {
    TRAINYARD_RETURN_IF_ERROR(
        WriteOutputFile(options.svg, ScalingSvg(budget.flops), context.console));
  }
  const Listing laws = LawListing(budget.flops);
  const bool is_given = budget.parameters > 0 && budget.tokens > 0;
  if (!IsTable(context.format)) {
    nlohmann::json document = {{"flops", budget.flops},
                               {"loss", nullptr},
                               {"laws", nlohmann::json::array()},
                               {"shape", nullptr}};
    if (is_given) document["loss"] = planner::LossOf(budget.parameters, budget.tokens);
    for (const Row& row : laws.rows) document["laws"].push_back(row.document);
    if (shape.has_value()) document["shape"] = ShapeDocument(*shape);
    PrintDocument(document, "", context.format, context.console);
    return ExitCode::kOk;
  }
  if (is_given) *context.console.out << GivenText(budget);
  PrintListing(laws, context.format, context.console);
  if (shape.has_value()) *context.console.out << ShapeText(options.like, *shape);
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
