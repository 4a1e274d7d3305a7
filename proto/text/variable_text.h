// Replaces references to variables in a text.
#ifndef TRAINYARD_PROTO_TEXT_VARIABLE_TEXT_H_
#define TRAINYARD_PROTO_TEXT_VARIABLE_TEXT_H_

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

// Returns the value of a variable; nullopt if the variable is not set.
using VariableLookup = std::function<std::optional<std::string>(std::string_view name)>;

struct ExpandedText {
  std::string text;
  // Reason why a reference has no value, such as "`${HOME` has no closing brace". Empty: none.
  std::string problem;
};

// Replaces `${NAME}` by the variable's value, and `${NAME:-TEXT}` by the value or, if the variable
// is unset or empty, by TEXT. `$${` is a literal `${`. All other characters, also a single `$`, are
// copied. Values are copied as they are: references in values are not replaced.
ExpandedText ExpandVariables(std::string_view text, const VariableLookup& lookup);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_VARIABLE_TEXT_H_
