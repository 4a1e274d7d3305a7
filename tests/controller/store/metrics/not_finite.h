#ifndef TRAINYARD_TESTS_CONTROLLER_STORE_METRICS_NOT_FINITE_H_
#define TRAINYARD_TESTS_CONTROLLER_STORE_METRICS_NOT_FINITE_H_

#include <limits>

namespace trainyard::controller {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_STORE_METRICS_NOT_FINITE_H_
