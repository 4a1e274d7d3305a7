// Messages as JSON for scripts: keys are always present, and times are readable.
#ifndef TRAINYARD_CLI_OUTPUT_STABLE_JSON_H_
#define TRAINYARD_CLI_OUTPUT_STABLE_JSON_H_

#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"

namespace trainyard::cli {

// MessageToJson with every field present: an absent text is "", a list [], a message or an optional
// field null, and a number null when its 0 would say that it is not known. Fields named *_ms are
// either instants, as ISO-8601 text under the name without _ms ("submitted_time":
// "2026-11-21T12:00:00.000Z", null when there is none), or durations, as seconds
// ("checkpoint_seconds": 0.054). A job's spec keeps only the keys that are set: there, absence has
// a meaning.
nlohmann::json StableJson(const google::protobuf::Message& message);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_STABLE_JSON_H_
