// Converts a message such as JobSpec to JSON, in the form that TRAINYARD_SPEC, the CLI and the REST
// API share. Keys are the proto field names, enums are their lower-case short names ("bf16"),
// durations are texts like "90s", and 64-bit integers are plain JSON numbers.
#ifndef TRAINYARD_PROTO_JSON_MESSAGE_JSON_H_
#define TRAINYARD_PROTO_JSON_MESSAGE_JSON_H_

#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"
#include "proto/json/enum_text.h"

namespace trainyard {

// Converts any of our messages. Fields that are not set are omitted.
nlohmann::json MessageToJson(const google::protobuf::Message& message);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JSON_MESSAGE_JSON_H_
