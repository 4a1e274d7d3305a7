#ifndef TRAINYARD_PROTO_SUPPORT_STATUS_TEXT_H_
#define TRAINYARD_PROTO_SUPPORT_STATUS_TEXT_H_

#include <string>

#include "absl/status/status.h"

namespace trainyard {

// Returns the message of a status as std::string, for spdlog. spdlog cannot format
// absl::string_view, because Debian's is not std::string_view.
inline std::string Text(const absl::Status& status) { return std::string(status.message()); }

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_STATUS_TEXT_H_
