// Computes medians of measurements and formats figures.
#ifndef TRAINYARD_CONTROLLER_PLANNER_FIGURES_H_
#define TRAINYARD_CONTROLLER_PLANNER_FIGURES_H_

#include <string>
#include <vector>

namespace trainyard::planner {

// Returns the median. For an even number of values, this is the mean of the two middle values.
// Returns 0 if there are no values.
double MedianOf(std::vector<double> values);

// Formats the value with `digits` significant digits, for example as "1.23e+09".
std::string FigureText(double value, int digits);

// Formats a fraction as a percentage: 0.234 with one decimal is "23.4 %".
std::string PercentText(double part, int decimals);

// Returns `count` values from `low` to `high` in a geometric progression. `count` must be at least
// 2.
std::vector<double> EvenFactors(double low, double high, int count);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_FIGURES_H_
