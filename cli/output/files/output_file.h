// Files that a command writes in addition to its output.
#ifndef TRAINYARD_CLI_OUTPUT_FILES_OUTPUT_FILE_H_
#define TRAINYARD_CLI_OUTPUT_FILES_OUTPUT_FILE_H_

#include <string>

#include "absl/status/status.h"
#include "cli/output/terminal/console.h"

namespace trainyard::cli {

// Writes or replaces the file and prints a note. INVALID_ARGUMENT: the file cannot be written.
absl::Status WriteOutputFile(const std::string& path, const std::string& text, Console& console);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_FILES_OUTPUT_FILE_H_
