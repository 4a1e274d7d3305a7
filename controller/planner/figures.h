// Figures of measured runs, and figures as text.
#ifndef TRAINYARD_CONTROLLER_PLANNER_FIGURES_H_
#define TRAINYARD_CONTROLLER_PLANNER_FIGURES_H_

#include <string>
#include <vector>

namespace trainyard::planner {

// The mean of the two in the middle of an even number of values; 0 of none.
double MedianOf(std::vector<double> values);

// So many significant digits, such as "1.23e+09".
std::string FigureText(double value, int digits);

// "23.4 %" for 0.234 with one decimal.
std::string PercentText(double part, int decimals);

// So many values from low to high, each in the same proportion to the one before; count >= 2.
std::vector<double> EvenFactors(double low, double high, int count);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_FIGURES_H_
