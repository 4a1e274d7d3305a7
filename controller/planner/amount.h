// Figures as documents write them: "56B", "1.36e21".
#ifndef TRAINYARD_CONTROLLER_PLANNER_AMOUNT_H_
#define TRAINYARD_CONTROLLER_PLANNER_AMOUNT_H_

#include <optional>
#include <string>

namespace trainyard::planner {

// A figure as it was written: "56B" is 56e9, give or take 0.5e9.
struct Amount {
  double value = 0;
  double half_unit = 0;  // Of the last digit.
};

// "56B", "1.545B", "14.8T", "1.36e21", "3662109375"; nullopt for other texts.
std::optional<Amount> ReadAmount(const std::string& text);

// "46.7B".
std::string AmountText(double value);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_AMOUNT_H_
