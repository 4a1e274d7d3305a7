#include "proto/generator/sections.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

bool IsReadByTrainer(const FieldDescriptor& field) {
  return field.message_type() != nullptr &&
         field.message_type()->options().GetExtension(v1::read_by_trainer);
}

}  // namespace

std::vector<const FieldDescriptor*> SectionFields() {
  std::vector<const FieldDescriptor*> fields;
  const Descriptor& spec = *v1::JobSpec::descriptor();
  for (int i = 0; i < spec.field_count(); ++i) {
    if (IsReadByTrainer(*spec.field(i))) fields.push_back(spec.field(i));
  }
  return fields;
}

std::vector<const FieldDescriptor*> SettingFields(const Descriptor& section) {
  std::vector<const FieldDescriptor*> fields;
  for (int i = 0; i < section.field_count(); ++i) {
    const v1::FieldRule& rule = section.field(i)->options().GetExtension(v1::rule);
    if (!rule.other_programs()) fields.push_back(section.field(i));
  }
  return fields;
}

std::string HeaderName(const FieldDescriptor& section) {
  return absl::StrCat(section.name(), "_config.h");
}

std::string StructName(const Descriptor& section) {
  return absl::StrCat(std::string(absl::StripSuffix(section.name(), "Spec")), "Config");
}

}  // namespace trainyard
