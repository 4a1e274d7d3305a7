#include "controller/planner/answer/distance_message.h"

#include <string>

namespace trainyard::planner {

v1::AxisDistance DistanceMessage(const AxisDistance& distance) {
  v1::AxisDistance message;
  message.set_axis(std::string(distance.axis));
  message.set_ranks(distance.ranks);
  message.set_crossed_level(distance.crossed);
  message.set_limit(distance.limit);
  message.set_bytes_per_second(distance.bandwidth);
  message.set_is_assumed(distance.is_assumed);
  return message;
}

}  // namespace trainyard::planner
