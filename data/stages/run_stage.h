// Runs a stage on all blocks of a plan, on several threads, and continues an interrupted run.
#ifndef TRAINYARD_DATA_STAGES_RUN_STAGE_H_
#define TRAINYARD_DATA_STAGES_RUN_STAGE_H_

#include <atomic>
#include <vector>

#include "absl/status/statusor.h"
#include "data/documents/block_decoder.h"
#include "data/input/input_files.h"
#include "data/stages/plan.h"
#include "data/stages/run_pass.h"
#include "data/stages/run_totals.h"
#include "data/stages/stage.h"

namespace trainyard::data {

// The plan of a stage. The settings that influence the output are part of it, threads and the
// policy for bad lines are not.
absl::StatusOr<Plan> PlanStage(const Stage& stage, const DecodeSettings& decode,
                               const std::vector<InputFile>& files, const PlanLimits& limits = {});

// Runs the stage on all blocks. The arguments must outlive the pass.
BlockPass PassOf(const Stage& stage, const Plan& plan, const DecodeSettings& decode);

// RunPass for a stage.
absl::StatusOr<RunTotals> RunStage(const Stage& stage, const Plan& plan,
                                   const RunSettings& settings, const RunObserver& observer,
                                   const std::atomic<bool>& cancelled);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_RUN_STAGE_H_
