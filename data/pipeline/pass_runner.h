// Runs the passes of a pipeline on rank 0.
#ifndef TRAINYARD_DATA_PIPELINE_PASS_RUNNER_H_
#define TRAINYARD_DATA_PIPELINE_PASS_RUNNER_H_

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/leases/lease_server.h"
#include "data/pipeline/pipeline.h"
#include "data/pipeline/run_telemetry.h"
#include "data/pipeline/step_pass.h"
#include "data/prepare/command/progress.h"
#include "data/stages/run_totals.h"

namespace trainyard::data {

// Objects that all steps of a run use. The members must outlive the runner.
struct RunContext {
  const Pipeline& pipeline;
  int threads = 1;
  LeaseServer* server = nullptr;  // null if there is one process
  Progress* progress = nullptr;
  RunTelemetry* telemetry = nullptr;
  const std::atomic<bool>& cancelled;
};

class PassRunner {
 public:
  explicit PassRunner(const RunContext& context) : context_(context) {}

  // Runs a pass with the help of all ranks, or continues it. An earlier run with another plan is
  // deleted; a line states the changes. `made` must outlive the result.
  absl::StatusOr<RunTotals> Run(const PipelineStep& step, const std::string& pass,
                                const StepPass& made);

  const RunContext& context() const { return context_; }
  RunSettings SettingsOf(const StepPass& made) const;

 private:
  const RunContext context_;
};

// True if all blocks of the pass are recorded and its report is written.
absl::StatusOr<bool> IsComplete(const StepPass& made);

// The records of a complete pass, in the order of the blocks. Returns DataLoss if one is missing.
absl::StatusOr<std::vector<BlockRecord>> RecordsOf(const StepPass& made);

// The bytes of all parts on disk.
int64_t BytesOfParts(const std::vector<BlockRecord>& records);

// Prints that the earlier results of a step are deleted, and why.
void PrintRestart(const std::string& step, const std::string& changes, Progress* progress);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_PASS_RUNNER_H_
