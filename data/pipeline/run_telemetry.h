// Telemetry of a run, for the worker. worker/README.md describes the records.
#ifndef TRAINYARD_DATA_PIPELINE_RUN_TELEMETRY_H_
#define TRAINYARD_DATA_PIPELINE_RUN_TELEMETRY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/contract/phase.h"
#include "proto/files/unique_fd.h"

namespace trainyard::data {

// Counts of the documents in the finished blocks of a pass.
struct PassDocuments {
  int64_t read = 0;
  int64_t dropped = 0;
  int64_t tokens = 0;
};

// The unfinished block of a pass that has been in work for the longest time.
struct RunningBlock {
  size_t number = 0;  // in the pass, from 1
  double seconds = 0;
  int rank = 0;
};

// Progress of the pass that runs, over all ranks, or of the work that rank 0 does alone.
struct PassProgress {
  size_t step = 0;  // of the pipeline, from 1
  size_t steps = 0;
  int64_t bytes = 0;                       // read on disk
  int64_t total_bytes = 0;                 // that the pass or the work reads
  double seconds = 0;                      // since the pass or the work began
  std::optional<PassDocuments> documents;  // of a pass
  std::optional<RunningBlock> slowest;     // of a pass
};

// The unit of `step` and `total_steps` is 1 MiB of input that the process has read in all passes;
// rank 0 counts the input of all ranks. `rank` records are at least a second apart. Errors of the
// file are ignored: the run does not depend on telemetry. Not thread-safe.
class RunTelemetry {
 public:
  // `path` may be "": nothing is written. `now_ms`: Unix time.
  RunTelemetry(const std::string& path, std::function<int64_t()> now_ms);

  void EnterPhase(Phase phase);
  // The phase that was entered last.
  Phase phase() const { return phase_; }
  // Adds bytes, and writes a `rank` record if one is due. Returns true if it was.
  bool Advance(int64_t bytes);
  void WriteMetrics(const PassProgress& progress);
  // Writes a report of at most kMaxDataReportBytes as `data_report` records.
  void WriteReport(std::string_view report);
  // False if nothing is written.
  bool IsActive() const { return file_.valid(); }

  int64_t steps() const { return bytes_ >> 20; }

 private:
  void Write(const std::string& type, const std::string& fields);

  UniqueFd file_;
  Phase phase_ = Phase::kInit;
  const std::function<int64_t()> now_ms_;
  int64_t bytes_ = 0;
  int64_t written_ms_ = 0;
  int64_t written_steps_ = 0;
  int64_t reports_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_RUN_TELEMETRY_H_
