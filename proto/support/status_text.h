#ifndef TRAINYARD_PROTO_SUPPORT_STATUS_TEXT_H_
#define TRAINYARD_PROTO_SUPPORT_STATUS_TEXT_H_

#include <string>

#include "absl/status/status.h"

namespace trainyard {

// The words of a status as spdlog and std::string take them: Debian's absl::string_view is a type
// of its own.
inline std::string Text(const absl::Status& status) { return std::string(status.message()); }

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_STATUS_TEXT_H_
