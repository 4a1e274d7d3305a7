// Runs a stage on all blocks of a plan, on several threads, and continues an interrupted run.
#ifndef TRAINYARD_DATA_STAGES_RUN_STAGE_H_
#define TRAINYARD_DATA_STAGES_RUN_STAGE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/documents/bad_lines.h"
#include "data/documents/block_decoder.h"
#include "data/input/input_files.h"
#include "data/stages/plan.h"
#include "data/stages/run_totals.h"
#include "data/stages/stage.h"

namespace trainyard::data {

// Memory that a thread needs, except for documents of more than 4 MiB. A longer document needs up
// to 16 times its size in addition.
inline constexpr int64_t kThreadBytes = int64_t{96} << 20;

struct RunSettings {
  std::string out;       // directory
  bool replace = false;  // delete an earlier run in the directory
  int threads = 1;
  // Fewer threads run if this is less than kThreadBytes per thread, but at least one.
  int64_t memory_bytes = int64_t{4} << 30;
  DecodeSettings decode;
  BadLinePolicy bad_lines;
};

// Called on the caller's thread.
struct RunObserver {
  // `bytes`: on disk, of the blocks that have no record yet.
  std::function<void(size_t blocks, size_t recorded_blocks, int64_t bytes)> start;
  std::function<void(int64_t bytes)> advance;
};

// The plan of a stage. The settings that influence the output are part of it, threads and the
// policy for bad lines are not.
absl::StatusOr<Plan> PlanStage(const Stage& stage, const DecodeSettings& decode,
                               const std::vector<InputFile>& files, const PlanLimits& limits = {});

// Writes the parts, bad.jsonl and report.json. The bytes of these files depend only on the plan and
// on the version of zstd. If the run is complete already, only returns its totals.
//
// After an error, a crash or a change of `cancelled`, the same call continues the run and repeats
// only unfinished blocks, of which there is at most one per thread. If several blocks fail, returns
// the error of the first one. Returns Cancelled if `cancelled` was set; the errors of RunDirectory,
// ReadDocuments, BadLineLog and of the stage.
absl::StatusOr<RunTotals> RunStage(const Stage& stage, const Plan& plan,
                                   const RunSettings& settings, const RunObserver& observer,
                                   const std::atomic<bool>& cancelled);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_RUN_STAGE_H_
