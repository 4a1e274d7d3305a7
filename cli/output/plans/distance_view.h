// The distances between the ranks of a layout as text.
#ifndef TRAINYARD_CLI_OUTPUT_PLANS_DISTANCE_VIEW_H_
#define TRAINYARD_CLI_OUTPUT_PLANS_DISTANCE_VIEW_H_

#include <string>

#include "google/protobuf/repeated_ptr_field.h"
#include "trainyard/v1/planner.pb.h"

namespace trainyard::cli {

// Returns one line per axis, such as "  data parallel crosses spine: 12.5 GB/s per GPU\n".
std::string DistancesText(const google::protobuf::RepeatedPtrField<v1::AxisDistance>& distances);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_PLANS_DISTANCE_VIEW_H_
