// Parses and formats amounts as documents write them: "56B", "1.36e21".
#ifndef TRAINYARD_CONTROLLER_PLANNER_AMOUNT_H_
#define TRAINYARD_CONTROLLER_PLANNER_AMOUNT_H_

#include <optional>
#include <string>

namespace trainyard::planner {

// An amount and its rounding error: "56B" is 56e9 plus or minus 0.5e9.
struct Amount {
  double value = 0;
  double half_unit = 0;  // Half a unit of the last written digit.
};

// Parses amounts such as "56B", "1.545B", "14.8T", "1.36e21" and "3662109375". Returns nullopt for
// any other text.
std::optional<Amount> ReadAmount(const std::string& text);

// Formats a value, for example as "46.7B".
std::string AmountText(double value);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_AMOUNT_H_
