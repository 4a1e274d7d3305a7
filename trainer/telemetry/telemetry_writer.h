// Appends telemetry records, one JSON object per line, to the file that the worker reads.
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

// Names and values of one step, in the order in which they are written. Non-finite values are
// written as NaN, Infinity and -Infinity, as in Python's json module.
using MetricValues = std::vector<std::pair<std::string, double>>;

struct CheckpointRecord {
  int64_t step = 0;
  int64_t attempt = 0;  // Attempt that published the checkpoint.
  std::string path;
  int64_t bytes = 0;
  double blocking_seconds = 0;
  double total_seconds = 0;
  bool deleted = false;  // Removed by retention.
  std::string metric;    // Metric by which checkpoints are compared; empty: not evaluated.
  double metric_value = 0;
};

// Progress and times of one rank.
struct RankRecord {
  int64_t generation = 1;   // Generation of the gang in this attempt.
  int64_t step = 0;         // Completed steps.
  double step_seconds = 0;  // Mean over the steps since the latest record.
  int64_t memory_bytes = 0;
  // Seconds spent in each phase, and in waits for data, in total since the process started.
  double init_seconds = 0;
  double load_seconds = 0;
  double data_stall_seconds = 0;
  double checkpoint_seconds = 0;
  double evaluation_seconds = 0;
  // Seconds of the latest measured step, under the keys of telemetry_keys.h; empty if no step was
  // measured.
  MetricValues step_times;
};

// The state of one rank in a group of ranks. FlightRecord in telemetry.proto describes the fields.
struct FlightReport {
  std::string group;
  std::string ranks;
  int64_t sequence = 0;
  std::string operation;
  int64_t bytes = 0;
  int64_t queued_ms = 0;
  int64_t entered_ms = 0;
};

// The balance of the experts in one step. telemetry_keys.h describes the fields. Each array except
// `load` has one number per layer. An empty array is not written.
struct ExpertsReport {
  int64_t step = 0;
  int64_t first_layer = 0;
  int64_t experts = 0;
  int64_t topk = 0;
  std::vector<std::uint8_t> load;  // Codes, layer by layer.
  std::vector<double> balance;
  std::vector<double> aux_loss;
  std::vector<double> entropy;
  std::vector<double> dropped;
};

// Appends whole lines with O_APPEND, so that records of several threads never mix and a crash
// leaves at most one torn line, at the end. Writing never waits for the reader, because the file is
// a regular file.
//
// If the file cannot be opened or written, training continues, and one warning is written to
// stderr. Records that could not be written, for example because the disk is full, are kept in
// memory (1 MiB, some hours of training) and retried with each new record. When this memory is
// full, the newest records are dropped, with a second warning. Thread-safe.
class TelemetryWriter {
 public:
  using ClockMs = std::function<int64_t()>;  // Unix milliseconds.

  // Creates the file with mode 0600. If the path is empty, writes nothing. The destructor retries
  // unwritten records once.
  explicit TelemetryWriter(const std::string& path);
  TelemetryWriter(const std::string& path, ClockMs clock);
  ~TelemetryWriter();
  TelemetryWriter(const TelemetryWriter&) = delete;
  TelemetryWriter& operator=(const TelemetryWriter&) = delete;

  // `step` is the number of completed optimizer steps, from 1. total_steps is the length of the
  // run; 0 if unknown. `samples` is the positions "a:b" of the samples used since the latest
  // record; empty: not reported.
  void WriteMetrics(int64_t step, int64_t total_steps, const MetricValues& values,
                    std::string_view samples = "");
  void WritePhase(Phase phase, int64_t step);
  void WriteCheckpoint(const CheckpointRecord& record);
  // `loss` is the mean over `tokens` predicted tokens of `data_set`, in nats per token.
  void WriteEvaluation(int64_t step, std::string_view data_set, double loss, int64_t tokens);
  // `samples` is the positions "a:b" of the samples that the alert is about; empty: not reported.
  void WriteAlert(int64_t step, std::string_view code, std::string_view message,
                  std::string_view samples = "");
  void WriteRank(const RankRecord& record);
  void WriteFlight(const FlightReport& report);
  void WriteExperts(const ExpertsReport& report);
  // Writes a report of at most kMaxDataReportPartBytes as the only one of this attempt.
  void WriteDataReport(std::string_view text);

  // Retries unwritten records until all of them are in the file, for at most `patience`.
  void WriteRest(std::chrono::milliseconds patience);

 private:
  // Appends a line that begins with the type and the time. `fields` follows; it must begin with
  // ",\"...".
  void Append(std::string_view type, const std::string& fields);
  void Flush();
  void Warn(const std::string& what, bool& warned);

  const std::string path_;
  const ClockMs clock_;
  std::mutex mutex_;  // Guards the members below.
  int file_ = -1;
  std::string waiting_;  // Records to be written, including the rest of a torn line.
  bool warned_ = false;
  bool warned_of_loss_ = false;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_TELEMETRY_TELEMETRY_WRITER_H_
