// Runs the steps of a pipeline on rank 0.
#ifndef TRAINYARD_DATA_PIPELINE_RUN_STEPS_H_
#define TRAINYARD_DATA_PIPELINE_RUN_STEPS_H_

#include <string>

#include "absl/status/statusor.h"
#include "data/pipeline/pass_runner.h"
#include "data/pipeline/pipeline.h"

namespace trainyard::data {

// Runs a step, or continues it. A complete step is only checked. Returns a line for the summary.
absl::StatusOr<std::string> RunStep(PassRunner* runner, const PipelineStep& step);

// The parts of RunStep.
absl::StatusOr<std::string> RunDedupStep(PassRunner* runner, const PipelineStep& step);
absl::StatusOr<std::string> RunTrainStep(PassRunner* runner, const PipelineStep& step);
absl::StatusOr<std::string> RunTokenizeStep(PassRunner* runner, const PipelineStep& step);
absl::StatusOr<std::string> RunMixStep(PassRunner* runner, const PipelineStep& step);

// "filter         1,000 documents, 3.1 MB: 900 kept, 2.8 MB"
std::string SummaryLine(const PipelineStep& step, const RunTotals& totals);
// "name           text"
std::string SummaryLine(const PipelineStep& step, const std::string& text);

// Deletes the directory of a pass whose parts are no longer needed.
void RemoveWork(const Pipeline& pipeline, const PipelineStep& step, const std::string& pass);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_RUN_STEPS_H_
