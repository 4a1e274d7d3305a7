#include "controller/planner/figures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace trainyard::planner {

double MedianOf(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

std::string FigureText(double value, int digits) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}

std::string PercentText(double part, int decimals) {
  char text[340];  // Long enough for the largest double without an exponent.
  std::snprintf(text, sizeof(text), "%.*f %%", decimals, 100 * part);
  return text;
}

std::vector<double> EvenFactors(double low, double high, int count) {
  std::vector<double> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(low * std::pow(high / low, static_cast<double>(i) / (count - 1)));
  }
  return values;
}

}  // namespace trainyard::planner
