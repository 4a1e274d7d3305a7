// `trainyard data run`: runs a pipeline, alone or as one rank of several.
#ifndef TRAINYARD_DATA_PIPELINE_RUN_PIPELINE_H_
#define TRAINYARD_DATA_PIPELINE_RUN_PIPELINE_H_

#include <atomic>
#include <string>

#include "absl/status/statusor.h"
#include "data/pipeline/ranks.h"
#include "data/prepare/command/prepare_options.h"
#include "data/prepare/command/progress.h"

namespace trainyard::data {

// Runs the steps of a pipeline, or continues them. Each step has a directory below the pipeline's
// `out`. A step whose settings or documents have changed starts over; the others are kept. The
// bytes of the directories do not depend on threads, ranks and interruptions. Returns a summary; ""
// for ranks other than 0.
//
// Errors: those of ReadPipeline and of the steps; FailedPrecondition if another process uses `out`;
// AlreadyExists if `out` contains other files; Unavailable if rank 0 is lost; Aborted if the port
// of rank 0 is in use; Cancelled.
absl::StatusOr<std::string> RunPipeline(const PipelineOptions& options, const Ranks& ranks,
                                        Progress* progress, const std::atomic<bool>& cancelled);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_RUN_PIPELINE_H_
