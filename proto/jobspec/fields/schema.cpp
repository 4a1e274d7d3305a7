#include "proto/jobspec/fields/schema.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/jobspec/fields/auto_layout.h"
#include "proto/jobspec/fields/scalar_text.h"
#include "proto/json/enum_text.h"
#include "proto/text/number_text.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

std::vector<std::string> EnumNames(const google::protobuf::EnumDescriptor& type) {
  std::vector<std::string> names;
  for (int i = 0; i < type.value_count(); ++i) {
    if (type.value(i)->number() != 0) names.push_back(EnumShortName(*type.value(i)));
  }
  return names;
}

// Returns the type of a field in words for users, as in `trainyard explain`.
std::string TypeName(const FieldDescriptor& field) {
  if (field.is_map()) return "mapping of names to text";
  if (field.is_repeated()) return "list of strings";
  if (IsDuration(field)) return "duration";
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return RuleOf(field).path() ? "path" : "text";
    case FieldDescriptor::CPPTYPE_BOOL:
      return "true or false";
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return "number";
    case FieldDescriptor::CPPTYPE_ENUM:
      return absl::StrCat("one of ", absl::StrJoin(EnumNames(*field.enum_type()), ", "));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return "section";
    default:
      return "whole number";
  }
}

// ---- JSON Schema

nlohmann::json ScalarSchema(const FieldDescriptor& field) {
  const v1::FieldRule& rule = RuleOf(field);
  nlohmann::json schema;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      schema["type"] = "boolean";
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      schema["enum"] = EnumNames(*field.enum_type());
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      schema["type"] = "string";
      if (!rule.pattern().empty()) schema["pattern"] = absl::StrCat("^(", rule.pattern(), ")$");
      break;
    case FieldDescriptor::CPPTYPE_MESSAGE:
      schema["type"] = "string";
      schema["pattern"] = "^(0|([0-9.]+(ms|s|m|h|d))+)$";
      break;
    default:
      // Text is valid too, because the loader parses "20B" and "1e6" as numbers.
      schema["type"] = nlohmann::json::array({"number", "string"});
      if (rule.has_min()) schema["minimum"] = rule.min();
      if (rule.has_max()) schema["maximum"] = rule.max();
  }
  return schema;
}

// Returns the types of the values of a mapping.
nlohmann::json EntryTypes(const FieldDescriptor& field) {
  const bool is_matrix = field.number() == v1::JobSpec::kMatrixFieldNumber;
  if (is_matrix) return {"array", "object", "string", "null"};
  return {"string", "number", "boolean", "null"};
}

nlohmann::json SectionSchema(const Descriptor& descriptor);

nlohmann::json FieldSchema(const FieldDescriptor& field) {
  const v1::FieldRule& rule = RuleOf(field);
  if (field.message_type() == v1::LayoutSpec::descriptor()) {
    return {{"anyOf", {SectionSchema(*field.message_type()), {{"const", kAutoLayoutWord}}}}};
  }
  if (const FieldDescriptor* only = ScalarKeyOf(field); only != nullptr) {
    return {{"anyOf", {SectionSchema(*field.message_type()), FieldSchema(*only)}}};
  }
  if (IsSection(field)) return SectionSchema(*field.message_type());
  nlohmann::json schema;
  if (field.is_map()) {
    schema = {{"type", "object"},
              {"additionalProperties", {{"type", EntryTypes(field)}}},
              {"maxProperties", rule.max_items()}};
  } else if (field.is_repeated()) {
    schema = {{"type", "array"}, {"items", {{"type", {"string", "number"}}}}};
    if (field.name() == "extends") schema["type"] = {"array", "string"};
    if (!rule.pattern().empty())
      schema["items"]["pattern"] = absl::StrCat("^(", rule.pattern(), ")$");
    if (rule.max_items() > 0) schema["maxItems"] = rule.max_items();
  } else {
    schema = ScalarSchema(field);
  }
  schema["description"] = rule.doc();
  if (!rule.default_value().empty()) schema["default"] = rule.default_value();
  if (!rule.example().empty()) schema["examples"] = {rule.example()};
  return schema;
}

nlohmann::json SectionSchema(const Descriptor& descriptor) {
  nlohmann::json properties = nlohmann::json::object();
  for (int i = 0; i < descriptor.field_count(); ++i) {
    properties[descriptor.field(i)->name()] = FieldSchema(*descriptor.field(i));
  }
  return {{"type", "object"},
          {"description", descriptor.options().GetExtension(v1::section_doc)},
          {"additionalProperties", false},
          {"properties", properties}};
}

// ---- explain

constexpr std::size_t kColumns = 100;

// Wraps the text to lines of at most kColumns, except that longer words are not broken. Indents
// each line except the first by `indent` blanks. In the first line, the caller has already filled
// `indent` columns.
std::string Wrapped(const std::string& text, std::size_t indent) {
  std::string out;
  std::size_t column = indent;
  for (const absl::string_view word : absl::StrSplit(text, ' ')) {
    const bool is_first = column == indent;
    if (!is_first && column + 1 + word.size() > kColumns) {
      absl::StrAppend(&out, "\n", std::string(indent, ' '));
      column = indent;
    } else if (!is_first) {
      out += ' ';
      ++column;
    }
    absl::StrAppend(&out, word);
    column += word.size();
  }
  return out + "\n";
}

// Returns "Source: ..."; empty if the field has no source.
std::string SourceText(const v1::FieldRule& rule) {
  return rule.source().empty() ? "" : absl::StrCat("Source: ", rule.source());
}

std::string ExplainField(const std::string& key, const FieldDescriptor& field) {
  const v1::FieldRule& rule = RuleOf(field);
  std::string text = Wrapped(absl::StrCat(key, ": ", TypeName(field)), 0);
  const auto add = [&](const std::string& line) { absl::StrAppend(&text, "  ", Wrapped(line, 2)); };
  add(rule.doc());
  if (!rule.default_value().empty()) add(absl::StrCat("Default: ", rule.default_value()));
  if (rule.has_min()) add(absl::StrCat("At least: ", NumberText(rule.min())));
  if (rule.has_max()) add(absl::StrCat("At most: ", NumberText(rule.max())));
  if (rule.unit() != v1::UNIT_UNSPECIFIED) add(absl::StrCat("Unit: ", EnumText(rule.unit())));
  if (!rule.pattern().empty()) add(absl::StrCat("Must match: ", rule.pattern()));
  if (!rule.example().empty()) add(absl::StrCat("Example: ", rule.example()));
  if (!rule.source().empty()) add(SourceText(rule));
  return text;
}

// Returns the name of the field, with its doc in a second column and its source on a new line.
std::string ExplainRow(const FieldDescriptor& field, std::size_t indent) {
  const v1::FieldRule& rule = RuleOf(field);
  std::string name = absl::StrCat("  ", field.name());
  name.resize(indent, ' ');
  const std::string doc =
      IsSection(field) ? field.message_type()->options().GetExtension(v1::section_doc) : rule.doc();
  const std::string value =
      rule.default_value().empty() ? "" : absl::StrCat(" (default ", rule.default_value(), ")");
  const std::string source = SourceText(rule);
  return absl::StrCat(name, Wrapped(doc + value, indent),
                      source.empty() ? "" : std::string(indent, ' ') + Wrapped(source, indent));
}

std::string ExplainSection(const std::string& key, const Descriptor& descriptor) {
  const std::string title = absl::StrCat(key.empty() ? "job file" : key, ": ",
                                         descriptor.options().GetExtension(v1::section_doc));
  std::string text = Wrapped(title, 0);
  std::size_t width = 0;
  for (int i = 0; i < descriptor.field_count(); ++i) {
    width = std::max(width, descriptor.field(i)->name().size());
  }
  for (int i = 0; i < descriptor.field_count(); ++i) {
    text += ExplainRow(*descriptor.field(i), width + 4);
  }
  return text;
}

void CollectKeys(const Descriptor& descriptor, const std::string& prefix, bool sections,
                 std::vector<std::string>& keys) {
  for (int i = 0; i < descriptor.field_count(); ++i) {
    const FieldDescriptor& field = *descriptor.field(i);
    const std::string key = prefix + field.name();
    if (!IsSection(field)) {
      if (key != "extends" || sections) keys.push_back(key);
      continue;
    }
    if (sections) keys.push_back(key);
    CollectKeys(*field.message_type(), key + ".", sections, keys);
  }
}

// Levenshtein distance.
std::size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

nlohmann::json JobFileSchema() {
  nlohmann::json schema = SectionSchema(*v1::JobSpec::descriptor());
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "Trainyard job file";
  return schema;
}

absl::StatusOr<std::string> ExplainJobFileKey(const std::string& key) {
  const Descriptor* descriptor = v1::JobSpec::descriptor();
  if (key.empty()) return ExplainSection("", *descriptor);
  std::size_t begin = 0;
  while (true) {
    const std::size_t dot = key.find('.', begin);
    const FieldDescriptor* field = descriptor->FindFieldByName(key.substr(begin, dot - begin));
    if (field == nullptr) break;
    if (dot == std::string::npos) {
      return IsSection(*field) ? ExplainSection(key, *field->message_type())
                               : ExplainField(key, *field);
    }
    if (!IsSection(*field)) break;
    descriptor = field->message_type();
    begin = dot + 1;
  }
  std::vector<std::string> keys;
  CollectKeys(*v1::JobSpec::descriptor(), "", true, keys);
  const std::string nearest = NearestName(key, keys);
  return absl::NotFoundError(absl::StrCat("no key `", key, "` in job files",
                                          nearest.empty() ? "; `trainyard explain` lists the keys"
                                                          : "; did you mean `" + nearest + "`?"));
}

std::vector<std::string> JobFileKeys() {
  std::vector<std::string> keys;
  CollectKeys(*v1::JobSpec::descriptor(), "", false, keys);
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::string NearestName(const std::string& word, const std::vector<std::string>& candidates) {
  // A longer word cannot be similar to one of our names. The limit also bounds the work on hostile
  // input.
  if (word.size() > 128) return "";
  const std::string* nearest = nullptr;
  std::size_t best = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = EditDistance(word, candidate);
    if (distance < best) {
      best = distance;
      nearest = &candidate;
    }
  }
  return nearest == nullptr ? "" : *nearest;
}

}  // namespace trainyard
