// The passes of the steps of a pipeline. Every process of a run can make each pass, because it
// depends only on the pipeline and on files.
#ifndef TRAINYARD_DATA_PIPELINE_STEP_PASS_H_
#define TRAINYARD_DATA_PIPELINE_STEP_PASS_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/input/input_files.h"
#include "data/pipeline/pipeline.h"
#include "data/stages/run_pass.h"

namespace trainyard::data {

class StepPass {
 public:
  // `out`: the directory of the run.
  StepPass(std::string out, Plan plan) : out_(std::move(out)), plan_(std::move(plan)) {}
  virtual ~StepPass() = default;

  const std::string& out() const { return out_; }
  const Plan& plan() const { return plan_; }

  // BlockPass::work and BlockPass::report.
  virtual absl::StatusOr<BlockRecord> Work(const BlockLease& lease, const PartNames& names,
                                           const Advance& advance) const = 0;
  virtual std::string Report(const RunTotals& totals) const = 0;

 private:
  const std::string out_;
  const Plan plan_;
};

// A pass of a step is named "<step>:<pass>", such as "dedup:signatures". The names of the passes:
inline constexpr char kFilterPass[] = "documents";
inline constexpr char kSignaturePass[] = "signatures";
inline constexpr char kReferencePass[] = "references";
inline constexpr char kShinglePass[] = "shingles";
inline constexpr char kReferenceShinglePass[] = "reference-shingles";
inline constexpr char kDropPass[] = "documents";
inline constexpr char kWordPass[] = "words";
inline constexpr char kCountPass[] = "tokens";
inline constexpr char kTrainPass[] = "train";
inline constexpr char kValidationPass[] = "val";

// Key of DocumentCounts::sums in the last two passes.
inline constexpr char kTokenSum[] = "tokens";

// Returns the number of a step. `step` must be a step of the pipeline.
size_t IndexOf(const Pipeline& pipeline, const PipelineStep& step);

// The directory of a step.
std::string DirectoryOf(const Pipeline& pipeline, const PipelineStep& step);
// The directory of a pass whose parts are only for later passes of its step.
std::string WorkDirectoryOf(const Pipeline& pipeline, const PipelineStep& step,
                            const std::string& pass);

// The documents that a step reads: those of the last filter or dedup before it, or the inputs
// without the files for validation.
absl::StatusOr<std::vector<InputFile>> DocumentsOf(const Pipeline& pipeline,
                                                   const PipelineStep& step);
// True if the documents are those of an earlier step.
bool ReadsEarlierStep(const Pipeline& pipeline, const PipelineStep& step);

// The path of the trained tokenizer. The pipeline must contain a step that trains one.
std::string TrainedTokenizer(const Pipeline& pipeline);

DecodeSettings DecodeOf(const Pipeline& pipeline);
PlanLimits LimitsOf(const Pipeline& pipeline, bool reads_earlier_step);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_STEP_PASS_H_
