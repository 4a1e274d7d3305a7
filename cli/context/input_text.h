// Reads the text of a file that a user names, or standard input.
#ifndef TRAINYARD_CLI_CONTEXT_INPUT_TEXT_H_
#define TRAINYARD_CLI_CONTEXT_INPUT_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "cli/output/terminal/console.h"

namespace trainyard::cli {

// `file`: a path, or "-" for standard input. NOT_FOUND: the file cannot be opened.
// INVALID_ARGUMENT: the text is longer than max_bytes.
absl::StatusOr<std::string> ReadInputText(const std::string& file, std::size_t max_bytes,
                                          Console& console);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONTEXT_INPUT_TEXT_H_
