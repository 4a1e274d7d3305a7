// Advice about a run or its settings.
#ifndef TRAINYARD_CONTROLLER_PLANNER_FINDING_H_
#define TRAINYARD_CONTROLLER_PLANNER_FINDING_H_

#include <string>

namespace trainyard::planner {

// An invalid setting, or a problem of a run.
struct Finding {
  std::string what;
  std::string why;
  std::string right;  // The correct setting, or the change to make.
};

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_FINDING_H_
