// Evaluates the integer expressions of bash, such as `N * (G + 1)`.
#ifndef TRAINYARD_CLI_CONVERT_SHELL_SHELL_ARITHMETIC_H_
#define TRAINYARD_CLI_CONVERT_SHELL_SHELL_ARITHMETIC_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace trainyard::cli {

struct ArithmeticVariables {
  // Returns nullopt if the value is not in the script.
  std::function<std::optional<std::string>(const std::string& name)> read;
  // nullopt: the new value is not in the script.
  std::function<void(const std::string& name, std::optional<int64_t> value)> write;
};

// Returns nullopt if the expression is not valid, uses a variable whose value is not in the script,
// divides by zero, or has a value of more than 64 bits.
std::optional<int64_t> EvaluateArithmetic(absl::string_view expression,
                                          const ArithmeticVariables& variables);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SHELL_SHELL_ARITHMETIC_H_
