// Format of the daemons' logs.
#ifndef TRAINYARD_PROTO_TEXT_LOG_FORMAT_H_
#define TRAINYARD_PROTO_TEXT_LOG_FORMAT_H_

#include <memory>

#include "spdlog/formatter.h"

namespace trainyard {

// Returns a formatter that writes one line per message: UTC time, level, text. Control characters
// in the text are escaped (PrintableLine), because the text may quote the output of jobs. A job can
// therefore neither control a terminal nor forge a log line.
std::unique_ptr<spdlog::formatter> LogFormat();

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_LOG_FORMAT_H_
