// Appends telemetry records, one JSON object a line, to the file that the worker reads.
#ifndef TRAINYARD_TRAINER_TELEMETRY_TELEMETRY_WRITER_H_
#define TRAINYARD_TRAINER_TELEMETRY_TELEMETRY_WRITER_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/contract/phase.h"

namespace trainyard::trainer {

// Names and values of one step, in the order they are written. NaN and infinities are kept: they
// are written as NaN, Infinity and -Infinity, as Python's json does.
using MetricValues = std::vector<std::pair<std::string, double>>;

struct CheckpointRecord {
  int64_t step = 0;
  int64_t attempt = 0;  // of the attempt that published it
  std::string path;
  int64_t bytes = 0;
  double blocking_seconds = 0;
  double total_seconds = 0;
  bool deleted = false;  // true when retention removed it
  std::string metric;    // by which checkpoints of the run are compared; empty: not evaluated
  double metric_value = 0;
};

// Progress and times of one rank.
struct RankRecord {
  int64_t generation = 1;   // Of the gang's connection in this attempt.
  int64_t step = 0;         // Completed.
  double step_seconds = 0;  // Mean of the steps since the record before.
  int64_t memory_bytes = 0;
  // Totals since the process began.
  double init_seconds = 0;
  double load_seconds = 0;
  double data_stall_seconds = 0;
  double checkpoint_seconds = 0;
  double evaluation_seconds = 0;
  // Seconds of one newest step by their keys in telemetry_keys.h; empty when none was measured.
  MetricValues step_times;
};

// A rank in a group of ranks; telemetry.proto's FlightRecord says what each is.
struct FlightReport {
  std::string group;
  std::string ranks;
  int64_t sequence = 0;
  std::string operation;
  int64_t bytes = 0;
  int64_t queued_ms = 0;
  int64_t entered_ms = 0;
};

// Whole lines go to a file opened with O_APPEND, so that records of several threads never mix and a
// crash leaves at most one torn last line. A regular file never blocks on its reader. When the file
// cannot be opened or written, training goes on: one warning goes to stderr, and what could not be
// written, as on a full disk, waits in memory (1 MiB, some hours of training) and is tried again
// with each record. Beyond that the newest records are dropped, with a second warning. Thread-safe.
class TelemetryWriter {
 public:
  using ClockMs = std::function<int64_t()>;  // Unix milliseconds

  // An empty path writes nothing. The file is made with mode 0600. The destructor tries once more
  // to write what waits.
  explicit TelemetryWriter(const std::string& path);
  TelemetryWriter(const std::string& path, ClockMs clock);
  ~TelemetryWriter();
  TelemetryWriter(const TelemetryWriter&) = delete;
  TelemetryWriter& operator=(const TelemetryWriter&) = delete;

  // step: optimizer steps completed, from 1. total_steps: of the whole run; 0 when unknown.
  // samples: positions "a:b" of the samples of the steps since the record before; empty: not told.
  void WriteMetrics(int64_t step, int64_t total_steps, const MetricValues& values,
                    std::string_view samples = "");
  void WritePhase(Phase phase, int64_t step);
  void WriteCheckpoint(const CheckpointRecord& record);
  // loss: mean nats a token over `tokens` predicted tokens of `data_set`.
  void WriteEvaluation(int64_t step, std::string_view data_set, double loss, int64_t tokens);
  // samples: positions "a:b" of the samples that the alert is about; empty: not told.
  void WriteAlert(int64_t step, std::string_view code, std::string_view message,
                  std::string_view samples = "");
  void WriteRank(const RankRecord& record);
  void WriteFlight(const FlightReport& report);

  // Tries to write what waits until all of it is in the file, for so long at most.
  void WriteRest(std::chrono::milliseconds patience);

 private:
  // Adds type and time, and appends the line. `fields` is the rest of the line, from ",\"...".
  void Append(std::string_view type, const std::string& fields);
  void Flush();
  void Warn(const std::string& what, bool& warned);

  const std::string path_;
  const ClockMs clock_;
  std::mutex mutex_;  // guards what follows
  int file_ = -1;
  std::string waiting_;  // of records that are not in the file yet, also the rest of a torn line
  bool warned_ = false;
  bool warned_of_loss_ = false;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_TELEMETRY_TELEMETRY_WRITER_H_
