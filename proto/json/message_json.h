// JSON of a message such as JobSpec. TRAINYARD_SPEC, the CLI and the REST API share one form: keys
// are the proto field names, enums their lower-case short names ("bf16"), durations are "90s",
// 64-bit integers are plain JSON numbers.
#ifndef TRAINYARD_PROTO_JSON_MESSAGE_JSON_H_
#define TRAINYARD_PROTO_JSON_MESSAGE_JSON_H_

#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"
#include "proto/json/enum_text.h"

namespace trainyard {

// JSON of the set fields of any of our messages.
nlohmann::json MessageToJson(const google::protobuf::Message& message);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JSON_MESSAGE_JSON_H_
