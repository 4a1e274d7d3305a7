#include "data/prepare/cleaning/decontaminate_data.h"

#include <algorithm>
#include <cstdio>
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

constexpr size_t kFilesShown = 20;

DecontaminationSettings DecontaminationSettingsOf(const Job& job,
                                                  const DecontaminateOptions& options) {
  DecontaminationSettings settings;
  settings.overlap.ngram = options.ngram;
  settings.overlap.min_words = std::min(options.min_words, options.ngram);
  settings.overlap.min_hits = options.min_hits;
  settings.overlap.min_share = options.min_share;
  settings.evaluation_field = options.against_field.empty() ? options.field : options.against_field;
  settings.run = StageSettings(job, {options.out, options.force, options.memory_mib});
  return settings;
}

std::string RuleText(const OverlapSettings& settings) {
  char share[64] = "";
  if (settings.min_share > 0) {
    std::snprintf(share, sizeof(share), " and at least %g %% of them", 100 * settings.min_share);
  }
  return "rule         at least " + ReadableCount(settings.min_hits) + " runs of " +
         std::to_string(settings.ngram) + " words" + share +
         " are those of one evaluation document\n";
}

std::string OverlappedText(const std::vector<OverlappedFile>& files) {
  std::string text;
  for (size_t i = 0; i < std::min(files.size(), kFilesShown); ++i) {
    text += "overlap      " + ReadableCount(files[i].documents) + " documents with " +
            files[i].file + ", first " + files[i].samples.front() + "\n";
  }
  if (files.size() > kFilesShown) {
    text += "overlap      with " + ReadableCount(static_cast<int64_t>(files.size() - kFilesShown)) +
            " other files; report.json lists them\n";
  }
  return text;
}

}  // namespace

absl::StatusOr<DecontaminateSummary> DecontaminateData(const DecontaminateOptions& options,
                                                       Progress* progress,
                                                       const std::atomic<bool>& cancelled) {
  TRAINYARD_RETURN_IF_ERROR(CheckOutsideInputs(options.out, options.inputs));
  TRAINYARD_RETURN_IF_ERROR(CheckOutsideInputs(options.out, options.against));
  PodTexts pods;
  TRAINYARD_ASSIGN_OR_RETURN(const Job job, Job::Create(options, progress, cancelled, &pods));
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<InputFile> evaluation,
                             FindInputFiles(options.against));
  const DecontaminationSettings settings = DecontaminationSettingsOf(job, options);
  DecontaminateSummary summary;
  const RunObserver observer = StageObserver("comparing with the evaluation sets", progress);
  TRAINYARD_ASSIGN_OR_RETURN(
      summary.result, RunDecontamination(job.files, evaluation, settings, observer, cancelled));
  progress->Stop();
  summary.directory = options.out;
  summary.files = static_cast<int64_t>(job.files.size());
  summary.settings = settings.overlap;
  return summary;
}

std::string DecontaminateText(const DecontaminateSummary& summary) {
  const DecontaminationResult& result = summary.result;
  const int64_t dropped = result.documents_in - result.documents_out;
  char share[32];
  std::snprintf(share, sizeof(share), "%.2f%%",
                100 * static_cast<double>(dropped) /
                    static_cast<double>(std::max<int64_t>(result.documents_in, 1)));
  std::string text = "documents    " + ReadableCount(result.documents_in) + " from " +
                     ReadableCount(summary.files) +
                     " files: " + ReadableCount(result.documents_out) + " kept, " +
                     ReadableCount(dropped) + " dropped (" + share + ")\n";
  text += "text         " + ReadableBytes(result.bytes_in) + ": " +
          ReadableBytes(result.bytes_out) + " kept\n";
  text += "evaluation   " + ReadableCount(result.evaluation_documents) + " documents, " +
          ReadableCount(result.ngrams) + " different runs of words\n";
  if (result.ignored > 0) {
    text += "ignored      " + ReadableCount(result.ignored) +
            " evaluation documents with fewer than " + std::to_string(summary.settings.min_words) +
            " words\n";
  }
  return text + RuleText(summary.settings) + OverlappedText(result.overlapped) +
         StageEnding(result.bad_lines, result.repaired, summary.directory);
}

}  // namespace trainyard::data
