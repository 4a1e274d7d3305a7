// Other trainers' files as job files: finds the format, reads it, writes the job.
#ifndef TRAINYARD_CLI_CONVERT_CONVERT_H_
#define TRAINYARD_CLI_CONVERT_CONVERT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace trainyard::cli {

struct ConvertSource {
  std::string name;  // For messages.
  std::string text;
};

struct ConvertRequest {
  // Of one run, such as a DeepSpeed configuration and its launch line; later ones win.
  std::vector<ConvertSource> sources;
  std::string format;  // Of every source; empty: found from its text.
  std::string name;    // Of the job; empty: what the sources say, else "converted".
  // A cluster for configurations that do not name one; 0: not given.
  int64_t nodes = 0;
  int64_t per_node = 0;
  // The job runs a script's own program unchanged, also where trainyard-trainer could do its run.
  bool keeps_command = false;
};

struct ConvertedJob {
  std::string text;                // YAML.
  std::vector<std::string> notes;  // "line 7: --foo 3: ...", in the order of the lines.
};

// INVALID_ARGUMENT: a source is in no known format, or not valid in it.
absl::StatusOr<ConvertedJob> ConvertToJob(const ConvertRequest& request);

// Names of formats for `--from`, sorted.
std::vector<std::string> ConvertFormats();

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_CONVERT_H_
