#include "data/decontamination/decontamination_run.h"

#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "data/decontamination/overlap_finder.h"
#include "data/stages/block_documents.h"
#include "data/stages/input_sources.h"
#include "data/stages/run_totals.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

using nlohmann::ordered_json;

// Increase it if the same settings drop other documents.
constexpr int kVersion = 1;

// Evaluation sets are read file by file, so that lines are numbered from the start of the file.
constexpr int64_t kWholeFiles = int64_t{1} << 60;

ordered_json SettingsJson(const DecontaminationSettings& settings, const Plan& evaluation) {
  std::vector<InputFile> files;
  for (const PlanFile& file : evaluation.files()) files.push_back(file.input);
  return {{"version", kVersion},
          {"ngram", settings.overlap.ngram},
          {"min_words", settings.overlap.min_words},
          {"min_hits", settings.overlap.min_hits},
          {"min_share", settings.overlap.min_share},
          {"evaluation", evaluation.Hash()},
          {"against", SourcesJson(SourcesOf(files))}};
}

std::string PlaceOf(const InputFile& file, int64_t line) {
  const bool has_lines = HasLines(file.kind);
  return file.path + (has_lines ? ":" + std::to_string(line + 1) : std::string());
}

absl::Status AddBlock(const Plan& plan, size_t block, const DecodeSettings& decode,
                      const std::atomic<bool>& cancelled, RunTotals* totals,
                      EvaluationIndex* index) {
  const auto take = [&](const Document& document) {
    const InputFile& file = plan.files()[document.file].input;
    return index->Add(file.path, PlaceOf(file, document.line), document.text);
  };
  const auto advance = [&](int64_t) {
    return cancelled ? absl::CancelledError("interrupted; repeat the command to continue")
                     : absl::OkStatus();
  };
  BlockRecord record;
  record.block = block;
  TRAINYARD_ASSIGN_OR_RETURN(record.lines,
                             ReadDocuments(plan, plan.blocks()[block], decode, take, advance));
  return totals->Add(std::move(record));
}

// Reads the evaluation sets. Their bad lines obey the policy of the run.
absl::Status ReadEvaluation(const Plan& plan, const DecodeSettings& decode,
                            const DecontaminationSettings& settings,
                            const std::atomic<bool>& cancelled, EvaluationIndex* index) {
  RunTotals totals(plan, settings.run.bad_lines);
  for (size_t block = 0; block < plan.blocks().size(); ++block) {
    TRAINYARD_RETURN_IF_ERROR(AddBlock(plan, block, decode, cancelled, &totals, index));
  }
  TRAINYARD_RETURN_IF_ERROR(totals.Finish());
  index->Finish();
  if (!index->documents().empty()) return absl::OkStatus();
  return absl::InvalidArgumentError("no document of --against has at least " +
                                    std::to_string(settings.overlap.min_words) +
                                    " words; check --against-field, or lower --min-words");
}

// Inserts the overlap into the JSON object of a document, which has a text and is not empty.
std::string DroppedLine(std::string_view json, const EvaluationDocument& evaluation,
                        const Overlap& overlap) {
  const ordered_json reason = {{"evaluation", evaluation.place},
                               {"hits", overlap.hits},
                               {"share", std::round(overlap.share * 10000) / 10000}};
  const size_t brace = json.find('{');
  std::string line(json.substr(0, brace + 1));
  // A path need not be UTF-8.
  line += "\"trainyard_dropped\":" +
          reason.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + ",";
  return line.append(json.substr(brace + 1));
}

ProcessDocument BeginBlock(const EvaluationIndex& index) {
  const auto finder = std::make_shared<OverlapFinder>(index);
  return [finder, &index](const Document& document, BlockOutput* output) {
    const std::optional<Overlap> overlap = finder->Find(document.text);
    if (!overlap) return output->Keep(document.json, document.text.size());
    const EvaluationDocument& evaluation = index.documents()[overlap->document];
    return output->Drop(document, evaluation.file,
                        DroppedLine(document.json, evaluation, *overlap));
  };
}

DecontaminationResult ResultOf(const EvaluationIndex& index, const RunTotals& totals) {
  DecontaminationResult result;
  result.evaluation_documents = static_cast<int64_t>(index.documents().size());
  result.ignored = index.ignored();
  result.ngrams = index.ngrams();
  result.documents_in = totals.documents_in();
  result.documents_out = totals.documents_out();
  result.bytes_in = totals.bytes_in();
  result.bytes_out = totals.bytes_out();
  for (const auto& [file, dropped] : totals.dropped()) {
    result.overlapped.push_back({file, dropped.documents, dropped.bytes, dropped.samples});
  }
  if (totals.bad_lines().bad() > 0) result.bad_lines = totals.bad_lines().Summary();
  result.repaired = totals.bad_lines().repaired();
  return result;
}

}  // namespace

absl::StatusOr<DecontaminationResult> RunDecontamination(const std::vector<InputFile>& files,
                                                         const std::vector<InputFile>& evaluation,
                                                         const DecontaminationSettings& settings,
                                                         const RunObserver& observer,
                                                         const std::atomic<bool>& cancelled) {
  Stage stage;
  stage.name = "decontaminate";
  DecodeSettings decode = settings.run.decode;
  decode.field = settings.evaluation_field;
  TRAINYARD_ASSIGN_OR_RETURN(const Plan evaluation_plan,
                             PlanStage(stage, decode, evaluation, {.block_bytes = kWholeFiles}));
  RunSettings run = settings.run;
  run.memory_bytes /= 2;
  EvaluationIndex index(settings.overlap, run.memory_bytes);
  TRAINYARD_RETURN_IF_ERROR(ReadEvaluation(evaluation_plan, decode, settings, cancelled, &index));
  stage.settings = SettingsJson(settings, evaluation_plan);
  stage.details = {{"evaluation_documents", index.documents().size()},
                   {"ignored", index.ignored()},
                   {"ngrams", index.ngrams()}};
  stage.begin_block = [&index] { return BeginBlock(index); };
  TRAINYARD_ASSIGN_OR_RETURN(const Plan plan, PlanStage(stage, run.decode, files, settings.limits));
  TRAINYARD_ASSIGN_OR_RETURN(const RunTotals totals,
                             RunStage(stage, plan, run, observer, cancelled));
  return ResultOf(index, totals);
}

}  // namespace trainyard::data
