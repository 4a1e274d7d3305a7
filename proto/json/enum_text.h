// The readable form of enum values: the lower-case short name, such as "bf16".
#ifndef TRAINYARD_PROTO_JSON_ENUM_TEXT_H_
#define TRAINYARD_PROTO_JSON_ENUM_TEXT_H_

#include <string>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/generated_enum_reflection.h"

namespace trainyard {

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

#endif  // TRAINYARD_PROTO_JSON_ENUM_TEXT_H_
