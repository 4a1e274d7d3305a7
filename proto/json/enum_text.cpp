#include "proto/json/enum_text.h"

#include "absl/strings/ascii.h"

namespace trainyard {
namespace {

// Returns the prefix that our style guide requires for the values of an enum: "JOB_STATE_" for
// "JobState".
std::string EnumPrefix(const google::protobuf::EnumDescriptor& type) {
  std::string prefix;
  for (const char c : type.name()) {
    if (absl::ascii_isupper(c) && !prefix.empty()) prefix += '_';
    prefix += absl::ascii_toupper(c);
  }
  return prefix + "_";
}

}  // namespace

std::string EnumShortName(const google::protobuf::EnumValueDescriptor& value) {
  const std::string prefix = EnumPrefix(*value.type());
  const std::string& name = value.name();
  const bool prefixed = name.size() > prefix.size() && name.compare(0, prefix.size(), prefix) == 0;
  return absl::AsciiStrToLower(prefixed ? name.substr(prefix.size()) : name);
}

const google::protobuf::EnumValueDescriptor* EnumValueByShortName(
    const google::protobuf::EnumDescriptor& type, const std::string& name) {
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0 && EnumShortName(*type.value(i)) == name) return type.value(i);
  }
  return nullptr;
}

}  // namespace trainyard
