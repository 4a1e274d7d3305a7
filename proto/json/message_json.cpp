#include "proto/json/message_json.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/duration.pb.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// "90s", or "0.25s" for a part of a second.
std::string DurationText(const google::protobuf::Duration& duration) {
  if (duration.nanos() == 0) return absl::StrCat(duration.seconds(), "s");
  return absl::StrCat(static_cast<double>(duration.seconds()) + duration.nanos() / 1e9, "s");
}

// JSON has no NaN or infinity; they become text so that they are not lost.
nlohmann::json NumberToJson(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

// One value of a field: element `index` of a repeated one, else the only one (index -1).
nlohmann::json ValueToJson(const Message& message, const FieldDescriptor& field, int index) {
  const Reflection& reflection = *message.GetReflection();
  const bool repeated = index >= 0;
  switch (field.cpp_type()) {
#define TRAINYARD_NUMBER(kind, Getter)                                       \
  case FieldDescriptor::kind:                                                \
    return repeated ? reflection.GetRepeated##Getter(message, &field, index) \
                    : reflection.Get##Getter(message, &field)
    TRAINYARD_NUMBER(CPPTYPE_INT32, Int32);
    TRAINYARD_NUMBER(CPPTYPE_INT64, Int64);
    TRAINYARD_NUMBER(CPPTYPE_UINT32, UInt32);
    TRAINYARD_NUMBER(CPPTYPE_UINT64, UInt64);
    TRAINYARD_NUMBER(CPPTYPE_BOOL, Bool);
#undef TRAINYARD_NUMBER
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return NumberToJson(repeated ? reflection.GetRepeatedDouble(message, &field, index)
                                   : reflection.GetDouble(message, &field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return NumberToJson(repeated ? reflection.GetRepeatedFloat(message, &field, index)
                                   : reflection.GetFloat(message, &field));
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumShortName(repeated ? *reflection.GetRepeatedEnum(message, &field, index)
                                    : *reflection.GetEnum(message, &field));
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string text = repeated ? reflection.GetRepeatedString(message, &field, index)
                                        : reflection.GetString(message, &field);
      return field.type() == FieldDescriptor::TYPE_BYTES ? absl::Base64Escape(text) : text;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return MessageToJson(repeated ? reflection.GetRepeatedMessage(message, &field, index)
                                    : reflection.GetMessage(message, &field));
  }
  return nullptr;
}

// Key of a map entry as text.
std::string MapKeyText(const Message& entry, const FieldDescriptor& key) {
  const nlohmann::json value = ValueToJson(entry, key, -1);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

nlohmann::json FieldToJson(const Message& message, const FieldDescriptor& field) {
  if (!field.is_repeated()) return ValueToJson(message, field, -1);
  const Reflection& reflection = *message.GetReflection();
  const int size = reflection.FieldSize(message, &field);
  if (field.is_map()) {
    nlohmann::json object = nlohmann::json::object();
    for (int i = 0; i < size; ++i) {
      const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
      object[MapKeyText(entry, *entry.GetDescriptor()->map_key())] =
          ValueToJson(entry, *entry.GetDescriptor()->map_value(), -1);
    }
    return object;
  }
  nlohmann::json list = nlohmann::json::array();
  for (int i = 0; i < size; ++i) list.push_back(ValueToJson(message, field, i));
  return list;
}

// "JobState" -> "JOB_STATE_", the prefix that the style guide asks of every value.
std::string EnumPrefix(const google::protobuf::EnumDescriptor& type) {
  std::string prefix;
  for (const char c : type.name()) {
    if (absl::ascii_isupper(c) && !prefix.empty()) prefix += '_';
    prefix += absl::ascii_toupper(c);
  }
  return prefix + "_";
}

}  // namespace

nlohmann::json MessageToJson(const Message& message) {
  if (const auto* duration = dynamic_cast<const google::protobuf::Duration*>(&message)) {
    return DurationText(*duration);
  }
  nlohmann::json object = nlohmann::json::object();
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) object[field->name()] = FieldToJson(message, *field);
  return object;
}

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
