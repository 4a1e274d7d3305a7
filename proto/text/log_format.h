// Format of the daemons' logs.
#ifndef TRAINYARD_PROTO_TEXT_LOG_FORMAT_H_
#define TRAINYARD_PROTO_TEXT_LOG_FORMAT_H_

#include <memory>

#include "spdlog/formatter.h"

namespace trainyard {

// Returns a formatter that writes one line per message: UTC time, level, text. The text may quote
// output of jobs, so control characters are escaped (PrintableLine). A job can therefore neither
// control a terminal nor forge a log line.
std::unique_ptr<spdlog::formatter> LogFormat();

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_LOG_FORMAT_H_
