// Converts enum values to and from text. The text of a value is its short name in lower case, such
// as "bf16".
#ifndef TRAINYARD_PROTO_JSON_ENUM_TEXT_H_
#define TRAINYARD_PROTO_JSON_ENUM_TEXT_H_

#include <string>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/generated_enum_reflection.h"

namespace trainyard {

// Returns the name of the value in lower case, without the prefix of the enum: "PRECISION_BF16"
// gives "bf16".
std::string EnumShortName(const google::protobuf::EnumValueDescriptor& value);

// Returns the value with the short name `name`; nullptr if there is none.
const google::protobuf::EnumValueDescriptor* EnumValueByShortName(
    const google::protobuf::EnumDescriptor& type, const std::string& name);

// Returns the short name of a value of a generated enum: EnumText(v1::JOB_STATE_RUNNING) is
// "running".
template <typename Enum>
std::string EnumText(Enum value) {
  const auto* descriptor =
      google::protobuf::GetEnumDescriptor<Enum>()->FindValueByNumber(static_cast<int>(value));
  return descriptor == nullptr ? std::to_string(static_cast<int>(value))
                               : EnumShortName(*descriptor);
}

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JSON_ENUM_TEXT_H_
