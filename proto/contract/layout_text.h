// A layout in a job file's words.
#ifndef TRAINYARD_PROTO_CONTRACT_LAYOUT_TEXT_H_
#define TRAINYARD_PROTO_CONTRACT_LAYOUT_TEXT_H_

#include <string>

#include "proto/contract/run_config.h"

namespace trainyard {

// Settings of a layout without those that have their defaults: "{tp: 2, zero: 1}". dp, which
// follows from the number of ranks, is left out.
std::string LayoutText(const LayoutConfig& layout);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_CONTRACT_LAYOUT_TEXT_H_
