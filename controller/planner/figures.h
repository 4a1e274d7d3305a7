// Medians of measurements, and formatting of figures.
#ifndef TRAINYARD_CONTROLLER_PLANNER_FIGURES_H_
#define TRAINYARD_CONTROLLER_PLANNER_FIGURES_H_

#include <string>
#include <vector>

namespace trainyard::planner {

// Median of the values: for an even number, the mean of the two middle ones; 0 without values.
double MedianOf(std::vector<double> values);

// Formats with `digits` significant digits, such as "1.23e+09".
std::string FigureText(double value, int digits);

// Formats 0.234 as "23.4 %" with one decimal.
std::string PercentText(double part, int decimals);

// `count` (at least 2) values from low to high in a geometric progression.
std::vector<double> EvenFactors(double low, double high, int count);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_FIGURES_H_
