// Reads metrics from the output of programs that do not write telemetry.
#ifndef TRAINYARD_WORKER_TAIL_LOG_PARSER_H_
#define TRAINYARD_WORKER_TAIL_LOG_PARSER_H_

#include <memory>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "trainyard/v1/job_spec.pb.h"
#include "trainyard/v1/telemetry.pb.h"

namespace trainyard::worker {

// Turns one line of output into the numbers of one step. `step` is the number printed by the
// program. Numbers with a well-known meaning get the well-known name (loss, grad_norm, lr,
// step_seconds, tokens_per_second, mfu as a ratio, val_loss, memory_bytes). Every other number
// keeps the program's own name, in lower case with underscores. Thread-safe once created.
class LogParser {
 public:
  virtual ~LogParser() = default;

  // nullopt for a line that is not about a step, like most lines.
  virtual std::optional<v1::MetricsRecord> Parse(std::string_view line) const = 0;
};

// Rank of the job whose output is read: log_parser.rank, where -1 is the last rank. Attempts
// started by an older controller lack this key: rank 0 is read, as before.
int ParsedRank(const v1::LogParserSpec& spec, int world_size);

// The parser named by the job. `world_size` scales values reported per device (torchtitan's tps) to
// the whole job. INVALID_ARGUMENT for kind none, and for a regex pattern that does not compile, has
// no named group `step`, or has no other named group.
absl::StatusOr<std::unique_ptr<LogParser>> MakeLogParser(const v1::LogParserSpec& spec,
                                                         int world_size);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_TAIL_LOG_PARSER_H_
