#include "proto/text/variable_text.h"

#include <algorithm>

namespace trainyard {
namespace {

constexpr std::string_view kOpen = "${";
constexpr std::string_view kEscapedOpen = "$${";
constexpr std::string_view kFallback = ":-";

bool IsNameCharacter(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_';
}

bool IsVariableName(std::string_view name) {
  const bool starts_with_digit = !name.empty() && '0' <= name.front() && name.front() <= '9';
  return !name.empty() && !starts_with_digit && std::ranges::all_of(name, IsNameCharacter);
}

// Appends the value of a reference. `inner` is the text between the braces.
void AppendValue(std::string_view inner, const VariableLookup& lookup, ExpandedText& expanded) {
  const std::size_t colon = inner.find(kFallback);
  const std::string_view name = inner.substr(0, colon);
  if (!IsVariableName(name)) {
    expanded.problem =
        "`${" + std::string(inner) + "}` does not name a variable; write `$${` for a literal `${`";
    return;
  }
  std::optional<std::string> value = lookup(name);
  const bool has_fallback = colon != std::string_view::npos;
  if (has_fallback && (!value.has_value() || value->empty())) {
    value = std::string(inner.substr(colon + kFallback.size()));
  }
  if (!value.has_value()) {
    expanded.problem = "variable " + std::string(name) + " is not set";
    return;
  }
  expanded.text += *value;
}

}  // namespace

ExpandedText ExpandVariables(std::string_view text, const VariableLookup& lookup) {
  ExpandedText expanded;
  while (!text.empty() && expanded.problem.empty()) {
    if (text.starts_with(kEscapedOpen)) {
      expanded.text += kOpen;
      text.remove_prefix(kEscapedOpen.size());
    } else if (text.starts_with(kOpen)) {
      const std::size_t close = text.find('}');
      if (close == std::string_view::npos) {
        expanded.problem = "`" + std::string(text.substr(0, 40)) +
                           "` has no closing brace; write `$${` for a literal `${`";
        break;
      }
      AppendValue(text.substr(kOpen.size(), close - kOpen.size()), lookup, expanded);
      text.remove_prefix(close + 1);
    } else {
      expanded.text.push_back(text.front());
      text.remove_prefix(1);
    }
  }
  return expanded;
}

}  // namespace trainyard
