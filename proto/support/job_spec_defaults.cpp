#include "proto/support/job_spec_defaults.h"

#include <map>

#include "google/protobuf/message.h"
#include "proto/support/scalar_text.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr SpecFieldNumber kNumberBase = 1000;

struct ScalarField {
  SpecFieldNumber number = 0;
  std::string key;
  // Messages that hold it, from JobSpec inwards; none for a field of JobSpec itself.
  std::vector<const FieldDescriptor*> sections;
  const FieldDescriptor* field = nullptr;
  bool has_default = false;
};

// Read once from the descriptors; constant afterwards.
struct SpecFields {
  SpecFields();
  void Add(const Message& message, const ScalarField& section);

  std::map<SpecFieldNumber, ScalarField> by_number;
  std::map<std::string, SpecFieldNumber> numbers;
  // Every section exists, every default is set.
  v1::JobSpec defaults;
};

const Message& SectionOf(const v1::JobSpec& spec, const ScalarField& scalar) {
  const Message* message = &spec;
  for (const FieldDescriptor* section : scalar.sections) {
    message = &message->GetReflection()->GetMessage(*message, section);
  }
  return *message;
}

Message& MutableSectionOf(v1::JobSpec& spec, const ScalarField& scalar) {
  Message* message = &spec;
  for (const FieldDescriptor* section : scalar.sections) {
    message = message->GetReflection()->MutableMessage(message, section);
  }
  return *message;
}

SpecFields::SpecFields() {
  Add(defaults, {});
  for (auto& [number, scalar] : by_number) {
    Message& section = MutableSectionOf(defaults, scalar);
    const std::string& text = RuleOf(*scalar.field).default_value();
    // A default that its own rule refuses is a bug of job_spec.proto; a test reads them all.
    scalar.has_default = !text.empty() && SetScalarField(text, *scalar.field, section).ok();
    numbers[scalar.key] = number;
  }
}

// The scalars of `message`, which stands in the section.
void SpecFields::Add(const Message& message, const ScalarField& section) {
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor& field = *message.GetDescriptor()->field(i);
    if (field.is_repeated()) continue;
    ScalarField inner = section;
    inner.number = section.number * kNumberBase + static_cast<SpecFieldNumber>(field.number());
    inner.key = section.key.empty() ? field.name() : section.key + "." + field.name();
    if (field.message_type() != nullptr && !IsDuration(field)) {
      inner.sections.push_back(&field);
      Add(message.GetReflection()->GetMessage(message, &field), inner);
    } else {
      inner.field = &field;
      by_number[inner.number] = inner;
    }
  }
}

const SpecFields& Fields() {
  static const SpecFields* const fields = new SpecFields;
  return *fields;
}

void CopyScalar(const Message& from, const FieldDescriptor& field, Message& to) {
  const auto& reflection = *to.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.SetInt32(&to, &field, reflection.GetInt32(from, &field));
    case FieldDescriptor::CPPTYPE_INT64:
      return reflection.SetInt64(&to, &field, reflection.GetInt64(from, &field));
    case FieldDescriptor::CPPTYPE_UINT32:
      return reflection.SetUInt32(&to, &field, reflection.GetUInt32(from, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return reflection.SetUInt64(&to, &field, reflection.GetUInt64(from, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.SetDouble(&to, &field, reflection.GetDouble(from, &field));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection.SetFloat(&to, &field, reflection.GetFloat(from, &field));
    case FieldDescriptor::CPPTYPE_BOOL:
      return reflection.SetBool(&to, &field, reflection.GetBool(from, &field));
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection.SetEnum(&to, &field, reflection.GetEnum(from, &field));
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection.SetString(&to, &field, reflection.GetString(from, &field));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return reflection.MutableMessage(&to, &field)->CopyFrom(reflection.GetMessage(from, &field));
  }
}

}  // namespace

std::vector<SpecFieldNumber> FillDefaultFields(v1::JobSpec& spec) {
  const SpecFields& fields = Fields();
  std::vector<SpecFieldNumber> filled;
  for (const auto& [number, scalar] : fields.by_number) {
    Message& section = MutableSectionOf(spec, scalar);
    if (!scalar.has_default || section.GetReflection()->HasField(section, scalar.field)) continue;
    CopyScalar(SectionOf(fields.defaults, scalar), *scalar.field, section);
    filled.push_back(number);
  }
  return filled;
}

const std::string* KeyOfSpecField(SpecFieldNumber number) {
  const auto found = Fields().by_number.find(number);
  return found == Fields().by_number.end() ? nullptr : &found->second.key;
}

std::optional<SpecFieldNumber> NumberOfSpecField(const std::string& key) {
  const auto found = Fields().numbers.find(key);
  if (found == Fields().numbers.end()) return std::nullopt;
  return found->second;
}

}  // namespace trainyard
