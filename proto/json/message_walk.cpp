#include "proto/json/message_walk.h"

namespace trainyard {

std::string DurationText(const google::protobuf::Duration& duration) {
  if (duration.nanos() == 0) return absl::StrCat(duration.seconds(), "s");
  return absl::StrCat(static_cast<double>(duration.seconds()) + duration.nanos() / 1e9, "s");
}

}  // namespace trainyard
