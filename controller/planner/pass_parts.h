// Parts of the time that one rank needs for a pass through a block.
#ifndef TRAINYARD_CONTROLLER_PLANNER_PASS_PARTS_H_
#define TRAINYARD_CONTROLLER_PLANNER_PASS_PARTS_H_

namespace trainyard::planner {

// The time of the rank's own work, and of those parts of its transfers that do not overlap this
// work.
struct PassParts {
  double compute = 0;
  double tensor = 0;
  double context = 0;
  double expert = 0;  // Transfers of rows to experts and back.

  double Total() const { return compute + tensor + context + expert; }
  PassParts& operator+=(const PassParts& other);
};
PassParts operator*(double factor, PassParts parts);
PassParts operator+(PassParts left, const PassParts& right);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_PASS_PARTS_H_
