#include "proto/jobspec/fields/auto_layout.h"

#include <type_traits>

#include "absl/strings/str_cat.h"
#include "google/protobuf/message.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/layout/layout_text.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Reflection;

std::vector<const FieldDescriptor*> FindChosenFields() {
  std::vector<const FieldDescriptor*> fields;
  const google::protobuf::Descriptor& layout = *v1::LayoutSpec::descriptor();
  for (int i = 0; i < layout.field_count(); ++i) {
    const std::string& name = layout.field(i)->name();
    const bool is_kept = name == "sequence_parallel" || name == "cp_comm_type" ||
                         name == "moe_token_dispatcher_type";
    if (!is_kept) fields.push_back(layout.field(i));
  }
  return fields;
}

template <typename Value>
void SetField(const Value& value, const FieldDescriptor& field, v1::LayoutSpec& spec) {
  const Reflection& reflection = *spec.GetReflection();
  if constexpr (std::is_enum_v<Value>) {
    reflection.SetEnumValue(&spec, &field, static_cast<int>(value));
  } else if constexpr (std::is_same_v<Value, bool>) {
    reflection.SetBool(&spec, &field, value);
  } else {
    static_assert(std::is_same_v<Value, int64_t>);
    // For settings other than `zero`, 0 means that the setting is not written.
    const bool is_written = value != 0 || field.name() == "zero";
    if (is_written) reflection.SetInt32(&spec, &field, static_cast<int32_t>(value));
  }
}

}  // namespace

const std::vector<const FieldDescriptor*>& ChosenLayoutFields() {
  static const std::vector<const FieldDescriptor*> fields = FindChosenFields();
  return fields;
}

std::vector<SettingProblem> FindAutoLayoutProblems(const v1::JobSpec& spec) {
  std::vector<SettingProblem> problems;
  if (!spec.auto_layout()) return problems;
  if (!RunsOurTrainer(spec)) {
    problems.push_back({kAutoLayoutKey,
                        "`layout: auto` is for trainyard-trainer, and this job has a `command`; "
                        "remove one of them"});
  }
  for (const FieldDescriptor* field : ChosenLayoutFields()) {
    if (!spec.layout().GetReflection()->HasField(spec.layout(), field)) continue;
    const std::string key = absl::StrCat("layout.", field->name());
    problems.push_back({key, absl::StrCat("`", key, "` is chosen by `layout: auto` (`",
                                          kAutoLayoutKey, "`); remove one of them")});
  }
  return problems;
}

v1::LayoutSpec LayoutSpecOf(const LayoutConfig& layout) {
  v1::LayoutSpec spec;
  VisitSettings(layout, [&](const char* name, const SettingRule&, const auto& value) {
    SetField(value, *v1::LayoutSpec::descriptor()->FindFieldByName(name), spec);
  });
  return spec;
}

std::string GrantedText(const v1::GrantedLayout& granted) {
  if (granted.nodes() == 0) return granted.problem();
  v1::JobSpec spec;
  *spec.mutable_layout() = granted.layout();
  const std::string layout = LayoutText(RunConfigOf(spec).layout);
  return absl::StrCat(layout == "{}" ? "data parallelism only" : layout, " on ", granted.nodes(),
                      granted.nodes() == 1 ? " node of " : " nodes of ", granted.slots_per_node(),
                      " ", granted.device());
}

}  // namespace trainyard
