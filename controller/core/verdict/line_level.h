// Recognizes warnings and errors in the output of programs.
#ifndef TRAINYARD_CONTROLLER_CORE_VERDICT_LINE_LEVEL_H_
#define TRAINYARD_CONTROLLER_CORE_VERDICT_LINE_LEVEL_H_

#include <string_view>

#include "trainyard/v1/log_service.pb.h"

namespace trainyard::controller {

// Returns the level that a line states in its first 1,000 bytes, in the form of a common logging
// library or of an uncaught exception: "ERROR", "[E1128 ...", "level=error", "ValueError: ...",
// "WARN". UNSPECIFIED if the line states neither a warning nor an error.
v1::LogLevel LevelOf(std::string_view line);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_VERDICT_LINE_LEVEL_H_
