#include "cli/commands/trials/extrapolate.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/client/job_reference.h"
#include "cli/commands/trials/trial_job.h"
#include "cli/grammar/amount_option.h"
#include "cli/grammar/option_help.h"
#include "cli/output/jobs/job_views.h"
#include "cli/output/terminal/readable.h"
#include "controller/planner/amount.h"
#include "controller/planner/figures.h"
#include "controller/planner/loss_forecast.h"
#include "controller/planner/run_cost.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/rules/schedule_spans.h"
#include "proto/support/gang_size.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// The maximum number of points per request. In a longer run, each point is the mean of adjacent
// losses.
constexpr int kLossBuckets = 10'000;

struct Extrapolation {
  v1::Job job;
  double tokens = 0;  // The requested number of tokens.
  double seen = 0;
  double last_loss = 0;
  planner::LossForecast forecast;
  double tokens_per_second = 0;
  double slots = 0;
  std::string device;  // Name of the GPU; empty if its prices are unknown.

  double SecondsLeft() const { return (tokens - seen) / tokens_per_second; }
  double DeviceHours() const { return SecondsLeft() / 3600 * slots; }
};

struct PriceRange {
  double low = 0;
  double high = 0;  // 0 if no price is known.
};

PriceRange PricesOf(const std::string& device) {
  PriceRange range;
  for (const planner::CloudPrice& price : planner::KnownPrices()) {
    if (price.device != device) continue;
    range.low = range.high == 0 ? price.low : std::min(range.low, price.low);
    range.high = std::max(range.high, price.high);
  }
  return range;
}

const v1::Series* FindSeries(const v1::GetSeriesResponse& response, const std::string& key) {
  const auto found = std::ranges::find(response.series(), key, &v1::Series::key);
  return found == response.series().end() ? nullptr : &*found;
}

std::vector<planner::LossPoint> PointsOf(const v1::Series& losses) {
  std::vector<planner::LossPoint> points;
  for (int i = 0; i < std::min(losses.x_size(), losses.last_size()); ++i) {
    const double loss = i < losses.mean_size() ? losses.mean(i) : losses.last(i);
    points.push_back({static_cast<double>(losses.x(i)), loss});
  }
  return points;
}

// Returns the median of the newer half of the rates, as the present rate.
double PresentRate(const v1::Series* rates) {
  if (rates == nullptr || rates->last().empty()) return 0;
  std::vector<double> values(rates->last().begin() + rates->last_size() / 2, rates->last().end());
  std::erase_if(values, [](double value) { return !(value > 0); });
  return planner::MedianOf(std::move(values));
}

// Returns 0 for jobs that run other programs, because their warm-up is unknown.
double WarmupTokens(const v1::JobSpec& spec) {
  if (!RunsOurTrainer(spec)) return 0;
  const RunConfig config = RunConfigOf(spec);
  return static_cast<double>(SpansOf(config.train, config.schedule).warmup_end) *
         static_cast<double>(config.train.seq_length);
}

// Returns the name of the job's GPU; "" if the slots are not GPUs of a known kind.
std::string DeviceOf(const v1::Job& job, Context& context) {
  const v1::Attempt* attempt = NewestAttempt(job);
  const RunConfig config = RunConfigOf(job.spec());
  const bool has_gpus = config.resources.device == DeviceKind::kGpu && attempt != nullptr &&
                        !attempt->ranks().empty();
  if (!has_gpus) return "";
  const absl::StatusOr<TrialCluster> slots = ClusterOfRank(attempt->ranks(0), config, context);
  if (!slots.ok() || slots->cluster.device == nullptr) return "";
  return std::string(slots->cluster.device->rating->name);
}

absl::StatusOr<v1::GetSeriesResponse> ReadSeries(const std::string& job, Context& context) {
  v1::GetSeriesRequest request;
  request.set_job(job);
  request.add_keys(telemetry::kLoss);
  request.add_keys(telemetry::kTokensPerSecond);
  request.set_axis(v1::SERIES_AXIS_TOKENS);
  request.set_buckets(kLossBuckets);
  return context.client.GetSeries(request);
}

absl::StatusOr<Extrapolation> Extrapolate(const ExtrapolateOptions& options, Context& context) {
  Extrapolation result;
  v1::GetJobRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job(), ParseWholeJob(options.job));
  TRAINYARD_ASSIGN_OR_RETURN(result.tokens, ReadAmountOption("--tokens", options.tokens));
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetJobResponse job, context.client.GetJob(request));
  result.job = job.job();
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetSeriesResponse response,
                             ReadSeries(absl::StrCat(result.job.id()), context));
  const std::string name = absl::StrCat("job ", result.job.id());
  const v1::Series* losses = FindSeries(response, telemetry::kLoss);
  if (losses == nullptr || losses->last().empty()) {
    return absl::FailedPreconditionError(absl::StrCat(
        name, " has not reported a loss yet\nwait until the job trains; `trainyard metrics ",
        result.job.id(), "` lists the metrics that the job reports"));
  }
  const std::vector<planner::LossPoint> points = PointsOf(*losses);
  if (points.empty() || points.back().tokens <= 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        name,
        " does not report how many tokens the model has seen\nreport the metric `tokens`, or "
        "set train.seq_length and train.global_batch in the job file"));
  }
  const planner::ForecastResult forecast =
      planner::ForecastLoss(points, WarmupTokens(result.job.spec()), result.tokens);
  if (!forecast.forecast.has_value()) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, " cannot be extrapolated: ", forecast.problem, "\n", forecast.advice));
  }
  result.forecast = *forecast.forecast;
  result.seen = points.back().tokens;
  result.last_loss = points.back().loss;
  result.tokens_per_second = PresentRate(FindSeries(response, telemetry::kTokensPerSecond));
  const v1::Attempt* attempt = NewestAttempt(result.job);
  const int gang_size = attempt == nullptr ? 0 : GangSize(*attempt);
  result.slots = gang_size > 0 ? gang_size : WorldSize(result.job.spec());
  result.device = DeviceOf(result.job, context);
  return result;
}

std::string FactLine(const std::string& label, const std::string& value) {
  return absl::StrFormat("  %-16s%s\n", label, value);
}

std::string TimeLines(const Extrapolation& result) {
  if (result.tokens_per_second == 0)
    return FactLine("tokens/s", "not reported, so the remaining time is unknown");
  std::string text =
      FactLine("tokens/s", absl::StrCat(CompactNumber(result.tokens_per_second),
                                        ", the median of the most recent half of the values"));
  absl::StrAppend(
      &text, FactLine("left", absl::StrCat(planner::AmountText(result.tokens - result.seen),
                                           " tokens: ", NumberText(result.SecondsLeft() / 86400, 3),
                                           " days, ", CompactNumber(result.DeviceHours()),
                                           result.device.empty() ? " slot-hours" : " GPU-hours")));
  const PriceRange prices = PricesOf(result.device);
  if (prices.high > 0) {
    absl::StrAppend(
        &text,
        FactLine("cost left", absl::StrFormat("$%s to $%s ($%.2f to $%.2f per GPU-hour; `trainyard "
                                              "cost` lists prices by cloud and includes failures)",
                                              CompactNumber(prices.low * result.DeviceHours()),
                                              CompactNumber(prices.high * result.DeviceHours()),
                                              prices.low, prices.high)));
  }
  return text;
}

std::string ExtrapolationText(const Extrapolation& result) {
  const planner::LossForecast& forecast = result.forecast;
  std::string law =
      absl::StrFormat("L = %.4g + %.4g / D^%.3f, fitted to %d losses", forecast.law.floor,
                      forecast.law.scale, forecast.law.exponent, forecast.points);
  if (forecast.exponent_at_bound) {
    absl::StrAppend(&law, "; the fitted exponent is at a limit of its range (",
                    NumberText(planner::kLeastExponent), " to ", NumberText(planner::kMostExponent),
                    "), so only the interval of the expected loss is reliable");
  }
  return absl::StrCat(
      "Job ", result.job.id(), " ", OneLine(result.job.name()), " at ",
      planner::AmountText(result.tokens), " tokens\n",
      FactLine("seen", absl::StrFormat("%s tokens, loss %.4f", planner::AmountText(result.seen),
                                       result.last_loss)),
      FactLine("law", law),
      FactLine("expected loss",
               absl::StrFormat(
                   "%.4f (95 %% interval: %.4f to %.4f); the loss varies by %.2g from step to step",
                   forecast.loss, forecast.low, forecast.high, forecast.noise)),
      TimeLines(result),
      FactLine("valid for", absl::StrFormat("the data, batch and learning rate of this run, up to "
                                            "%.3g times the tokens seen so far",
                                            result.tokens / result.seen)),
      forecast.is_far
          ? FactLine("caution",
                     absl::StrFormat("beyond %.3g times the tokens seen, the interval is valid "
                                     "only if the loss continues to follow the law",
                                     planner::kSafeTokenRatio))
          : "");
}

nlohmann::json ExtrapolationDocument(const Extrapolation& result) {
  const planner::LossForecast& forecast = result.forecast;
  nlohmann::json document = {{"job", result.job.id()},
                             {"name", result.job.name()},
                             {"tokens", result.tokens},
                             {"seen_tokens", result.seen},
                             {"loss", forecast.loss},
                             {"loss_low", forecast.low},
                             {"loss_high", forecast.high},
                             {"loss_noise", forecast.noise},
                             {"is_far", forecast.is_far},
                             {"law",
                              {{"floor", forecast.law.floor},
                               {"scale", forecast.law.scale},
                               {"exponent", forecast.law.exponent},
                               {"points", forecast.points},
                               {"exponent_at_bound", forecast.exponent_at_bound}}},
                             {telemetry::kTokensPerSecond, nullptr},
                             {"days_left", nullptr},
                             {"device_hours_left", nullptr},
                             {"dollars_left", nullptr}};
  if (result.tokens_per_second == 0) return document;
  document[telemetry::kTokensPerSecond] = result.tokens_per_second;
  document["days_left"] = result.SecondsLeft() / 86400;
  document["device_hours_left"] = result.DeviceHours();
  const PriceRange prices = PricesOf(result.device);
  if (prices.high > 0) {
    document["dollars_left"] = {prices.low * result.DeviceHours(),
                                prices.high * result.DeviceHours()};
  }
  return document;
}

}  // namespace

void AddExtrapolate(CLI::App& app, Grammar& grammar) {
  const auto options = std::make_shared<ExtrapolateOptions>();
  CLI::App* command = app.add_subcommand(
      "extrapolate",
      "Use the progress of a job to predict its loss, days and cost after more tokens");
  command->add_option("job", options->job, kJobHelp)->required();
  command->add_option("--tokens", options->tokens, "total tokens of the run, such as 85B")
      ->required();
  grammar.runners[command] = [options](Context& context) {
    return RunExtrapolate(*options, context);
  };
}

Outcome RunExtrapolate(const ExtrapolateOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const Extrapolation result, Extrapolate(options, context));
  if (IsTable(context.format)) {
    *context.console.out << ExtrapolationText(result);
  } else {
    PrintDocument(ExtrapolationDocument(result), absl::StrCat(result.job.id()), context.format,
                  context.console);
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
