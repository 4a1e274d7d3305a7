// Makes the pass of each kind of step.
#ifndef TRAINYARD_DATA_PIPELINE_PASSES_H_
#define TRAINYARD_DATA_PIPELINE_PASSES_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/pipeline/pipeline.h"
#include "data/pipeline/step_pass.h"
#include "data/tokenizer/tokenizer.h"

namespace trainyard::data {

using StepPassOr = absl::StatusOr<std::unique_ptr<StepPass>>;

StepPassOr MakeFilterPass(const Pipeline& pipeline, const PipelineStep& step);

StepPassOr MakeDecontaminatePass(const Pipeline& pipeline, const PipelineStep& step);

// `pass`: a pass of duplicate removal. All but kSignaturePass and kReferencePass read files that
// rank 0 writes before the pass (decisions.h).
StepPassOr MakeDedupPass(const Pipeline& pipeline, const PipelineStep& step,
                         const std::string& pass);

// Counts the words of each block. A part contains words with their counts.
StepPassOr MakeWordPass(const Pipeline& pipeline, const PipelineStep& step);

// Counts tokens. The sums of a record are numbered like the tokenizers of the step.
StepPassOr MakeCountPass(const Pipeline& pipeline, const PipelineStep& step);
std::vector<std::string> TokenizersOf(const Pipeline& pipeline, const CountOptions& options);

// Encodes the documents, or the files for validation.
StepPassOr MakeTokenPass(const Pipeline& pipeline, const PipelineStep& step, bool validation);
absl::StatusOr<std::unique_ptr<Tokenizer>> TokenizerOf(const Pipeline& pipeline,
                                                       const TokenizeStep& options);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_PASSES_H_
