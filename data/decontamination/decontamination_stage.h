// The stage that compares documents with evaluation sets.
#ifndef TRAINYARD_DATA_DECONTAMINATION_DECONTAMINATION_STAGE_H_
#define TRAINYARD_DATA_DECONTAMINATION_DECONTAMINATION_STAGE_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/decontamination/evaluation_index.h"
#include "data/documents/bad_lines.h"
#include "data/documents/block_decoder.h"
#include "data/input/input_files.h"
#include "data/stages/block_documents.h"
#include "data/stages/plan.h"
#include "data/stages/stage.h"

namespace trainyard::data {

// The name of the stage, and the key of its details in report.json.
inline constexpr char kDecontaminationStage[] = "decontaminate";

class DecontaminationStage {
 public:
  // Plans the evaluation sets, but does not read them yet. `decode`: how they are read. Returns the
  // errors of PlanStage.
  static absl::StatusOr<std::unique_ptr<DecontaminationStage>> Create(
      const std::vector<InputFile>& evaluation, const OverlapSettings& settings,
      DecodeSettings decode);

  // Reads the evaluation sets. `bytes_max`: memory of their n-grams. Calls `advance` with 0 while
  // it reads. Returns the errors of EvaluationIndex, BadLineLog and `advance`, and InvalidArgument
  // if no document has enough words.
  absl::Status ReadEvaluation(int64_t bytes_max, const BadLinePolicy& bad_lines,
                              const Advance& advance);

  // The stage without details. Blocks may begin only after ReadEvaluation. This object must outlive
  // the stage.
  Stage MakeStage() const;

  // Null before ReadEvaluation.
  const EvaluationIndex* index() const { return index_ ? &*index_ : nullptr; }
  // Stage::details; null before ReadEvaluation.
  nlohmann::ordered_json Details() const;

 private:
  DecontaminationStage(Plan plan, const OverlapSettings& settings, DecodeSettings decode)
      : plan_(std::move(plan)), settings_(settings), decode_(std::move(decode)) {}

  const Plan plan_;  // of the evaluation sets
  const OverlapSettings settings_;
  const DecodeSettings decode_;
  std::optional<EvaluationIndex> index_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DECONTAMINATION_DECONTAMINATION_STAGE_H_
