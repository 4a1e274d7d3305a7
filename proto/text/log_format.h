// Format of the daemons' logs.
#ifndef TRAINYARD_PROTO_TEXT_LOG_FORMAT_H_
#define TRAINYARD_PROTO_TEXT_LOG_FORMAT_H_

#include <memory>

#include "spdlog/formatter.h"

namespace trainyard {

// One line per message: UTC time, level, text. The text may quote jobs, so its control characters
// are escaped (PrintableLine): a job can neither control a terminal nor forge a line.
std::unique_ptr<spdlog::formatter> LogFormat();

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_LOG_FORMAT_H_
