// JSON of a message such as JobSpec, and the readable form of its enums. TRAINYARD_SPEC, the CLI
// and the REST API share one form: keys are the proto field names, enums their lower-case short
// names ("bf16"), durations are "90s", 64-bit integers are plain JSON numbers.
#ifndef TRAINYARD_PROTO_JSON_MESSAGE_JSON_H_
#define TRAINYARD_PROTO_JSON_MESSAGE_JSON_H_

#include <string>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"

namespace trainyard {

// JSON of the set fields of any of our messages.
nlohmann::json MessageToJson(const google::protobuf::Message& message);

// "PRECISION_BF16" -> "bf16": the value's name without the enum's prefix, in lower case.
std::string EnumShortName(const google::protobuf::EnumValueDescriptor& value);

// The value with the short name `name`, or nullptr.
const google::protobuf::EnumValueDescriptor* EnumValueByShortName(
    const google::protobuf::EnumDescriptor& type, const std::string& name);

// Short name of a value of a generated enum: EnumText(v1::JOB_STATE_RUNNING) is "running".
template <typename Enum>
std::string EnumText(Enum value) {
  const auto* descriptor =
      google::protobuf::GetEnumDescriptor<Enum>()->FindValueByNumber(static_cast<int>(value));
  return descriptor == nullptr ? std::to_string(static_cast<int>(value))
                               : EnumShortName(*descriptor);
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JSON_MESSAGE_JSON_H_
