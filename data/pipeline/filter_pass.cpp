#include <utility>

#include "data/filter/filter.h"
#include "data/pipeline/passes.h"
#include "data/prepare/cleaning/filter_stage.h"
#include "data/stages/run_report.h"
#include "data/stages/run_stage.h"
#include "data/stages/stage_block.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

class FilterPass : public StepPass {
 public:
  FilterPass(std::string out, Plan plan, std::unique_ptr<Filter> filter, Stage stage,
             DecodeSettings decode)
      : StepPass(std::move(out), std::move(plan)),
        filter_(std::move(filter)),
        stage_(std::move(stage)),
        decode_(std::move(decode)) {}

  absl::StatusOr<BlockRecord> Work(const BlockLease& lease, const PartNames& names,
                                   const Advance& advance) const override {
    return RunStageOnBlock(stage_, plan(), lease, decode_, names, advance);
  }

  std::string Report(const RunTotals& totals) const override {
    return ReportJson(stage_, plan(), totals);
  }

 private:
  const std::unique_ptr<Filter> filter_;  // used by stage_
  const Stage stage_;
  const DecodeSettings decode_;
};

}  // namespace

StepPassOr MakeFilterPass(const Pipeline& pipeline, const PipelineStep& step) {
  TRAINYARD_ASSIGN_OR_RETURN(Filter loaded,
                             Filter::Load(std::get<FilterOptions>(step.options).rules));
  auto filter = std::make_unique<Filter>(std::move(loaded));
  Stage stage = MakeFilterStage(*filter, pipeline.input.field);
  DecodeSettings decode = DecodeOf(pipeline);
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<InputFile> files, DocumentsOf(pipeline, step));
  TRAINYARD_ASSIGN_OR_RETURN(
      Plan plan, PlanStage(stage, decode, files, LimitsOf(pipeline, ReadsEarlierStep(step))));
  return std::make_unique<FilterPass>(DirectoryOf(pipeline, step), std::move(plan),
                                      std::move(filter), std::move(stage), std::move(decode));
}

}  // namespace trainyard::data
