// Advice about a run or its settings.
#ifndef TRAINYARD_CONTROLLER_PLANNER_FINDING_H_
#define TRAINYARD_CONTROLLER_PLANNER_FINDING_H_

#include <string>

namespace trainyard::planner {

// Something that cannot be as it is written, or that does not go as it should.
struct Finding {
  std::string what;
  std::string why;
  std::string right;  // Setting that would be right, or change to make.
};

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_FINDING_H_
