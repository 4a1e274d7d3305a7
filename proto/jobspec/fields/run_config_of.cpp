#include "proto/jobspec/fields/run_config_of.h"

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "google/protobuf/message.h"
#include "proto/jobspec/fields/node_range.h"
#include "proto/jobspec/fields/section_readers.h"
#include "proto/support/job_kind.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

void SetWhole(Message& message, const FieldDescriptor& field, int64_t value) {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  if (field.cpp_type() == FieldDescriptor::CPPTYPE_INT32) {
    reflection.SetInt32(&message, &field, static_cast<int32_t>(value));
  } else {
    reflection.SetInt64(&message, &field, value);
  }
}

// Splits "model.num_layers" into "model" and "num_layers".
std::pair<std::string, std::string> SplitKey(const std::string& key) {
  const std::size_t dot = key.find('.');
  return {key.substr(0, dot), key.substr(dot + 1)};
}

}  // namespace

RunConfig RunConfigOf(const v1::JobSpec& spec) {
  RunConfig config;
  config.name = spec.name();
  ReadSections(spec, config);
  const bool has_own_dp = spec.layout().has_dp() || spec.auto_layout() || !IsElastic(spec);
  if (!has_own_dp) config.layout.dp = DataParallelOn(spec, spec.resources().nodes());
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

bool RunsOurTrainer(const v1::JobSpec& spec) { return ProgramOf(spec) == JobProgram::kTrainer; }

}  // namespace trainyard
