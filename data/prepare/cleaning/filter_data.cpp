#include "data/prepare/cleaning/filter_data.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "data/documents/pod_text.h"
#include "data/filter/filter.h"
#include "data/prepare/cleaning/filter_stage.h"
#include "data/prepare/cleaning/stage_ending.h"
#include "data/prepare/cleaning/stage_settings.h"
#include "data/prepare/command/job.h"
#include "data/stages/run_directory.h"
#include "data/stages/run_stage.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

FilterSummary SummaryOf(const FilterOptions& options, const Job& job, const Filter& filter,
                        const RunTotals& totals) {
  FilterSummary summary;
  summary.directory = options.out;
  summary.files = static_cast<int64_t>(job.files.size());
  summary.documents_in = totals.documents_in();
  summary.documents_out = totals.documents_out();
  summary.bytes_in = totals.bytes_in();
  summary.bytes_out = totals.bytes_out();
  std::set<std::string> named;
  for (const std::string& name : filter.rule_names()) {
    // Joined presets may contain rules of the same name, which share a row.
    if (!named.insert(name).second) continue;
    FilteredRule rule = {name};
    if (const auto found = totals.dropped().find(name); found != totals.dropped().end()) {
      rule.documents = found->second.documents;
      rule.bytes = found->second.bytes;
      rule.samples = found->second.samples;
    }
    summary.rules.push_back(std::move(rule));
  }
  if (totals.bad_lines().bad() > 0) summary.bad_lines = totals.bad_lines().Summary();
  summary.repaired = totals.bad_lines().repaired();
  return summary;
}

std::string Row(const std::string& name, int width, int64_t documents, int64_t bytes, double all,
                const std::string& samples) {
  char text[200];
  std::snprintf(text, sizeof(text), "%-*.100s %15s %10s %6.2f%%", width, name.c_str(),
                ReadableCount(documents).c_str(), ReadableBytes(bytes).c_str(),
                100 * static_cast<double>(documents) / std::max(all, 1.0));
  return text + (samples.empty() ? "" : "  " + samples) + "\n";
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

}  // namespace

absl::StatusOr<FilterSummary> FilterData(const FilterOptions& options, Progress* progress,
                                         const std::atomic<bool>& cancelled) {
  TRAINYARD_ASSIGN_OR_RETURN(const Filter filter, Filter::Load(options.rules));
  TRAINYARD_RETURN_IF_ERROR(CheckOutsideInputs(options.out, options.inputs));
  PodTexts pods;
  TRAINYARD_ASSIGN_OR_RETURN(const Job job, Job::Create(options, progress, cancelled, &pods));
  const Stage stage = MakeFilterStage(filter, options.field);
  const RunSettings settings = StageSettings(job, {options.out, options.force, options.memory_mib});
  TRAINYARD_ASSIGN_OR_RETURN(const Plan plan, PlanStage(stage, settings.decode, job.files));
  const RunObserver observer = StageObserver("filtering", progress);
  TRAINYARD_ASSIGN_OR_RETURN(const RunTotals totals,
                             RunStage(stage, plan, settings, observer, cancelled));
  progress->Stop();
  return SummaryOf(options, job, filter, totals);
}

std::string FilterText(const FilterSummary& summary) {
  int width = 9;
  for (const FilteredRule& rule : summary.rules) {
    width = std::max(width, static_cast<int>(std::min<size_t>(rule.name.size(), 100)));
  }
  char header[200];
  std::snprintf(header, sizeof(header), "%-*s %15s %10s %7s  %s\n", width, "rule", "documents",
                "text", "share", "first dropped documents");
  std::string text = header;
  const auto all = static_cast<double>(summary.documents_in);
  for (const FilteredRule& rule : summary.rules) {
    text += Row(rule.name, width, rule.documents, rule.bytes, all, Joined(rule.samples));
  }
  text += Row("kept", width, summary.documents_out, summary.bytes_out, all, "");
  text += Row("read", width, summary.documents_in, summary.bytes_in, all, "");
  return text + StageEnding(summary.bad_lines, summary.repaired, summary.directory);
}

}  // namespace trainyard::data
