#include "proto/generator/run_config_generator.h"

#include <map>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "google/protobuf/descriptor.h"
#include "proto/generator/sections.h"
#include "proto/jobspec/fields/scalar_text.h"
#include "proto/json/enum_text.h"
#include "proto/text/number_text.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::EnumValueDescriptor;
using google::protobuf::FieldDescriptor;

constexpr char kAboutRun[] =
    R"(// Settings of a run that trainyard-trainer reads: a struct and a header for each section of
// a job file. Docs, units and defaults are job_spec.proto's. A setting without a default is 0, ""
// or nullopt when nobody wrote it. Rules that span settings, and values that follow from others:
// run_rules.h.
)";

constexpr char kStandardIncludes[] = R"(
#include <array>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

)";

constexpr char kFolder[] = "proto/contract/";

// The names of headers in kFolder.
using HeaderNames = std::set<std::string>;

// Returns the complete text of the header `name` in kFolder.
std::string HeaderText(const std::string& name, const std::string& about,
                       const HeaderNames& included, const std::string& body) {
  const std::string guard =
      absl::StrCat("TRAINYARD_PROTO_CONTRACT_",
                   absl::AsciiStrToUpper(absl::StrReplaceAll(name, {{".", "_"}})), "_");
  std::string text = absl::StrCat(kGeneratedFrom, "//\n", about, "#ifndef ", guard, "\n#define ",
                                  guard, "\n", kStandardIncludes);
  for (const std::string& header : included) {
    absl::StrAppend(&text, "#include \"", kFolder, header, "\"\n");
  }
  return absl::StrCat(text, "\n// clang-format off\nnamespace trainyard {\n", body,
                      "\n}  // namespace trainyard\n// clang-format on\n\n#endif  // ", guard,
                      "\n");
}

// "full" -> "kFull".
std::string ConstantName(const EnumValueDescriptor& value) {
  std::string name = "k";
  for (const absl::string_view word : absl::StrSplit(EnumShortName(value), '_')) {
    name += absl::ascii_toupper(word.front());
    absl::StrAppend(&name, word.substr(1));
  }
  return name;
}

std::string Enum(const EnumDescriptor& type) {
  std::vector<std::string> constants, names;
  for (int i = 0; i < type.value_count(); ++i) {
    const EnumValueDescriptor& value = *type.value(i);
    if (value.number() == 0) continue;  // The unspecified value does not occur in a resolved job.
    constants.push_back(absl::StrCat(ConstantName(value), " = ", value.number()));
    names.push_back(absl::StrCat("{\"", EnumShortName(value), "\", ", type.name(),
                                 "::", ConstantName(value), "}"));
  }
  std::string declaration =
      absl::StrCat("enum class ", type.name(), " { ", absl::StrJoin(constants, ", "), " };");
  if (declaration.size() > kWidestLine) {
    declaration = absl::StrCat("enum class ", type.name(), " {\n  ",
                               absl::StrJoin(constants, ",\n  "), "\n};");
  }
  return absl::StrCat("\n", declaration, "\n\ntemplate <>\nstruct SettingNames<", type.name(),
                      "> {\n  static constexpr std::array<std::pair<std::string_view, ",
                      type.name(), ">, ", names.size(), "> kNames = {{\n      ",
                      absl::StrJoin(names, ",\n      "), "}};\n};\n");
}

// Lists contain strings.
std::string TypeName(const FieldDescriptor& field) {
  if (field.is_repeated()) return "std::vector<std::string>";
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT64:
      return "uint64_t";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return "double";
    case FieldDescriptor::CPPTYPE_BOOL:
      return RuleOf(field).default_value().empty() ? "std::optional<bool>" : "bool";
    case FieldDescriptor::CPPTYPE_STRING:
      return "std::string";
    case FieldDescriptor::CPPTYPE_ENUM:
      return field.enum_type()->name();
    default:
      return "int64_t";
  }
}

std::string Default(const FieldDescriptor& field) {
  const std::string& text = RuleOf(field).default_value();
  if (field.enum_type() != nullptr) {
    const EnumValueDescriptor* value = EnumValueByShortName(*field.enum_type(), text);
    return absl::StrCat(" = ", field.enum_type()->name(), "::", ConstantName(*value));
  }
  const bool is_number = field.cpp_type() != FieldDescriptor::CPPTYPE_STRING &&
                         field.cpp_type() != FieldDescriptor::CPPTYPE_BOOL;
  if (field.is_repeated() || (!is_number && text.empty())) return "";
  return absl::StrCat(" = ", text.empty() ? "0" : text);
}

std::string Rule(const FieldDescriptor& field) {
  const v1::FieldRule& rule = RuleOf(field);
  std::vector<std::string> parts;
  if (rule.has_min()) parts.push_back(".min = " + NumberText(rule.min()));
  if (rule.has_max()) parts.push_back(".max = " + NumberText(rule.max()));
  if (rule.required()) parts.push_back(".required = true");
  if (!rule.default_value().empty()) parts.push_back(".has_default = true");
  return absl::StrCat("{", absl::StrJoin(parts, ", "), "}");
}

std::string Struct(const Descriptor& section) {
  std::string out = absl::StrCat("\nstruct ", StructName(section), " {\n");
  for (const FieldDescriptor* field : SettingFields(section)) {
    absl::StrAppend(&out, "  ", TypeName(*field), " ", field->name(), Default(*field), ";\n");
  }
  return absl::StrCat(out, "\n  bool operator==(const ", StructName(section),
                      "&) const = default;\n};\n");
}

std::string SettingsVisitor(const Descriptor& section) {
  const std::string name = StructName(section);
  std::string out =
      absl::StrCat("\n// Calls visit(key, rule, value) for each setting.",
                   "\ntemplate <typename Config, typename Visit>\n  requires std::same_as<",
                   "std::remove_const_t<Config>, ", name,
                   ">\nvoid VisitSettings(Config& config, Visit&& visit) {\n");
  for (const FieldDescriptor* field : SettingFields(section)) {
    const std::string rule =
        absl::StrCat("  visit(\"", field->name(), "\", SettingRule", Rule(*field), ",");
    const std::string value = absl::StrCat("config.", field->name(), ");");
    const bool fits = rule.size() + 1 + value.size() <= kWidestLine;
    absl::StrAppend(&out, rule, fits ? " " : "\n        ", value, "\n");
  }
  return out + "}\n";
}

std::string RunStruct() {
  std::string fields, visits;
  for (const FieldDescriptor* field : SectionFields()) {
    absl::StrAppend(&fields, "  ", StructName(*field->message_type()), " ", field->name(), ";\n");
    absl::StrAppend(&visits, "  visit(\"", field->name(), "\", config.", field->name(), ");\n");
  }
  return absl::StrCat(
      "\nstruct RunConfig {\n  std::string name;\n", fields,
      "\n  bool operator==(const RunConfig&) const = default;\n};\n",
      "\n// Calls visit(name, section) for each section.",
      "\ntemplate <typename Config, typename Visit>\n  requires std::same_as<",
      "std::remove_const_t<Config>, RunConfig>\nvoid VisitSections(Config& config, Visit&& visit) ",
      "{\n", visits, "}\n");
}

// Returns every top-level key of a job file. The trainer ignores the keys that it does not use, and
// rejects keys that are not in this list.
std::string TopLevelKeys() {
  const Descriptor& spec = *v1::JobSpec::descriptor();
  std::vector<std::string> names;
  for (int i = 0; i < spec.field_count(); ++i) {
    names.push_back(absl::StrCat("\"", spec.field(i)->name(), "\""));
  }
  return absl::StrCat("\n// Keys at the top of a job file, the trainer's and others.\n",
                      "inline constexpr std::array<std::string_view, ", names.size(),
                      "> kJobFileKeys = {\n    ", absl::StrJoin(names, ",\n    "), "};\n");
}

// Maps each enum to the header that declares it.
using EnumHeaders = std::map<const EnumDescriptor*, std::string>;

// Generates the header of a section. The header of the first section that uses an enum declares
// that enum. Headers of later sections include that header.
GeneratedFile SectionHeader(const FieldDescriptor& section, EnumHeaders& enum_headers) {
  const Descriptor& type = *section.message_type();
  const std::string name = HeaderName(section);
  HeaderNames included = {"setting_rule.h"};
  std::string enums;
  for (int i = 0; i < type.field_count(); ++i) {
    const EnumDescriptor* enumeration = type.field(i)->enum_type();
    if (enumeration == nullptr) continue;
    const auto [declared, is_new] = enum_headers.emplace(enumeration, name);
    if (is_new) enums += Enum(*enumeration);
    if (declared->second != name) included.insert(declared->second);
  }
  const std::string about =
      absl::StrCat("// Section `", section.name(), "` of a job file (run_config.h).\n");
  return {kFolder + name, HeaderText(name, about, included,
                                     absl::StrCat(enums, Struct(type), SettingsVisitor(type)))};
}

}  // namespace

std::vector<GeneratedFile> GenerateRunConfig() {
  std::vector<GeneratedFile> headers;
  HeaderNames sections;
  EnumHeaders enum_headers;
  for (const FieldDescriptor* section : SectionFields()) {
    headers.push_back(SectionHeader(*section, enum_headers));
    sections.insert(HeaderName(*section));
  }
  const std::string name = "run_config.h";
  headers.push_back({kFolder + name, HeaderText(name, kAboutRun, sections,
                                                absl::StrCat(RunStruct(), TopLevelKeys()))});
  return headers;
}

}  // namespace trainyard
