#include "cli/commands/planning/cost.h"

#include <cmath>
#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/commands/planning/plan_layout.h"
#include "cli/grammar/amount_option.h"
#include "cli/grammar/cluster_options.h"
#include "cli/grammar/svg_option.h"
#include "cli/output/files/output_file.h"
#include "cli/output/plans/plan_figures.h"
#include "cli/output/terminal/readable.h"
#include "controller/planner/amount.h"
#include "controller/planner/answer/layout_plan.h"
#include "controller/planner/device_rates.h"
#include "controller/planner/run_cost.h"
#include "controller/planner/run_estimate.h"
#include "proto/layout/layout_text.h"
#include "proto/model/model_size.h"
#include "proto/support/status_macros.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

// The estimate of a run, without its price.
struct Run {
  std::string what;  // Text for the heading.
  planner::Cluster cluster;
  double flops = 0;  // Counts attention if the model is known. Otherwise 6 N D.
  double seconds = 0;
  double mfu = 0;
  std::string layout;         // Empty if there is no model.
  std::string layout_origin;  // "the best", or "the job file's".
};

planner::LayoutChoice LayoutChoiceOf(const std::string& layout) {
  if (layout == "best") return planner::LayoutChoice::kBest;
  return layout == "written" ? planner::LayoutChoice::kWritten
                             : planner::LayoutChoice::kWrittenIfPossible;
}

absl::StatusOr<Run> PlannedRun(const CostOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const planner::LayoutPlan plan,
      PlanFor(options.job, options.cluster, LayoutChoiceOf(options.layout), context));
  PrintPlanNotes(plan, context.console);
  if (plan.problem.has_value()) return absl::UnknownError(planner::ProblemText(*plan.problem));
  const planner::RunEstimate estimate =
      planner::EstimateOf(plan.config, plan.cluster, plan.Planned().step.Total());
  return Run{.what = absl::StrCat(OneLine(plan.config.name), ", ",
                                  planner::AmountText(estimate.tokens), " tokens"),
             .cluster = plan.cluster,
             .flops = estimate.tokens *
                      TrainingFlopsPerToken(plan.config.model, plan.config.train.seq_length),
             .seconds = estimate.days * 86400,
             .mfu = estimate.mfu,
             .layout = LayoutText(plan.Planned().layout),
             .layout_origin = plan.is_written ? "the job file's" : "the best"};
}

absl::StatusOr<Run> GivenRun(const CostOptions& options, Context& context) {
  Run run;
  TRAINYARD_ASSIGN_OR_RETURN(const double parameters,
                             ReadAmountOption("--parameters", options.parameters));
  TRAINYARD_ASSIGN_OR_RETURN(const double tokens, ReadAmountOption("--tokens", options.tokens));
  if (parameters == 0 || tokens == 0) {
    return absl::InvalidArgumentError(
        "name a job file or recipe, or pass --parameters and --tokens");
  }
  TRAINYARD_ASSIGN_OR_RETURN(const planner::ClusterRequest request,
                             ClusterRequestOf(options.cluster));
  TRAINYARD_ASSIGN_OR_RETURN(run.cluster, planner::ClusterFor(request, 1));
  PrintDeviceNote(run.cluster, context.console);
  const double peak = planner::PeakFlops(Precision::kBf16, *run.cluster.device);
  if (peak == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the ", std::string(run.cluster.device->rating->name),
                     " does not support bf16; choose another --device"));
  }
  run.what = absl::StrCat(planner::AmountText(parameters), " parameters, ",
                          planner::AmountText(tokens), " tokens");
  run.flops = 6 * parameters * tokens;
  run.mfu = options.mfu;
  run.seconds = run.flops / (peak * options.mfu * static_cast<double>(run.cluster.devices()));
  return run;
}

std::string Line(const std::string& label, const std::string& value) {
  return absl::StrFormat("  %-24s%s\n", label, value);
}

std::string SecondsText(double seconds) {
  if (!std::isfinite(seconds) || seconds > 1e12) return "never";
  return ShortDuration(std::llround(seconds * 1000));
}

std::string DaysText(double seconds) {
  if (!std::isfinite(seconds)) return "never ends";
  return absl::StrCat(NumberText(seconds / 86400, 4), " days");
}

struct Priced {
  Run run;
  planner::Reliability reliability;
  double device_hours = 0;  // Includes interruptions and checkpoints.
};

std::string PricedText(const Priced& priced, const CostOptions& options) {
  const Run& run = priced.run;
  const planner::Reliability& known = priced.reliability;
  const auto devices = static_cast<double>(run.cluster.devices());
  return absl::StrCat(
      "Cost of ", run.what, " on ", planner::ClusterText(run.cluster), "\n",
      run.layout.empty()
          ? ""
          : Line("layout", absl::StrCat(run.layout, ", ", run.layout_origin, " layout")),
      Line("operations", absl::StrCat(NumberText(run.flops, 4), " FLOP",
                                      run.layout.empty() ? " (6 N D)" : " (with attention)")),
      Line("MFU", absl::StrFormat("%.1f %%", 100 * run.mfu)),
      Line("training steps",
           absl::StrCat(DaysText(run.seconds), "; ", CompactNumber(run.seconds / 3600 * devices),
                        " GPU-hours")),
      Line("time between failures", SecondsText(known.mean_seconds_between)),
      Line("checkpoint every",
           absl::StrCat(SecondsText(known.interval_seconds), " (optimum by Young's formula: ",
                        SecondsText(planner::YoungInterval(options.checkpoint_seconds,
                                                           known.mean_seconds_between)),
                        ", by Daly's: ",
                        SecondsText(planner::DalyInterval(options.checkpoint_seconds,
                                                          known.mean_seconds_between)),
                        ")")),
      Line("expected failures", NumberText(known.failures, 3)),
      Line("goodput", absl::StrFormat("%.2f %%", 100 * known.goodput)),
      Line("total", absl::StrCat(DaysText(known.seconds), "; ", CompactNumber(priced.device_hours),
                                 " GPU-hours")),
      "\n");
}

std::string DollarsText(double low, double high) {
  const auto whole = [](double dollars) { return absl::StrFormat("%.0f", dollars); };
  return low == high ? whole(low) : absl::StrCat(whole(low), "-", whole(high));
}

Row PriceRow(const planner::CloudPrice& price, double device_hours) {
  const std::string rate = price.low == price.high
                               ? absl::StrFormat("%.2f", price.low)
                               : absl::StrFormat("%.2f-%.2f", price.low, price.high);
  return {{std::string(price.cloud), rate,
           DollarsText(price.low * device_hours, price.high * device_hours),
           std::string(price.date), std::string(price.source)},
          std::string(price.cloud),
          {{"cloud", std::string(price.cloud)},
           {"dollars_per_gpu_hour", {price.low, price.high}},
           {"dollars", {price.low * device_hours, price.high * device_hours}},
           {"date", std::string(price.date)},
           {"source", std::string(price.source)}}};
}

Listing PriceListing(const Priced& priced, const CostOptions& options) {
  Listing listing;
  listing.columns = {{"CLOUD"}, {"$/GPU-HOUR", true}, {"DOLLARS", true}, {"PRICE OF"}, {"SOURCE"}};
  if (options.price > 0) {
    listing.rows.push_back(
        PriceRow({"--price", "", options.price, options.price, "now", "the command line"},
                 priced.device_hours));
    return listing;
  }
  for (const planner::CloudPrice& price :
       planner::PricesOf(priced.run.cluster.device->rating->name)) {
    listing.rows.push_back(PriceRow(price, priced.device_hours));
  }
  return listing;
}

nlohmann::json NumberOrNull(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json TextOrNull(const std::string& text) {
  return text.empty() ? nlohmann::json(nullptr) : nlohmann::json(text);
}

nlohmann::json CostDocument(const Priced& priced, const Listing& prices) {
  nlohmann::json document = {{"device", std::string(priced.run.cluster.device->rating->name)},
                             {"devices", priced.run.cluster.devices()},
                             {"layout", TextOrNull(priced.run.layout)},
                             {"layout_origin", TextOrNull(priced.run.layout_origin)},
                             {"flops", priced.run.flops},
                             {"mfu", priced.run.mfu},
                             {"days_of_steps", priced.run.seconds / 86400},
                             {"days", NumberOrNull(priced.reliability.seconds / 86400)},
                             {"device_hours", NumberOrNull(priced.device_hours)},
                             {"seconds_between_failures", priced.reliability.mean_seconds_between},
                             {"checkpoint_interval_seconds", priced.reliability.interval_seconds},
                             {"failures", NumberOrNull(priced.reliability.failures)},
                             {"goodput", priced.reliability.goodput},
                             {"prices", nlohmann::json::array()}};
  for (const Row& row : prices.rows) document["prices"].push_back(row.document);
  return document;
}

void AddFailureOptions(CLI::App& command, CostOptions& options) {
  const CLI::Range seconds(0.001, 1e9);
  command
      .add_option(
          "--gpu-hours-per-failure", options.gpu_hours_per_failure,
          "mean GPU-hours between unplanned stops (default: 50,700, as reported for LLaMA 3)")
      ->check(CLI::Range(1e-3, 1e12));
  command
      .add_option("--checkpoint-seconds", options.checkpoint_seconds,
                  "seconds that training pauses for a checkpoint (default: 30)")
      ->check(seconds);
  command
      .add_option("--restart-seconds", options.restart_seconds,
                  "seconds from a stop until training resumes (default: 300)")
      ->check(seconds);
  command
      .add_option("--checkpoint-interval", options.checkpoint_interval,
                  "seconds between checkpoints (default: the interval with the best goodput)")
      ->check(seconds);
}

}  // namespace

void AddCost(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<CostOptions>();
  CLI::App* command =
      parent.add_subcommand("cost", "Estimate the days, GPU-hours, failures and dollars of a run");
  AddJobFileOptions(*command, options->job)->required(false);
  command->add_option("--parameters", options->parameters,
                      "number of parameters, such as 7B; needed if there is no job file");
  command->add_option("--tokens", options->tokens,
                      "number of tokens, such as 2T; needed if there is no job file");
  AddClusterOptions(*command, options->cluster)->required();
  command
      ->add_option("--layout", options->layout,
                   "layout to use: best, or written (the layout in the job file); default: written "
                   "if that layout can run, else best")
      ->check(CLI::IsMember({"best", "written"}));
  command
      ->add_option("--mfu", options->mfu, "MFU to assume if there is no job file (default: 0.45)")
      ->check(CLI::Range(0.001, 1.0));
  command
      ->add_option("--price", options->price,
                   "price of a GPU-hour in dollars (default: the prices of known clouds)")
      ->check(CLI::Range(1e-4, 1e6));
  AddSvgOption(*command, options->svg,
               "write a chart of goodput as a function of the checkpoint interval");
  AddFailureOptions(*command, *options);
  grammar.runners[command] = [options](Context& context) { return RunCost(*options, context); };
}

Outcome RunCost(const CostOptions& options, Context& context) {
  const bool has_sizes = !options.parameters.empty() || !options.tokens.empty();
  if (has_sizes && !options.job.file.empty()) {
    return absl::InvalidArgumentError(
        "--parameters and --tokens cannot be combined with a job file; to change its number of "
        "tokens, pass "
        "--set train.tokens=2T");
  }
  Priced priced;
  TRAINYARD_ASSIGN_OR_RETURN(priced.run, options.job.file.empty() ? GivenRun(options, context)
                                                                  : PlannedRun(options, context));
  const auto devices = static_cast<double>(priced.run.cluster.devices());
  const planner::Interruptions interruptions = {
      options.gpu_hours_per_failure, options.checkpoint_seconds, options.restart_seconds};
  priced.reliability = planner::ReliabilityOf(priced.run.seconds, devices,
                                              options.checkpoint_interval, interruptions);
  priced.device_hours = priced.reliability.seconds / 3600 * devices;
  if (!options.svg.empty()) {
    TRAINYARD_RETURN_IF_ERROR(WriteOutputFile(
        options.svg, GoodputSvg(devices, priced.reliability, interruptions), context.console));
  }
  const Listing prices = PriceListing(priced, options);
  if (!IsTable(context.format)) {
    PrintDocument(CostDocument(priced, prices), "", context.format, context.console);
    return ExitCode::kOk;
  }
  *context.console.out << PricedText(priced, options);
  PrintListing(prices, context.format, context.console);
  if (prices.rows.empty()) {
    PrintNote(context.console, absl::StrCat("no price is known for the ",
                                            std::string(priced.run.cluster.device->rating->name),
                                            "; pass the price of a GPU-hour with --price DOLLARS"));
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
