// Messages as JSON for scripts: all keys present, readable times.
#ifndef TRAINYARD_CLI_OUTPUT_STABLE_JSON_H_
#define TRAINYARD_CLI_OUTPUT_STABLE_JSON_H_

#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"

namespace trainyard::cli {

// MessageToJson with every field present. An absent text is "", a list [], a message or an optional
// field null; a number is null if its 0 would mean "unknown". Fields named *_ms become either
// instants, as ISO-8601 text under the name without _ms ("submitted_time":
// "2026-11-21T12:00:00.000Z", null if unset), or durations in seconds ("checkpoint_seconds":
// 0.054). A job's spec contains only the keys that are set, because absence is meaningful there.
nlohmann::json StableJson(const google::protobuf::Message& message);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_STABLE_JSON_H_
