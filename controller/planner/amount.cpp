#include "controller/planner/amount.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace trainyard::planner {
namespace {

// Returns the power of ten that the unit stands for, or -1 for an unknown unit.
int PowerOfUnit(char unit) {
  switch (unit) {
    case 'k':
    case 'K':
      return 3;
    case 'M':
      return 6;
    case 'B':
    case 'G':
      return 9;
    case 'T':
      return 12;
    default:
      return -1;
  }
}

int DigitsAfterPoint(const std::string& text) {
  const size_t point = text.find('.');
  if (point == std::string::npos) return 0;
  const size_t end = text.find_first_not_of("0123456789", point + 1);
  return static_cast<int>((end == std::string::npos ? text.size() : end) - point - 1);
}

}  // namespace

std::optional<Amount> ReadAmount(const std::string& text) {
  if (text.empty() || text.find_first_not_of("0123456789.eE+-kKMBGT") != std::string::npos) {
    return std::nullopt;
  }
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string unit = end;
  const int power = unit.empty() ? 0 : PowerOfUnit(unit[0]);
  if (unit.size() > 1 || power < 0) return std::nullopt;
  const size_t exponent = text.find_first_of("eE");
  const int written = exponent == std::string::npos ? 0 : std::atoi(text.c_str() + exponent + 1);
  const double last = std::pow(10, power + written - DigitsAfterPoint(text));
  return Amount{number * std::pow(10, power), last / 2};
}

std::string AmountText(double value) {
  constexpr const char* kUnits[] = {"", "k", "M", "B", "T"};
  int unit = 0;
  while (value >= 999.5 && unit < 4) {
    value /= 1000;
    ++unit;
  }
  char text[40];
  std::snprintf(text, sizeof(text), value < 1e4 ? "%.3g%s" : "%.2e%s", value, kUnits[unit]);
  return text;
}

}  // namespace trainyard::planner
