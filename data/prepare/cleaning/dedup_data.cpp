#include "data/prepare/cleaning/dedup_data.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>
#include <vector>

#include "data/documents/pod_text.h"
#include "data/prepare/cleaning/stage_ending.h"
#include "data/prepare/cleaning/stage_settings.h"
#include "data/prepare/command/job.h"
#include "data/stages/run_directory.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

DedupRunSettings RunSettingsOf(const Job& job, const DedupOptions& options,
                               const DedupSettings& dedup) {
  DedupRunSettings settings;
  settings.dedup = dedup;
  settings.scratch = options.scratch;
  settings.run = StageSettings(job, {options.out, options.force, options.memory_mib});
  return settings;
}

DedupObserver DedupObserverOf(Progress* progress) {
  return {[progress](const std::string& step, int64_t bytes) {
            progress->Stop();
            if (bytes > 0) {
              progress->Start(step, bytes);
            } else {
              progress->PrintLine(step);
            }
          },
          [progress](int64_t bytes) { progress->Advance(bytes); }};
}

std::string Format(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string Count(uint64_t count) { return ReadableCount(static_cast<int64_t>(count)); }

std::string UnitText(const DedupSettings& settings) {
  const std::string length = std::to_string(settings.shingle_length);
  return length + (settings.kind == ShingleKind::kCharacters ? " characters" : " words");
}

std::string PresetText(const DedupSettings& settings) {
  const char* const keep = settings.components ? ", connected components" : ", greedy";
  if (settings.kind == ShingleKind::kWholeText) {
    return settings.preset + ": equal texts, except for the case of ASCII letters and for spaces";
  }
  return settings.preset + ": shingles of " + UnitText(settings) + ", " +
         std::to_string(settings.bands) + " bands of " + std::to_string(settings.rows) +
         (settings.verify ? Format(", verified at %g", settings.threshold) : ", not verified") +
         keep;
}

// The probabilities of finding a pair. Users compare them with the similarity that they expect.
std::string RecallText(const DedupSettings& settings) {
  if (settings.kind == ShingleKind::kWholeText) return "";
  std::string similarities = "similarity  ";
  std::string shares = "found       ";
  for (const double similarity : {0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95}) {
    similarities += Format(" %6.2f", similarity);
    // Verification removes all pairs below the threshold.
    const bool removed = settings.verify && similarity < settings.threshold - 1e-9;
    const double share = removed ? 0 : CandidateProbability(settings, similarity);
    shares += Format(" %5.1f%%", 100 * share);
  }
  return similarities + "\n" + shares + " of the pairs\n";
}

std::string ClustersText(const DedupResult& result) {
  std::string text = "clusters     " + Count(result.clusters) + "\n";
  for (const ReportedCluster& cluster : result.largest) {
    text += "             " + Count(cluster.documents) + " documents, lowest similarity " +
            Format("%.2f", cluster.lowest_similarity) + ", kept " + cluster.kept + "\n";
  }
  return text;
}

}  // namespace

absl::StatusOr<DedupSummary> DedupData(const DedupOptions& options, Progress* progress,
                                       const std::atomic<bool>& cancelled) {
  DedupSummary summary;
  TRAINYARD_ASSIGN_OR_RETURN(summary.settings,
                             PresetSettings(options.preset, options.threshold, options.keep));
  TRAINYARD_RETURN_IF_ERROR(CheckOutsideInputs(options.out, options.inputs));
  PodTexts pods;
  TRAINYARD_ASSIGN_OR_RETURN(const Job job, Job::Create(options, progress, cancelled, &pods));
  std::vector<InputFile> references;
  if (!options.against.empty()) {
    TRAINYARD_RETURN_IF_ERROR(CheckOutsideInputs(options.out, options.against));
    TRAINYARD_ASSIGN_OR_RETURN(references, FindInputFiles(options.against));
  }
  TRAINYARD_ASSIGN_OR_RETURN(
      summary.result, RunDedup(job.files, references, RunSettingsOf(job, options, summary.settings),
                               DedupObserverOf(progress), cancelled));
  progress->Stop();
  summary.directory = options.out;
  summary.files = static_cast<int64_t>(job.files.size());
  return summary;
}

std::string DedupText(const DedupSummary& summary) {
  const DedupResult& result = summary.result;
  const int64_t dropped = result.documents_in - result.documents_out;
  const double share = 100 * static_cast<double>(dropped) /
                       static_cast<double>(std::max<int64_t>(result.documents_in, 1));
  std::string text = "documents    " + ReadableCount(result.documents_in) + " from " +
                     ReadableCount(summary.files) +
                     " files: " + ReadableCount(result.documents_out) + " kept, " +
                     ReadableCount(dropped) + " dropped (" + Format("%.2f%%)\n", share);
  text += "text         " + ReadableBytes(result.bytes_in) + ": " +
          ReadableBytes(result.bytes_out) + " kept\n";
  if (result.references > 0) {
    text += "against      " + ReadableCount(result.references) + " documents\n";
  }
  text += "preset       " + PresetText(summary.settings) + "\n" + RecallText(summary.settings) +
          ClustersText(result);
  return text + StageEnding(result.bad_lines, result.repaired, summary.directory);
}

}  // namespace trainyard::data
