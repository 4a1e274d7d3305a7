// Converts other trainers' files to job files: detects the format, reads it, writes the job.
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
  // Files of one run, such as a DeepSpeed configuration and its launch line; later ones win.
  std::vector<ConvertSource> sources;
  std::string format;  // Of every source; empty: detected from the text.
  std::string name;    // Of the job; empty: taken from the sources, else "converted".
  // A cluster for configurations that name none; 0: not given.
  int64_t nodes = 0;
  int64_t per_node = 0;
  // The job runs a script's own program unchanged, even if trainyard-trainer could do the run.
  bool keeps_command = false;
};

struct ConvertedJob {
  std::string text;                // YAML.
  std::vector<std::string> notes;  // "line 7: --foo 3: ...", in line order.
};

// INVALID_ARGUMENT: a source is in an unknown format, or invalid in its format.
absl::StatusOr<ConvertedJob> ConvertToJob(const ConvertRequest& request);

// Values of `--from`, sorted.
std::vector<std::string> ConvertFormats();

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_CONVERT_H_
