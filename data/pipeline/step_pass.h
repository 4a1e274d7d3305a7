// The passes of the steps of a pipeline. Every process of a run can make each pass, because it
// depends only on the pipeline and on files.
#ifndef TRAINYARD_DATA_PIPELINE_STEP_PASS_H_
#define TRAINYARD_DATA_PIPELINE_STEP_PASS_H_

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/documents/bad_lines.h"
#include "data/input/input_files.h"
#include "data/pipeline/pipeline.h"
#include "data/stages/block_documents.h"
#include "data/stages/run_pass.h"

namespace trainyard::data {

class StepPass {
 public:
  // `out`: the directory of the run.
  StepPass(std::string out, Plan plan) : out_(std::move(out)), plan_(std::move(plan)) {}
  virtual ~StepPass() = default;

  const std::string& out() const { return out_; }
  const Plan& plan() const { return plan_; }

  // Loads what the pass needs besides the blocks, before the first one. Calls `advance` with 0
  // while it works, and returns its error.
  virtual absl::Status Prepare(const Advance&) { return absl::OkStatus(); }
  // Limit of the memory of Prepare. The rest of the memory limit is for threads.
  virtual int64_t prepared_bytes() const { return 0; }

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
inline constexpr char kDecontaminatePass[] = "documents";
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

// The documents that a step reads. Files for validation are not among them.
absl::StatusOr<std::vector<InputFile>> DocumentsOf(const Pipeline& pipeline,
                                                   const PipelineStep& step);
// True if the documents are those of earlier steps.
bool ReadsEarlierStep(const PipelineStep& step);
// True if an earlier step has written the path, so that the times of its files do not matter.
bool IsOutput(const Pipeline& pipeline, const std::string& path);

// The files and directories for validation of a step; empty for a fraction of the documents.
const std::vector<std::string>& ValidationOf(const Pipeline& pipeline, const TokenizeStep& options);
// All files and directories that the steps read, except the output of earlier steps.
std::vector<std::string> PathsOf(const Pipeline& pipeline);

// The path of the trained tokenizer. The pipeline must contain a step that trains one.
std::string TrainedTokenizer(const Pipeline& pipeline);

DecodeSettings DecodeOf(const Pipeline& pipeline);
BadLinePolicy BadLinesOf(const Pipeline& pipeline);
PlanLimits LimitsOf(const Pipeline& pipeline, bool reads_earlier_step);
// Memory for the threads of a pass.
int64_t ThreadMemoryOf(const Pipeline& pipeline, const StepPass& made);

// Returns Stage::details of a complete run from its report.json; null if there are none.
nlohmann::ordered_json StoredDetails(const std::string& out, const std::string& stage);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_STEP_PASS_H_
