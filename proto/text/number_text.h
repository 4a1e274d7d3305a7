// Formats numbers for users and for generated code.
#ifndef TRAINYARD_PROTO_TEXT_NUMBER_TEXT_H_
#define TRAINYARD_PROTO_TEXT_NUMBER_TEXT_H_

#include <charconv>
#include <cmath>
#include <string>

namespace trainyard {

// Returns the shortest text that reads back as exactly the same number. Whole numbers below 1e15
// have no exponent.
inline std::string NumberText(double value) {
  char text[32];  // The text has at most 24 characters.
  const bool is_whole = std::trunc(value) == value && std::abs(value) < 1e15;
  const auto [end, error] =
      is_whole ? std::to_chars(text, text + sizeof(text), static_cast<long long>(value))
               : std::to_chars(text, text + sizeof(text), value);
  return std::string(text, end);
}

// Returns "NaN", "Inf" or "-Inf". Returns "" for a finite number.
inline std::string NotFiniteText(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Inf" : "-Inf";
  return "";
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_NUMBER_TEXT_H_
