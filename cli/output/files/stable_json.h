// Converts messages to JSON for scripts: all keys are present, and times are readable.
#ifndef TRAINYARD_CLI_OUTPUT_FILES_STABLE_JSON_H_
#define TRAINYARD_CLI_OUTPUT_FILES_STABLE_JSON_H_

#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"

namespace trainyard::cli {

// Converts the message like MessageToJson, but with every field present. If absent, a text is "", a
// list [], and a message or an optional field null. A number is null if its 0 would mean "unknown".
//
// A field named *_ms is a point in time or a duration. A point in time becomes ISO-8601 text under
// the name without _ms ("submitted_time": "2026-11-21T12:00:00.000Z", null if unset). A duration
// becomes seconds ("checkpoint_seconds": 0.054).
//
// A job's spec has only the keys that are set, because a missing key has a meaning there.
nlohmann::json StableJson(const google::protobuf::Message& message);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_FILES_STABLE_JSON_H_
