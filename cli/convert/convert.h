// Converts files of other trainers to job files: detects the format, reads the sources and writes
// the job.
#ifndef TRAINYARD_CLI_CONVERT_CONVERT_H_
#define TRAINYARD_CLI_CONVERT_CONVERT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::cli {

struct ConvertSource {
  std::string name;  // The name used in messages.
  std::string text;
};

struct ConvertRequest {
  // The files that describe one run, such as a DeepSpeed configuration and its launch line. Later
  // files override earlier ones.
  std::vector<ConvertSource> sources;
  std::string format;  // The format of all sources; empty: detect it from the text.
  std::string name;    // The job's name; empty: taken from the sources, or "converted".
  // Number of nodes, used if the configuration does not state it. 0: not given.
  int64_t nodes = 0;
  int64_t per_node = 0;
  // True: the job runs the script's own program, even if trainyard-trainer supports the run.
  bool keeps_command = false;
  // Values of shell variables that a script does not set itself.
  std::map<std::string, std::string> variables;
};

struct ConvertedJob {
  std::string text;                // YAML.
  std::string explained;           // The text with a comment in each line: the origin of the value.
  std::vector<std::string> notes;  // Such as "line 7: --foo 3: ...", sorted by line.
};

// Returns INVALID_ARGUMENT if a source's format is not recognized, if the source is not valid in
// its format, or if a part of the command is known only when a shell runs.
absl::StatusOr<ConvertedJob> ConvertToJob(const ConvertRequest& request);

// The values that `--from` accepts, sorted.
std::vector<std::string> ConvertFormats();

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_CONVERT_H_
