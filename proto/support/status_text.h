#ifndef TRAINYARD_PROTO_SUPPORT_STATUS_TEXT_H_
#define TRAINYARD_PROTO_SUPPORT_STATUS_TEXT_H_

#include <string>

#include "absl/status/status.h"

namespace trainyard {

// Returns the message of a status as std::string, for spdlog. Debian's absl::string_view is not
// std::string_view, so spdlog cannot format it.
inline std::string Text(const absl::Status& status) { return std::string(status.message()); }

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_STATUS_TEXT_H_
