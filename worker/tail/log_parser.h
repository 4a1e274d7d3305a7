// Reads metrics from the output of programs that do not write telemetry.
#ifndef TRAINYARD_WORKER_TAIL_LOG_PARSER_H_
#define TRAINYARD_WORKER_TAIL_LOG_PARSER_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "trainyard/v1/job_spec.pb.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::worker {

// Converts one line of output to the numbers of one step. `step` is the number that the program
// prints. Numbers with a well-known meaning get the well-known name: loss, grad_norm, lr,
// step_seconds, tokens_per_second, mfu (as a ratio), val_loss, memory_bytes. Every other number
// keeps the program's own name, in lower case with underscores. Thread-safe once created.
class LogParser {
 public:
  virtual ~LogParser() = default;

  // Returns nullopt for a line that is not about a step. Most lines are not. Understands terminal
  // escape sequences, and prefixes of launchers and loggers (proto/text/line_prefix.h).
  std::optional<v1::MetricsRecord> Parse(std::string_view line) const;

 protected:
  // Parses a line without escape sequences. The text is valid UTF-8.
  virtual std::optional<v1::MetricsRecord> ParseText(const std::string& text) const = 0;
};

// Returns the rank whose output is read: log_parser.rank, where -1 means the last rank. Attempts
// that were started by an older controller lack this key; as in older releases, rank 0 is then
// read.
int ParsedRank(const v1::LogParserSpec& spec, int world_size);

// Returns the parser that the job names. `world_size` scales values that are reported per device
// (torchtitan's tps) to the whole job. INVALID_ARGUMENT for kind none, and for a regex pattern that
// does not compile, has no named group `step`, or has no other named group.
absl::StatusOr<std::unique_ptr<LogParser>> MakeLogParser(const v1::LogParserSpec& spec,
                                                         int world_size);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_LOG_PARSER_H_
