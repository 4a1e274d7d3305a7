// Parses option values that are amounts, as in `--tokens 2T`.
#ifndef TRAINYARD_CLI_GRAMMAR_AMOUNT_OPTION_H_
#define TRAINYARD_CLI_GRAMMAR_AMOUNT_OPTION_H_

#include <string>

#include "absl/status/statusor.h"

namespace trainyard::cli {

// Returns 0 for an empty text, and INVALID_ARGUMENT unless the text is a number from 1 to 1e40.
absl::StatusOr<double> ReadAmountOption(const std::string& option, const std::string& text);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_GRAMMAR_AMOUNT_OPTION_H_
