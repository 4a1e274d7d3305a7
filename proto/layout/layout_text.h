// Writes a layout as text, in the syntax of a job file.
#ifndef TRAINYARD_PROTO_LAYOUT_LAYOUT_TEXT_H_
#define TRAINYARD_PROTO_LAYOUT_LAYOUT_TEXT_H_

#include <string>

#include "proto/contract/layout_config.h"

namespace trainyard {

// Returns the settings of a layout that differ from their defaults, such as "{tp: 2, zero: 1}".
// Omits dp, because it follows from the number of ranks.
std::string LayoutText(const LayoutConfig& layout);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_LAYOUT_LAYOUT_TEXT_H_
