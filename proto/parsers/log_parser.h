// Reads metrics from the output of programs that do not write telemetry.
#ifndef TRAINYARD_PROTO_PARSERS_LOG_PARSER_H_
#define TRAINYARD_PROTO_PARSERS_LOG_PARSER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "proto/parsers/line_parser.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

// Returns the rank whose output is read: log_parser.rank, where -1 means the last rank. If the key
// is missing, an older controller started the attempt, and rank 0 is read as in older releases.
int ParsedRank(const v1::LogParserSpec& spec, int world_size);

// Returns the parser that the job names. `world_size` scales values that are reported per device
// (torchtitan's tps) to the whole job. INVALID_ARGUMENT for kind none, and for a regex pattern that
// does not compile, has no named group `step`, or has no other named group.
absl::StatusOr<std::unique_ptr<LogParser>> MakeLogParser(const v1::LogParserSpec& spec,
                                                         int world_size);

// Returns a parser without metrics, for the output of a launcher whose job has no log parser. Call
// ReadOnlyRank on it.
std::unique_ptr<LogParser> MakeLauncherParser();

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PARSERS_LOG_PARSER_H_
