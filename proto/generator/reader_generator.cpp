#include "proto/generator/reader_generator.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

constexpr char kOpening[] = R"(
#include "proto/jobspec/fields/section_readers.h"

// clang-format off
namespace trainyard {
namespace {
)";

constexpr char kClosing[] = R"(
}  // namespace trainyard
// clang-format on
)";

// Returns a C++ expression for the value of a singular field, in the type that the settings' struct
// uses.
std::string Value(const FieldDescriptor& field) {
  const std::string value = absl::StrCat("spec.", field.name(), "()");
  if (field.enum_type() == nullptr) return value;
  return absl::StrCat("static_cast<", field.enum_type()->name(), ">(", value, ")");
}

std::string Statement(const FieldDescriptor& field) {
  const std::string& name = field.name();
  const std::string condition = field.is_repeated()
                                    ? absl::StrCat("  if (!spec.", name, "().empty())")
                                    : absl::StrCat("  if (spec.has_", name, "())");
  const std::string action = field.is_repeated()
                                 ? absl::StrCat("config.", name, ".assign(spec.", name,
                                                "().begin(), spec.", name, "().end());")
                                 : absl::StrCat("config.", name, " = ", Value(field), ";");
  if (condition.size() + 1 + action.size() <= kWidestLine) {
    return absl::StrCat(condition, " ", action, "\n");
  }
  const bool fits = 4 + action.size() <= kWidestLine;
  return absl::StrCat(condition, " {\n    ",
                      fits ? action : absl::StrReplaceAll(action, {{" = ", " =\n        "}}),
                      "\n  }\n");
}

std::string Reader(const Descriptor& section) {
  std::string out = absl::StrCat("\nvoid Read(const v1::", section.name(), "& spec, ",
                                 StructName(section), "& config) {\n");
  for (const FieldDescriptor* field : SettingFields(section)) out += Statement(*field);
  return out + "}\n";
}

}  // namespace

GeneratedFile GenerateSectionReaders() {
  std::string readers, calls;
  for (const FieldDescriptor* section : SectionFields()) {
    const std::string& name = section->name();
    readers += Reader(*section->message_type());
    absl::StrAppend(&calls, "  Read(spec.", name, "(), config.", name, ");\n");
  }
  return {"proto/jobspec/fields/section_readers.cpp",
          absl::StrCat(kGeneratedFrom, kOpening, readers, "\n}  // namespace\n",
                       "\nvoid ReadSections(const v1::JobSpec& spec, RunConfig& config) {\n", calls,
                       "}\n", kClosing)};
}

}  // namespace trainyard
