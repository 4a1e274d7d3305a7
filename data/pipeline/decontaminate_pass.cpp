#include <algorithm>
#include <utility>

#include "data/decontamination/decontamination_stage.h"
#include "data/pipeline/passes.h"
#include "data/stages/run_report.h"
#include "data/stages/run_stage.h"
#include "data/stages/stage_block.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

class DecontaminatePass : public StepPass {
 public:
  DecontaminatePass(std::string out, Plan plan,
                    std::unique_ptr<DecontaminationStage> decontamination, const Pipeline& pipeline)
      : StepPass(std::move(out), std::move(plan)),
        decontamination_(std::move(decontamination)),
        stage_(decontamination_->MakeStage()),
        decode_(DecodeOf(pipeline)),
        bad_lines_(BadLinesOf(pipeline)),
        prepared_bytes_((pipeline.memory_mib << 20) / 2) {}

  absl::Status Prepare(const Advance& advance) override {
    return decontamination_->ReadEvaluation(prepared_bytes_, bad_lines_, advance);
  }
  int64_t prepared_bytes() const override { return prepared_bytes_; }

  absl::StatusOr<BlockRecord> Work(const BlockLease& lease, const PartNames& names,
                                   const Advance& advance) const override {
    return RunStageOnBlock(stage_, plan(), lease, decode_, names, advance);
  }

  std::string Report(const RunTotals& totals) const override {
    Stage described = stage_;
    described.details = decontamination_->Details();
    // The evaluation sets of a complete run are not read again.
    if (described.details.is_null()) described.details = StoredDetails(out(), stage_.name);
    return ReportJson(described, plan(), totals);
  }

 private:
  const std::unique_ptr<DecontaminationStage> decontamination_;  // used by stage_
  const Stage stage_;
  const DecodeSettings decode_;
  const BadLinePolicy bad_lines_;
  const int64_t prepared_bytes_;
};

}  // namespace

StepPassOr MakeDecontaminatePass(const Pipeline& pipeline, const PipelineStep& step) {
  const auto& options = std::get<DecontaminateOptions>(step.options);
  OverlapSettings overlap;
  overlap.ngram = options.ngram;
  overlap.min_words = std::min(options.min_words, options.ngram);
  overlap.min_hits = options.min_hits;
  overlap.min_share = options.min_share;
  DecodeSettings evaluation_decode = DecodeOf(pipeline);
  if (!options.against_field.empty()) evaluation_decode.field = options.against_field;
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<InputFile> evaluation,
                             FindInputFiles(options.against));
  TRAINYARD_ASSIGN_OR_RETURN(
      std::unique_ptr<DecontaminationStage> decontamination,
      DecontaminationStage::Create(evaluation, overlap, std::move(evaluation_decode)));
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<InputFile> files, DocumentsOf(pipeline, step));
  TRAINYARD_ASSIGN_OR_RETURN(Plan plan,
                             PlanStage(decontamination->MakeStage(), DecodeOf(pipeline), files,
                                       LimitsOf(pipeline, ReadsEarlierStep(step))));
  return std::make_unique<DecontaminatePass>(DirectoryOf(pipeline, step), std::move(plan),
                                             std::move(decontamination), pipeline);
}

}  // namespace trainyard::data
