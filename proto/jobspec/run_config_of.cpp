#include "proto/jobspec/run_config_of.h"

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "google/protobuf/message.h"
#include "google/protobuf/reflection.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

template <typename Value>
void Get(const Message& message, const FieldDescriptor& field, Value& value) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if constexpr (std::is_enum_v<Value>) {
    value = static_cast<Value>(reflection.GetEnumValue(message, &field));
  } else if constexpr (std::is_same_v<Value, bool> || std::is_same_v<Value, std::optional<bool>>) {
    value = reflection.GetBool(message, &field);
  } else if constexpr (std::is_same_v<Value, double>) {
    value = reflection.GetDouble(message, &field);
  } else if constexpr (std::is_same_v<Value, uint64_t>) {
    value = reflection.GetUInt64(message, &field);
  } else if constexpr (std::is_same_v<Value, int64_t>) {
    value = field.cpp_type() == FieldDescriptor::CPPTYPE_INT32
                ? reflection.GetInt32(message, &field)
                : reflection.GetInt64(message, &field);
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    const auto& entries = reflection.GetRepeatedFieldRef<std::string>(message, &field);
    value.assign(entries.begin(), entries.end());
  } else {
    value = reflection.GetString(message, &field);
  }
}

bool IsWritten(const Message& message, const FieldDescriptor& field) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  return field.is_repeated() ? reflection.FieldSize(message, &field) > 0
                             : reflection.HasField(message, &field);
}

void SetWhole(Message& message, const FieldDescriptor& field, int64_t value) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    reflection.SetInt32(&message, &field, static_cast<int32_t>(value));
  } else {
    reflection.SetInt64(&message, &field, value);
  }
}

// Fields of the job file in the order in which a RunConfig is visited. Looking them up by name for
// each submission would take most of the time of its checks.
struct SectionFields {
  const FieldDescriptor* section = nullptr;
  std::vector<const FieldDescriptor*> settings;
};

std::vector<SectionFields> FindFields() {
  std::vector<SectionFields> fields;
  const RunConfig visited;
  VisitSections(visited, [&fields](const std::string& name, const auto& section) {
    SectionFields& found = fields.emplace_back();
    found.section = v1::JobSpec::descriptor()->FindFieldByName(name);
    VisitSettings(section, [&found](const std::string& key, const SettingRule&, const auto&) {
      found.settings.push_back(found.section->message_type()->FindFieldByName(key));
    });
  });
  return fields;
}

const std::vector<SectionFields>& FieldsInOrder() {
  static const std::vector<SectionFields> fields = FindFields();
  return fields;
}

// "model" and "num_layers" of "model.num_layers".
std::pair<std::string, std::string> SplitKey(const std::string& key) {
  const std::size_t dot = key.find('.');
  return {key.substr(0, dot), key.substr(dot + 1)};
}

}  // namespace

RunConfig RunConfigOf(const v1::JobSpec& spec) {
  RunConfig config;
  config.name = spec.name();
  auto fields = FieldsInOrder().begin();
  VisitSections(config, [&](const char*, auto& section) {
    const Message& message = spec.GetReflection()->GetMessage(spec, fields->section);
    auto field = fields->settings.begin();
    VisitSettings(section, [&](const char*, const SettingRule&, auto& value) {
      if (IsWritten(message, **field)) Get(message, **field, value);
      ++field;
    });
    ++fields;
  });
  return config;
}

bool CopySetting(const RunConfig& config, const std::string& key, v1::JobSpec& spec) {
  bool copied = false;
  const auto [wanted_section, wanted_setting] = SplitKey(key);
  VisitSections(config, [&](const std::string_view name, const auto& section) {
    if (name != wanted_section) return;
    const FieldDescriptor* part = v1::JobSpec::descriptor()->FindFieldByName(wanted_section);
    VisitSettings(
        section, [&](const std::string_view setting, const SettingRule&, const auto& value) {
          if (setting != wanted_setting) return;
          if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, int64_t>) {
            Message& message = *spec.GetReflection()->MutableMessage(&spec, part);
            const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(wanted_setting);
            copied = !message.GetReflection()->HasField(message, field);
            if (copied) SetWhole(message, *field, value);
          }
        });
  });
  return copied;
}

int WorldSize(const v1::JobSpec& spec) {
  return spec.resources().nodes() * spec.resources().slots_per_node();
}

bool RunsOurTrainer(const v1::JobSpec& spec) { return spec.command().empty(); }

}  // namespace trainyard
