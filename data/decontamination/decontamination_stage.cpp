#include "data/decontamination/decontamination_stage.h"

#include <cmath>
#include <string>
#include <string_view>

#include "data/decontamination/overlap_finder.h"
#include "data/stages/input_sources.h"
#include "data/stages/run_stage.h"
#include "data/stages/run_totals.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

using nlohmann::ordered_json;

// Increase it if the same settings drop other documents.
constexpr int kVersion = 1;

// Evaluation sets are read file by file, so that lines are numbered from the start of the file.
constexpr int64_t kWholeFiles = int64_t{1} << 60;

ordered_json SettingsJson(const OverlapSettings& settings, const Plan& evaluation) {
  std::vector<InputFile> files;
  for (const PlanFile& file : evaluation.files()) files.push_back(file.input);
  return {{"version", kVersion},
          {"ngram", settings.ngram},
          {"min_words", settings.min_words},
          {"min_hits", settings.min_hits},
          {"min_share", settings.min_share},
          {"evaluation", evaluation.Hash()},
          {"against", SourcesJson(SourcesOf(files))}};
}

std::string PlaceOf(const InputFile& file, int64_t line) {
  const bool has_lines = HasLines(file.kind);
  return file.path + (has_lines ? ":" + std::to_string(line + 1) : std::string());
}

absl::Status AddBlock(const Plan& plan, size_t block, const DecodeSettings& decode,
                      const Advance& advance, RunTotals* totals, EvaluationIndex* index) {
  const auto take = [&](const Document& document) {
    const InputFile& file = plan.files()[document.file].input;
    return index->Add(file.path, PlaceOf(file, document.line), document.text);
  };
  BlockRecord record;
  record.block = block;
  TRAINYARD_ASSIGN_OR_RETURN(record.lines,
                             ReadDocuments(plan, plan.blocks()[block], decode, take, advance));
  return totals->Add(std::move(record));
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

}  // namespace

absl::StatusOr<std::unique_ptr<DecontaminationStage>> DecontaminationStage::Create(
    const std::vector<InputFile>& evaluation, const OverlapSettings& settings,
    DecodeSettings decode) {
  Stage stage;
  stage.name = kDecontaminationStage;
  TRAINYARD_ASSIGN_OR_RETURN(Plan plan,
                             PlanStage(stage, decode, evaluation, {.block_bytes = kWholeFiles}));
  return std::unique_ptr<DecontaminationStage>(
      new DecontaminationStage(std::move(plan), settings, std::move(decode)));
}

absl::Status DecontaminationStage::ReadEvaluation(int64_t bytes_max, const BadLinePolicy& bad_lines,
                                                  const Advance& advance) {
  EvaluationIndex index(settings_, bytes_max);
  RunTotals totals(plan_, bad_lines);
  const Advance keep_alive = [&](int64_t) { return advance(0); };
  for (size_t block = 0; block < plan_.blocks().size(); ++block) {
    TRAINYARD_RETURN_IF_ERROR(AddBlock(plan_, block, decode_, keep_alive, &totals, &index));
  }
  TRAINYARD_RETURN_IF_ERROR(totals.Finish());
  index.Finish();
  if (index.documents().empty()) {
    return absl::InvalidArgumentError("no document of --against has at least " +
                                      std::to_string(settings_.min_words) +
                                      " words; check --against-field, or lower --min-words");
  }
  index_.emplace(std::move(index));
  return absl::OkStatus();
}

Stage DecontaminationStage::MakeStage() const {
  Stage stage;
  stage.name = kDecontaminationStage;
  stage.settings = SettingsJson(settings_, plan_);
  stage.begin_block = [this] { return BeginBlock(*index_); };
  return stage;
}

ordered_json DecontaminationStage::Details() const {
  if (!index_) return nullptr;
  return {{"evaluation_documents", index_->documents().size()},
          {"ignored", index_->ignored()},
          {"ngrams", index_->ngrams()}};
}

}  // namespace trainyard::data
