#include "cli/commands/jobs/reading/export.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <ostream>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/files/tensorboard_file.h"
#include "cli/output/terminal/readable.h"
#include "cli/output/terminal/table.h"
#include "proto/contract/limits.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/status_macros.h"
#include "proto/text/number_text.h"

namespace trainyard::cli {
namespace {

constexpr char kTensorboard[] = "tensorboard";
constexpr char kCsv[] = "csv";
constexpr char kJsonLines[] = "jsonl";

// Series of one request. Each may have a point for each step of the run.
constexpr int kSeriesAtOnce = 8;

// Calls `write` for each series, with all of its points.
absl::Status ForEachSeries(const JobReference& reference, Context& context,
                           const std::function<void(const v1::Series&)>& write) {
  v1::ListKeysRequest listed;
  listed.set_job(reference.job);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ListKeysResponse keys, context.client.ListKeys(listed));
  if (keys.keys().empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", reference.job, " has reported no metrics yet"));
  }
  static_assert(kSeriesAtOnce <= kMaxSeriesKeys);
  for (int begin = 0; begin < keys.keys_size(); begin += kSeriesAtOnce) {
    v1::GetSeriesRequest request;
    request.set_job(reference.job);
    request.set_attempt(reference.attempt);
    const int end = std::min(begin + kSeriesAtOnce, keys.keys_size());
    for (int i = begin; i < end; ++i) request.add_keys(keys.keys(i));
    TRAINYARD_ASSIGN_OR_RETURN(const v1::GetSeriesResponse response,
                               context.client.GetSeries(request));
    for (const v1::Series& series : response.series()) write(series);
  }
  return absl::OkStatus();
}

using PointWriter = std::function<void(std::ostream&, const std::string& key, int64_t step,
                                       Timestamp time_ms, double value)>;

void WriteCsvPoint(std::ostream& out, const std::string& key, int64_t step, Timestamp time_ms,
                   double value) {
  out << step << "," << IsoTime(time_ms) << "," << CsvField(key) << ","
      << (std::isfinite(value) ? NumberText(value) : NotFiniteText(value)) << "\n";
}

void WriteJsonPoint(std::ostream& out, const std::string& key, int64_t step, Timestamp time_ms,
                    double value) {
  nlohmann::json point = {{telemetry::kStep, step},
                          {"time", IsoTime(time_ms)},
                          {telemetry::kMetric, key},
                          {"value", value}};
  // JSON has no NaN.
  if (!std::isfinite(value)) point["value"] = NotFiniteText(value);
  out << DumpJson(point, -1) << "\n";
}

void WritePoints(const v1::Series& series, const PointWriter& write, std::ostream& out) {
  const int size = std::min(series.steps_size(), series.last_size());
  for (int i = 0; i < size; ++i) {
    const Timestamp time_ms = i < series.times_ms_size() ? series.times_ms(i) : 0;
    write(out, series.key(), series.steps(i), time_ms, series.last(i));
  }
}

// Returns the path of the file to write; creates the directory of an event file.
absl::StatusOr<std::string> PathOf(const ExportMetricsOptions& options, const JobReference& job,
                                   const Console& console) {
  if (options.format != kTensorboard) return options.out;
  if (options.out.empty()) {
    return absl::InvalidArgumentError(
        "--to tensorboard writes a file; name its directory with --out DIR");
  }
  std::error_code error;
  std::filesystem::create_directories(options.out, error);
  if (error) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot create the directory ", options.out, ": ", error.message()));
  }
  // TensorBoard reads only files whose names contain "tfevents".
  std::string name = job.job;
  std::ranges::replace(name, '/', '_');
  return absl::StrCat(options.out, "/events.out.tfevents.", console.Now() / 1000, ".", name);
}

}  // namespace

void AddExport(CLI::App& parent, Grammar& grammar) {
  CLI::App* noun = parent.add_subcommand("export", "Write data of a job for other tools");
  noun->require_subcommand(1);
  const auto options = std::make_shared<ExportMetricsOptions>();
  CLI::App* command = noun->add_subcommand("metrics", "Write all metrics of a job");
  command->add_option("job", options->job, kJobOrAttemptHelp)->required();
  command->add_option("--to", options->format, "format: tensorboard, csv or jsonl")
      ->required()
      ->check(CLI::IsMember({kTensorboard, kCsv, kJsonLines}));
  command->add_option("--out", options->out,
                      "file to write (default: stdout); for tensorboard, the directory of the "
                      "event file");
  grammar.runners[command] = [options](Context& context) {
    return RunExportMetrics(*options, context);
  };
}

Outcome RunExportMetrics(const ExportMetricsOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const JobReference reference, ParseJobReference(options.job));
  TRAINYARD_ASSIGN_OR_RETURN(const std::string path, PathOf(options, reference, context.console));
  std::ofstream file;
  if (!path.empty()) {
    file.open(path, std::ios::binary | std::ios::trunc);
    if (!file) {
      return absl::InvalidArgumentError(absl::StrCat("cannot write ", path, ": ", strerror(errno)));
    }
  }
  std::ostream& out = path.empty() ? *context.console.out : file;
  const bool is_tensorboard = options.format == kTensorboard;
  if (is_tensorboard) {
    out << TensorboardFileStart(static_cast<double>(context.console.Now()) / 1e3);
  }
  if (options.format == kCsv) out << "step,time,metric,value\n";
  const PointWriter write = options.format == kCsv ? WriteCsvPoint : WriteJsonPoint;
  TRAINYARD_RETURN_IF_ERROR(ForEachSeries(reference, context, [&](const v1::Series& series) {
    if (is_tensorboard) {
      out << TensorboardSeries(series);
    } else {
      WritePoints(series, write, out);
    }
  }));
  out.flush();
  if (!out) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot write ", path, "; free disk space, or choose another --out"));
  }
  if (!path.empty()) PrintNote(context.console, absl::StrCat("wrote ", path));
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
