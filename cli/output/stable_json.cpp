#include "cli/output/stable_json.h"

#include <string>

#include "absl/strings/match.h"
#include "cli/output/readable.h"
#include "google/protobuf/descriptor.h"
#include "proto/json/message_json.h"

namespace trainyard::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

nlohmann::json AbsentValue(const FieldDescriptor& field) {
  if (field.is_map()) return nlohmann::json::object();
  if (field.is_repeated()) return nlohmann::json::array();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return nullptr;
    case FieldDescriptor::CPPTYPE_STRING:
      return "";
    case FieldDescriptor::CPPTYPE_BOOL:
      return false;
    case FieldDescriptor::CPPTYPE_DOUBLE:
    case FieldDescriptor::CPPTYPE_FLOAT:
      return 0.0;
    case FieldDescriptor::CPPTYPE_ENUM:
      return EnumShortName(*field.default_value_enum());
    default:
      return 0;
  }
}

bool IsTime(const FieldDescriptor& field) {
  return field.cpp_type() == FieldDescriptor::CPPTYPE_INT64 && absl::EndsWith(field.name(), "_ms");
}

nlohmann::json TimeJson(int64_t time_ms) {
  if (time_ms == 0) return nullptr;
  return IsoTime(time_ms);
}

nlohmann::json PresentValue(const Message& message, const FieldDescriptor& field,
                            const nlohmann::json& base) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (field.is_repeated() && IsTime(field)) {
    nlohmann::json times = nlohmann::json::array();
    for (const nlohmann::json& time : base) times.push_back(TimeJson(time.get<int64_t>()));
    return times;
  }
  if (IsTime(field)) return TimeJson(base.get<int64_t>());
  if (field.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) return base;
  if (!field.is_repeated()) return StableJson(reflection.GetMessage(message, &field));
  if (field.is_map()) {
    nlohmann::json object = base;
    const FieldDescriptor& value = *field.message_type()->map_value();
    for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
      const Message& entry = reflection.GetRepeatedMessage(message, &field, i);
      if (value.cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) break;
      const nlohmann::json key =
          MessageToJson(entry).value("key", AbsentValue(*field.message_type()->map_key()));
      object[key.is_string() ? key.get<std::string>() : key.dump()] =
          StableJson(entry.GetReflection()->GetMessage(entry, &value));
    }
    return object;
  }
  nlohmann::json list = nlohmann::json::array();
  for (int i = 0; i < reflection.FieldSize(message, &field); ++i) {
    list.push_back(StableJson(reflection.GetRepeatedMessage(message, &field, i)));
  }
  return list;
}

}  // namespace

nlohmann::json StableJson(const Message& message) {
  const nlohmann::json base = MessageToJson(message);
  const google::protobuf::Descriptor& type = *message.GetDescriptor();
  if (type.name() == "JobSpec" || !base.is_object()) return base;
  nlohmann::json object = nlohmann::json::object();
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    const bool one_of = field.real_containing_oneof() != nullptr;
    const auto present = base.find(field.name());
    if (present == base.end() && one_of) continue;  // Only the kind that it is.
    const std::string key =
        IsTime(field) ? field.name().substr(0, field.name().size() - 3) : field.name();
    if (present != base.end()) {
      object[key] = PresentValue(message, field, *present);
    } else {
      object[key] = IsTime(field) && !field.is_repeated() ? nullptr : AbsentValue(field);
    }
  }
  return object;
}

}  // namespace trainyard::cli
