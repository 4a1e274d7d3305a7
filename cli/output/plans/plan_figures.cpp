#include "cli/output/plans/plan_figures.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/output/files/svg_chart.h"
#include "cli/output/plans/plan_view.h"
#include "cli/output/terminal/readable.h"
#include "controller/planner/amount.h"
#include "controller/planner/figures.h"
#include "controller/planner/scaling_law.h"
#include "proto/text/duration_text.h"

namespace trainyard::cli {
namespace {

constexpr int kPointsOfLine = 120;

ChartLine LossOfSize(double parameters, double low, double high) {
  ChartLine line{.label = absl::StrCat(planner::AmountText(parameters), " parameters")};
  for (const double flops : planner::EvenFactors(low, high, kPointsOfLine)) {
    const double tokens = flops / 6 / parameters;
    // Leaves out runs with fewer tokens than parameters. Such runs are unrealistic and would
    // compress the rest of the figure.
    if (tokens >= parameters) {
      line.points.push_back({flops, planner::LossOf(parameters, tokens)});
    }
  }
  return line;
}

}  // namespace

std::string StepTimeSvg(const planner::LayoutPlan& plan) {
  const planner::StepTime& step = plan.Planned().step;
  BarChart chart{.title = absl::StrCat("Step of ", OneLine(plan.config.name), " on ",
                                       planner::ClusterText(plan.cluster), ": ",
                                       absl::StrFormat("%.3f s", step.Total()))};
  for (const PlanPart& part : PartsOfStep(step)) {
    if (part.value <= 0) continue;
    chart.bars.push_back(
        {part.label, part.value,
         absl::StrFormat("%.3f s, %.1f %%", part.value, 100 * part.value / step.Total())});
  }
  return SvgOf(chart);
}

std::string ScalingSvg(double flops) {
  const planner::Optimum best = planner::LossMinimum(flops);
  const double low = flops / 1000, high = flops * 100;
  LineChart chart{
      .title = absl::StrCat("Loss as a function of compute, near ", NumberText(flops, 3), " FLOP"),
      .x = {"compute (FLOP)", /*is_logarithmic=*/true},
      .y = {"loss (nats per token)"}};
  ChartLine least{.label = "best loss at each budget"};
  for (const double budget : planner::EvenFactors(low, high, kPointsOfLine)) {
    least.points.push_back({budget, planner::LossMinimum(budget).loss});
  }
  chart.lines.push_back(std::move(least));
  for (const double factor : {0.1, 1.0, 10.0}) {
    chart.lines.push_back(LossOfSize(factor * best.parameters, low, high));
  }
  chart.marks.push_back({absl::StrCat("best: ", planner::AmountText(best.parameters),
                                      " parameters on ", planner::AmountText(best.tokens),
                                      " tokens, loss ", absl::StrFormat("%.3f", best.loss)),
                         {flops, best.loss}});
  return SvgOf(chart);
}

std::string GoodputSvg(double gpus, const planner::Reliability& chosen,
                       const planner::Interruptions& interruptions) {
  const auto goodput = [&](double interval) {
    return 100 * planner::ReliabilityOf(1, gpus, interval, interruptions).goodput;
  };
  const double best =
      planner::DalyInterval(interruptions.checkpoint_seconds, chosen.mean_seconds_between);
  LineChart chart{.title = "Goodput as a function of the checkpoint interval",
                  .x = {"seconds between checkpoints", /*is_logarithmic=*/true},
                  .y = {"goodput (%)"}};
  ChartLine line{.label = absl::StrCat(
                     "one failure every ", NumberText(chosen.mean_seconds_between / 3600, 3),
                     " h, ", NumberText(interruptions.checkpoint_seconds, 3), " s per checkpoint, ",
                     NumberText(interruptions.restart_seconds, 3), " s per restart")};
  for (const double interval : planner::EvenFactors(best / 30, best * 30, kPointsOfLine)) {
    line.points.push_back({interval, goodput(interval)});
  }
  chart.lines.push_back(std::move(line));
  const auto mark = [&](const char* name, double interval) {
    chart.marks.push_back(
        {absl::StrFormat("%s: %s, %.2f %%", name, ShortDuration(std::llround(interval * 1000)),
                         goodput(interval)),
         {interval, goodput(interval)}});
  };
  mark("best", best);
  if (std::abs(chosen.interval_seconds / best - 1) > 0.01) mark("chosen", chosen.interval_seconds);
  return SvgOf(chart);
}

}  // namespace trainyard::cli
