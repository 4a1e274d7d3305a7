#include "cli/commands/jobs/reading/metrics.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <ostream>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/jobspec/fields/schema.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// The maximum number of table rows, chosen so that a table fits on a screen.
constexpr int kTableBuckets = 20;

// Rejects names of series that the job does not have, because an empty column would look like
// missing data.
absl::Status CheckKeys(const std::vector<std::string>& asked, const std::vector<std::string>& known,
                       const std::string& job) {
  for (const std::string& key : asked) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string nearest = NearestName(key, known);
    return absl::NotFoundError(
        absl::StrCat("job ", job, " has no metric `", key, "`",
                     nearest.empty() ? "" : absl::StrCat("; did you mean `", nearest, "`?"),
                     known.empty() ? "\nthe job has not reported any metrics yet"
                                   : absl::StrCat("\nthe job has ", absl::StrJoin(known, ", "))));
  }
  return absl::OkStatus();
}

bool IsMain(const std::string& key) {
  static const std::set<std::string> kMain = {telemetry::kLoss,         telemetry::kGradNorm,
                                              telemetry::kLearningRate, telemetry::kTokensPerSecond,
                                              telemetry::kMfu,          telemetry::kStepSeconds,
                                              telemetry::kMoeBalanceMax};
  return kMain.contains(key) || key.ends_with(telemetry::EvaluationLoss(""));
}

// Returns the series for a table that fits on a screen: loss, loss of each evaluation set, gradient
// norm, learning rate and speed. If the job has none of these, returns all of its series.
std::vector<std::string> MainKeys(std::vector<std::string> known, const std::string& job,
                                  Console& console) {
  const auto main = std::stable_partition(known.begin(), known.end(), IsMain);
  const auto others = known.end() - main;
  if (main == known.begin() || others == 0) return known;
  known.erase(main, known.end());
  PrintNote(console, absl::StrCat(others, " more metrics; show all with `trainyard metrics ", job,
                                  " --all`, or list them with `-o name`"));
  return known;
}

absl::StatusOr<std::vector<std::string>> ChooseKeys(const MetricsOptions& options,
                                                    const std::string& job, Context& context) {
  v1::ListKeysRequest request;
  request.set_job(job);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListKeysResponse response, context.client.ListKeys(request));
  std::vector<std::string> known(response.keys().begin(), response.keys().end());
  TRAINYARD_RETURN_IF_ERROR(CheckKeys(options.keys, known, job));
  if (!options.keys.empty()) return options.keys;
  if (IsTable(context.format) && !options.all) {
    known = MainKeys(std::move(known), options.job, context.console);
  }
  if (known.size() > kMaxSeriesKeys) {
    PrintNote(context.console, absl::StrCat("the first ", kMaxSeriesKeys, " of ", known.size(),
                                            " metrics are shown; name the metrics that you need"));
    known.resize(kMaxSeriesKeys);
  }
  return known;
}

// Returns one row per step at which at least one series has a point.
Listing SeriesListing(const v1::GetSeriesResponse& response, bool exact) {
  Listing listing;
  listing.columns = {{"STEP", true}, {"TIME", false, true}};
  struct Point {
    Timestamp time_ms = 0;
    std::map<int, double> values;
  };
  std::map<int64_t, Point> points;
  for (int i = 0; i < response.series_size(); ++i) {
    const v1::Series& series = response.series(i);
    listing.columns.push_back({series.key(), true});
    const int size = std::min(series.steps_size(), series.last_size());
    for (int j = 0; j < size; ++j) {
      Point& point = points[series.steps(j)];
      point.values[i] = series.last(j);
      if (j < series.times_ms_size()) point.time_ms = series.times_ms(j);
    }
  }
  for (const auto& [step, point] : points) {
    Row row{{absl::StrCat(step), IsoTime(point.time_ms)}, absl::StrCat(step), {}};
    for (int i = 0; i < response.series_size(); ++i) {
      const auto value = point.values.find(i);
      const bool absent = value == point.values.end();
      row.cells.push_back(absent  ? (exact ? "" : kNothing)
                          : exact ? DumpJson(value->second, -1)
                                  : NumberText(value->second));
    }
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

// If points were merged, prints a note with the command that shows all points.
void NoteThinning(const v1::GetSeriesResponse& response, const std::string& job, Console& console) {
  int64_t points = 0, shown = 0;
  for (const v1::Series& series : response.series()) {
    const int64_t all = std::accumulate(series.counts().begin(), series.counts().end(), int64_t{0});
    if (all <= points) continue;
    points = all;
    shown = series.counts_size();
  }
  if (points == shown) return;
  PrintNote(console,
            absl::StrCat("showing ", shown, " of ", points,
                         " points, because each line shows the last point of a range of steps. "
                         "Show all points with `trainyard metrics ",
                         job, " --buckets 0`"));
}

void PrintSeries(const v1::GetSeriesResponse& response, Context& context) {
  if (context.format == OutputFormat::kJson || context.format == OutputFormat::kYaml) {
    PrintDocument(StableJson(response)["series"], "", context.format, context.console);
  } else if (context.format == OutputFormat::kName) {
    for (const v1::Series& series : response.series()) *context.console.out << series.key() << "\n";
  } else {
    PrintListing(SeriesListing(response, context.format == OutputFormat::kCsv), context.format,
                 context.console);
  }
}

}  // namespace

void AddMetrics(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<MetricsOptions>();
  CLI::App* command = parent.add_subcommand("metrics", "Print a job's metric series by step");
  command->add_option("job", options->job, kJobOrAttemptHelp)->required();
  CLI::Option* keys = command->add_option("key", options->keys,
                                          "names of metrics, such as `loss lr` (default: the main "
                                          "metrics in tables, all metrics in other formats)");
  command->add_flag("--all", options->all, "show every metric")->excludes(keys);
  command->add_option("--from", options->from_step, "first step to print")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--to", options->to_step, "last step to print")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--buckets", options->buckets,
                   "maximum number of points; 0 prints all points (default: 20 in tables, else 0)")
      ->check(CLI::Range(0, 10000));
  grammar.runners[command] = [options](Context& context) { return RunMetrics(*options, context); };
}

Outcome RunMetrics(const MetricsOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const JobReference reference, ParseJobReference(options.job));
  if (options.keys.size() > kMaxSeriesKeys) {
    return absl::InvalidArgumentError(
        absl::StrCat("at most ", kMaxSeriesKeys, " metrics can be shown at once"));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> keys,
                             ChooseKeys(options, reference.job, context));
  if (keys.empty()) {
    PrintSeries({}, context);
    PrintNote(context.console, absl::StrCat("job ", reference.job, " has reported no metrics yet"));
    return ExitCode::kOk;
  }
  v1::GetSeriesRequest request;
  request.set_job(reference.job);
  request.mutable_keys()->Add(keys.begin(), keys.end());
  request.set_from_step(options.from_step);
  request.set_to_step(options.to_step);
  request.set_attempt(reference.attempt);
  const int standard = IsTable(context.format) ? kTableBuckets : 0;
  request.set_buckets(options.buckets >= 0 ? options.buckets : standard);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetSeriesResponse response,
                             context.client.GetSeries(request));
  PrintSeries(response, context);
  if (context.format != OutputFormat::kName) {
    NoteThinning(response, options.job, context.console);
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
