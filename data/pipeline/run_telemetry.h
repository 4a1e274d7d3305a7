// Telemetry of a run, for the worker. worker/README.md describes the records.
#ifndef TRAINYARD_DATA_PIPELINE_RUN_TELEMETRY_H_
#define TRAINYARD_DATA_PIPELINE_RUN_TELEMETRY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/contract/phase.h"
#include "proto/files/unique_fd.h"

namespace trainyard::data {

// Counts of the pass that runs, over all ranks.
struct PassProgress {
  size_t step = 0;  // of the pipeline, from 1
  size_t steps = 0;
  int64_t bytes = 0;        // read on disk
  int64_t total_bytes = 0;  // that the pass reads
  double seconds = 0;       // since the pass began
  int64_t documents = 0;
  int64_t dropped = 0;
  int64_t tokens = 0;
};

// The unit of `step` and `total_steps` is 1 MiB of input that the process has read in all passes;
// rank 0 counts the input of all ranks. Records are at least a second apart. Errors of the file are
// ignored: the run does not depend on telemetry. Not thread-safe.
class RunTelemetry {
 public:
  // `path` may be "": nothing is written. `now_ms`: Unix time.
  RunTelemetry(const std::string& path, std::function<int64_t()> now_ms);

  void EnterPhase(Phase phase);
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
  const std::function<int64_t()> now_ms_;
  int64_t bytes_ = 0;
  int64_t written_ms_ = 0;
  int64_t written_steps_ = 0;
  int64_t reports_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_RUN_TELEMETRY_H_
