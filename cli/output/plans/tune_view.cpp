#include "cli/output/plans/tune_view.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/output/terminal/readable.h"
#include "controller/planner/figures.h"
#include "controller/planner/run_estimate.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/layout/layout_text.h"
#include "proto/memory/memory_advice.h"
#include "proto/rules/attention_rules.h"

namespace trainyard::cli {
namespace {

using planner::TuneReason;
using planner::TuneResult;

// Returns 0 if there is no prediction.
double PredictedRate(const TuneReport& report, const TuneResult& result) {
  if (!report.has_predictions) return 0;
  const RunConfig config = planner::WithCandidate(report.config, result.candidate);
  return planner::EstimateOf(config, report.cluster, result.candidate.predicted.Total())
      .tokens_per_second;
}

bool IsGpu(const TuneReport& report) { return report.config.resources.device == DeviceKind::kGpu; }

std::string SignedPercent(double part) { return absl::StrFormat("%+.1f %%", 100 * part); }

std::string NoteText(const TuneReport& report, size_t index) {
  const TuneResult& result = report.results[index];
  std::string note;
  switch (result.candidate.reason) {
    case TuneReason::kOwn:
      note = "unchanged";
      break;
    case TuneReason::kBeyondMemory:
      note = "predicted not to fit";
      break;
    case TuneReason::kPredicted:
    case TuneReason::kAttention:
      break;
  }
  const auto add = [&note](const std::string& more) {
    absl::StrAppend(&note, note.empty() ? "" : "; ", more);
  };
  if (result.out_of_memory) {
    add("out of memory");
  } else if (!result.Ran()) {
    add(absl::StrCat("failed: ", CutToWidth(OneLine(result.failure), 80)));
  }
  if (report.chosen == index) add("chosen");
  return note;
}

// All digits, for CSV; "" for 0, which means unknown.
std::string KnownText(double value) { return value > 0 ? DumpJson(value, -1) : ""; }

nlohmann::json NumberOrNull(double value) {
  return value > 0 ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json JobOrNull(const TuneReport& report, size_t index) {
  return report.jobs.empty() ? nlohmann::json(nullptr) : nlohmann::json(report.jobs[index]);
}

nlohmann::json ResultDocument(const TuneReport& report, size_t index) {
  const TuneResult& result = report.results[index];
  const LayoutConfig& layout = result.candidate.layout;
  const double predicted = PredictedRate(report, result);
  nlohmann::json document = {
      {"setting", planner::CandidateText(report.config, result.candidate)},
      {"layout", LayoutText(layout)},
      {"micro_batch", layout.micro_batch},
      {"zero", layout.zero},
      {telemetry::kAttentionBackend, std::string(NameOf(AttentionBackendOf(planner::WithCandidate(
                                         report.config, result.candidate))))},
      {"job", JobOrNull(report, index)},
      {"ran", result.Ran()},
      {"out_of_memory", result.out_of_memory},
      {"failure", nullptr},
      {telemetry::kTokensPerSecond, NumberOrNull(result.tokens_per_second)},
      {telemetry::kStepSeconds, NumberOrNull(result.step_seconds)},
      {telemetry::kMfu, NumberOrNull(result.mfu)},
      {telemetry::kMemoryBytes, NumberOrNull(result.memory_bytes)},
      {"predicted_tokens_per_second", NumberOrNull(predicted)},
      {"predicted_memory_bytes",
       NumberOrNull(IsGpu(report) ? result.candidate.memory.Tensors() : 0)},
      {"note", NoteText(report, index)},
      {"chosen", report.chosen == index}};
  if (!result.Ran()) document["failure"] = result.failure;
  return document;
}

std::string LimitText(const TuneReport& report) {
  const planner::MemoryLimit limit = planner::FindMemoryLimit(report.results);
  std::string text;
  if (limit.largest != nullptr) {
    absl::StrAppend(&text, "Memory: the largest run used ",
                    GigabytesText(limit.largest->memory_bytes), " (",
                    planner::CandidateText(report.config, limit.largest->candidate), ")\n");
  }
  if (limit.smallest_failed != nullptr) {
    const planner::TuneCandidate& failed = limit.smallest_failed->candidate;
    absl::StrAppend(&text, "        the smallest run that ran out of memory was predicted to use ",
                    GigabytesText(failed.memory.Tensors()), " (",
                    planner::CandidateText(report.config, failed), ")\n");
  }
  return text;
}

nlohmann::json LimitDocument(const TuneReport& report) {
  const planner::MemoryLimit limit = planner::FindMemoryLimit(report.results);
  const auto bytes = [&](const TuneResult* result, bool measured) -> nlohmann::json {
    if (result == nullptr || !IsGpu(report)) return nullptr;
    return std::llround(measured ? result->memory_bytes : result->candidate.memory.Tensors());
  };
  return {{"largest_bytes", bytes(limit.largest, true)},
          {"failed_predicted_bytes", bytes(limit.smallest_failed, false)}};
}

}  // namespace

Listing TuneListing(const TuneReport& report) {
  Listing listing;
  listing.columns = {{"SETTING"},         {"TOKENS/S", true}, {"MFU", true}, {"MEMORY", true},
                     {"PREDICTED", true}, {"ERROR", true},    {"NOTE"}};
  for (size_t i = 0; i < report.results.size(); ++i) {
    const TuneResult& result = report.results[i];
    const double predicted = PredictedRate(report, result);
    const bool compares = predicted > 0 && result.Ran();
    const double error = compares ? predicted / result.tokens_per_second - 1 : 0;
    const std::string setting = planner::CandidateText(report.config, result.candidate);
    const std::string note = NoteText(report, i);
    Row row;
    row.cells = {setting,
                 result.Ran() ? CompactNumber(result.tokens_per_second) : kNothing,
                 result.mfu > 0 ? planner::PercentText(result.mfu, 1) : kNothing,
                 result.memory_bytes > 0 ? GigabytesText(result.memory_bytes) : kNothing,
                 predicted > 0 ? CompactNumber(predicted) : kNothing,
                 compares ? SignedPercent(error) : kNothing,
                 TextOrNothing(note)};
    row.exact_cells = {setting,
                       KnownText(result.Ran() ? result.tokens_per_second : 0),
                       KnownText(result.mfu),
                       KnownText(result.memory_bytes),
                       KnownText(predicted),
                       compares ? NumberText(error) : "",
                       note};
    row.name = report.jobs.empty() ? setting : absl::StrCat(report.jobs[i]);
    row.document = ResultDocument(report, i);
    listing.rows.push_back(std::move(row));
  }
  return listing;
}

std::string TuneSummary(const TuneReport& report) {
  std::string text = "\n";
  if (report.chosen.has_value()) {
    const TuneResult& chosen = report.results[*report.chosen];
    const TuneResult& own = report.results.front();
    absl::StrAppend(&text, "Chosen: ", planner::CandidateText(report.config, chosen.candidate));
    if (own.Ran() && *report.chosen != 0) {
      absl::StrAppend(&text, ", ",
                      SignedPercent(chosen.tokens_per_second / own.tokens_per_second - 1),
                      " tokens/s compared to the unchanged settings");
    }
    absl::StrAppend(&text, "\n");
  } else {
    absl::StrAppend(&text, "Chosen: none, because every run failed\n");
  }
  absl::StrAppend(&text, LimitText(report));
  if (report.too_large > 0) {
    absl::StrAppend(&text, "Not measured: ", report.too_large, " of ", report.considered,
                    " settings, because their predicted memory use is too high\n");
  }
  for (const planner::Finding& finding : report.findings) {
    absl::StrAppend(&text, "Advice: ", finding.what, " (", finding.why,
                    ")\n        try: ", finding.right, "\n");
  }
  return text;
}

nlohmann::json TuneDocument(const TuneReport& report) {
  nlohmann::json document = {{"name", report.config.name},
                             {"device", std::string(report.cluster.device->rating->name)},
                             {"devices", report.cluster.devices()},
                             {"considered", report.considered},
                             {"too_large", report.too_large},
                             {"results", nlohmann::json::array()},
                             {"chosen", nullptr},
                             {"memory_limit", LimitDocument(report)},
                             {"substituted_data", nullptr},
                             {"findings", nlohmann::json::array()}};
  for (const Row& row : TuneListing(report).rows) document["results"].push_back(row.document);
  if (report.chosen.has_value()) document["chosen"] = document["results"][*report.chosen];
  if (!report.substituted_data.empty()) document["substituted_data"] = report.substituted_data;
  for (const planner::Finding& finding : report.findings) {
    document["findings"].push_back(
        {{"what", finding.what}, {"why", finding.why}, {"change", finding.right}});
  }
  return document;
}

std::string TuneOverlay(const TuneReport& report, const std::string& extends,
                        const std::string& header) {
  const planner::TuneCandidate& chosen = report.results[*report.chosen].candidate;
  std::string text = absl::StrCat("# ", header, "\nextends: ", extends, "\nlayout:\n");
  for (const auto& [key, value] : planner::SettingsOf(chosen)) {
    absl::StrAppend(&text, "  ", key, ": ", value, "\n");
  }
  if (chosen.attention != report.config.train.attention_backend) {
    absl::StrAppend(&text, "train:\n  ", telemetry::kAttentionBackend, ": ",
                    std::string(NameOf(chosen.attention)), "\n");
  }
  return text;
}

}  // namespace trainyard::cli
