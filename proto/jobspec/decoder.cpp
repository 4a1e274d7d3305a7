#include "proto/jobspec/decoder.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "google/protobuf/map_field.h"
#include "proto/jobspec/fields/auto_layout.h"
#include "proto/jobspec/fields/field_path.h"
#include "proto/jobspec/fields/node_range.h"
#include "proto/jobspec/fields/scalar_text.h"
#include "proto/jobspec/fields/unknown_key.h"
#include "proto/jobspec/fields/yaml_document.h"
#include "proto/jobspec/matrix/matrix.h"
#include "proto/rules/data_sources.h"
#include "proto/text/utf8.h"

namespace trainyard {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The maximum number of values that the decoder visits in one file, because a small file with
// aliases can describe a huge tree.
constexpr int kMaxValues = 20000;
constexpr std::size_t kMaxStringBytes = 64 << 10;
constexpr int kDefaultMaxItems = 1000;
constexpr char kVariablePrefix[] = "env.";
constexpr char kLabelPrefix[] = "placement.labels.";
constexpr char kUnsetVariables[] = "unset_env";
constexpr char kMatrixPrefix[] = "matrix.";
constexpr char kLayoutSection[] = "layout";

// Decodes one file.
class Decoder {
 public:
  Decoder(std::string display_name, std::string directory, DecodeContext& context)
      : display_name_(std::move(display_name)),
        directory_(std::move(directory)),
        context_(context) {}

  void DecodeMapping(const YAML::Node& node, const std::string& prefix, Message& message);
  void DecodeField(const YAML::Node& value, const FieldDescriptor& field, const std::string& key,
                   Message& message);
  // Decodes one entry of `env`.
  void DecodeVariable(const YAML::Node& value, const std::string& name, v1::JobSpec& spec);
  // Decodes one entry of `placement.labels`.
  void DecodeLabel(const YAML::Node& value, const std::string& name, v1::PlacementSpec& placement);
  // Decodes the value of one key of `matrix`.
  void DecodeAxis(const YAML::Node& value, const std::string& name, v1::JobSpec& spec);
  // Sets the origin to record for all values, because an override has no position in a file.
  void UseFixedOrigin(const std::string& origin) { fixed_origin_ = origin; }
  void Fail(const YAML::Node& node, const std::string& key, const std::string& what);

 private:
  std::string PlaceOf(const YAML::Node& node) const {
    return fixed_origin_.empty() ? Place(display_name_, node.Mark()) : fixed_origin_;
  }
  void FailAt(const std::string& place, const std::string& key, const std::string& what);
  bool CountValue(const YAML::Node& node, const std::string& key);
  bool IsText(const YAML::Node& node, const std::string& key);
  bool HasFolder(const YAML::Node& node, const std::string& key, const std::string& path);
  void AddEntry(const YAML::Node& item, const FieldDescriptor& field, const std::string& key,
                Message& message);
  void Clear(const FieldDescriptor& field, const std::string& key, Message& message);
  void DecodeScalar(const YAML::Node& node, const FieldDescriptor& field, const std::string& key,
                    Message& message);
  void DecodeList(const YAML::Node& node, const FieldDescriptor& field, const std::string& key,
                  Message& message);
  // Decodes `env`, `placement.labels` or `matrix`.
  void DecodeMap(const YAML::Node& node, const FieldDescriptor& field, const std::string& key,
                 Message& message);
  void TakeBackAlternatives(const FieldDescriptor& field, const std::string& key, Message& message);
  bool IsAutoLayout(const YAML::Node& value, const std::string& key);
  void SettleAutoLayout(const std::string& key);
  bool DecodeNodeRange(const YAML::Node& node, const std::string& key);
  std::string Absolute(const std::string& path) const;

  const std::string display_name_;
  const std::string directory_;
  DecodeContext& context_;
  std::string fixed_origin_;
  int values_ = 0;
};

void Decoder::Fail(const YAML::Node& node, const std::string& key, const std::string& what) {
  FailAt(PlaceOf(node), key, what);
}

void Decoder::FailAt(const std::string& place, const std::string& key, const std::string& what) {
  context_.errors.push_back(absl::StrCat(place, ": ", what));
  if (!key.empty()) context_.failed_keys.insert(key);
}

bool Decoder::CountValue(const YAML::Node& node, const std::string& key) {
  if (++values_ < kMaxValues) return true;
  if (values_ == kMaxValues) {
    Fail(node, key, absl::StrCat("more than ", kMaxValues, " values; are aliases (*name) nested?"));
  }
  return false;
}

bool Decoder::IsText(const YAML::Node& node, const std::string& key) {
  if (!node.IsScalar()) {
    Fail(node, key,
         absl::StrCat("`", key, "` must be one value, not a ", node.IsMap() ? "mapping" : "list"));
    return false;
  }
  // The parser sets the tag "?" for a plain scalar and "!" for a quoted one. Any other tag was
  // written in the file.
  if (!node.Tag().empty() && node.Tag() != "?" && node.Tag() != "!") {
    Fail(node, key,
         absl::StrCat("`", key, "` has the tag ", node.Tag(),
                      "; tags are not allowed, because each field already has a type"));
    return false;
  }
  if (node.Scalar().size() > kMaxStringBytes || absl::StrContains(node.Scalar(), '\0')) {
    Fail(node, key, absl::StrCat("`", key, "` contains a NUL byte or more than 64 KiB"));
    return false;
  }
  return true;
}

void Decoder::Clear(const FieldDescriptor& field, const std::string& key, Message& message) {
  message.GetReflection()->ClearField(&message, &field);
  context_.origins.erase(key);
  const std::string inside = key + ".";
  std::erase_if(context_.origins,
                [&](const auto& entry) { return absl::StartsWith(entry.first, inside); });
}

std::string Decoder::Absolute(const std::string& path) const {
  if (path.empty()) return path;
  return (std::filesystem::path(directory_) / path).lexically_normal().string();
}

// Returns false and reports an error if the path is relative and the file has no folder.
bool Decoder::HasFolder(const YAML::Node& node, const std::string& key, const std::string& path) {
  if (!directory_.empty() || path.empty() || path.starts_with('/')) return true;
  Fail(node, key,
       absl::StrCat(
           "`", key, "` is the relative path \"", path,
           "\", but a job file sent to the controller has no folder; write an absolute path"));
  return false;
}

// Adds an entry to a list. An entry of a list of paths is a word, a blank and a path. If the path
// is missing, the entry is still added, because a rule of the setting reports that error.
void Decoder::AddEntry(const YAML::Node& item, const FieldDescriptor& field, const std::string& key,
                       Message& message) {
  std::string text = item.Scalar();
  if (RuleOf(field).path()) {
    const auto [word, path] = SplitEntry(text);
    if (!HasFolder(item, key, path)) return;
    if (!path.empty()) text = absl::StrCat(word, " ", Absolute(path));
  }
  message.GetReflection()->AddString(&message, &field, text);
}

void Decoder::DecodeScalar(const YAML::Node& node, const FieldDescriptor& field,
                           const std::string& key, Message& message) {
  if (!IsText(node, key)) return;
  if (key == kNodesKey && DecodeNodeRange(node, key)) return;
  const bool is_path = RuleOf(field).path();
  if (is_path && !HasFolder(node, key, node.Scalar())) return;
  const std::string text = is_path ? Absolute(node.Scalar()) : node.Scalar();
  if (const absl::Status status = SetScalarField(text, field, message); !status.ok()) {
    Fail(node, key, absl::StrCat("`", key, "` ", status.message(), ", got \"", text, "\""));
    return;
  }
  context_.origins[key] = PlaceOf(node);
  context_.written.insert(key);
  TakeBackAlternatives(field, key, message);
  SettleAutoLayout(key);
}

bool Decoder::IsAutoLayout(const YAML::Node& value, const std::string& key) {
  return key == kLayoutSection && value.IsScalar() && value.Scalar() == kAutoLayoutWord;
}

// Resolves conflicts between `layout: auto` and written layout settings. The form in this file
// replaces the form in an extended file. If this file has both forms, both are kept, and a rule
// rejects them.
void Decoder::SettleAutoLayout(const std::string& key) {
  v1::JobSpec& spec = context_.spec;
  if (!spec.auto_layout()) return;
  for (const FieldDescriptor* field : ChosenLayoutFields()) {
    const std::string chosen = absl::StrCat(kLayoutSection, ".", field->name());
    if (key == kAutoLayoutKey && !context_.written.contains(chosen)) {
      Clear(*field, chosen, *spec.mutable_layout());
    } else if (key == chosen && !context_.written.contains(kAutoLayoutKey)) {
      spec.clear_auto_layout();
      context_.origins.erase(kAutoLayoutKey);
    }
  }
}

// Decodes a range of nodes, which sets both ends of the range. Returns false for a plain number,
// which replaces the range of an extended file.
bool Decoder::DecodeNodeRange(const YAML::Node& node, const std::string& key) {
  const auto range = ParseNodeRange(node.Scalar());
  if (!range.has_value()) {
    if (context_.written.contains(kMinNodesKey)) return false;
    context_.spec.clear_min_nodes();
    context_.origins.erase(kMinNodesKey);
    return false;
  }
  if (!range->ok()) {
    Fail(node, key,
         absl::StrCat("`", key, "` ", range->status().message(), ", got \"", node.Scalar(), "\""));
    return true;
  }
  context_.spec.set_min_nodes((*range)->min);
  context_.spec.mutable_resources()->set_nodes((*range)->max);
  for (const char* written : {kMinNodesKey, kNodesKey}) {
    context_.origins[written] = PlaceOf(node);
    context_.written.insert(written);
  }
  return true;
}

// Clears the settings that this setting replaces, if they come from an extended file. For example,
// `train.tokens` replaces `train.steps`. If both are in one file, both are kept, and a rule rejects
// them.
void Decoder::TakeBackAlternatives(const FieldDescriptor& field, const std::string& key,
                                   Message& message) {
  for (const std::string& name : RuleOf(field).instead_of()) {
    const std::string other = key.substr(0, key.rfind('.') + 1) + name;
    if (context_.written.contains(other)) continue;
    Clear(*message.GetDescriptor()->FindFieldByName(name), other, message);
  }
}

void Decoder::DecodeList(const YAML::Node& node, const FieldDescriptor& field,
                         const std::string& key, Message& message) {
  const int rule_items = RuleOf(field).max_items();
  const std::size_t max_items = rule_items > 0 ? rule_items : kDefaultMaxItems;
  if (!node.IsSequence() && !(node.IsScalar() && key == "extends")) {
    Fail(node, key, absl::StrCat("`", key, "` must be a list such as [a, b]"));
    return;
  }
  if (node.IsSequence() && node.size() > max_items) {
    Fail(node, key, absl::StrCat("`", key, "` has ", node.size(), " entries; at most ", max_items));
    return;
  }
  if (key == kUnsetVariables && context_.written.contains(key)) {
    Fail(node, key,
         absl::StrCat("`", key,
                      "` would override `env: {NAME: null}`, which also unsets variables; use only "
                      "one of the two forms"));
    return;
  }
  message.GetReflection()->ClearField(&message, &field);
  context_.origins[key] = PlaceOf(node);
  if (key != kUnsetVariables) context_.written.insert(key);
  if (node.IsScalar()) {
    message.GetReflection()->AddString(&message, &field, node.Scalar());
    return;
  }
  for (const YAML::Node& item : node) {
    if (!CountValue(item, key)) return;
    if (!item.IsScalar()) {
      Fail(item, key,
           absl::StrCat("an entry of `", key, "` must be text, not ",
                        item.IsMap()        ? "a mapping"
                        : item.IsSequence() ? "a list"
                                            : "null"));
    } else if (IsText(item, key)) {
      AddEntry(item, field, key, message);
    }
  }
  TakeBackAlternatives(field, key, message);
}

// Decodes `env`, `placement.labels` or `matrix`, the only maps in a job file.
void Decoder::DecodeMap(const YAML::Node& node, const FieldDescriptor& field,
                        const std::string& key, Message& message) {
  if (!node.IsMap() || node.size() > static_cast<std::size_t>(RuleOf(field).max_items())) {
    Fail(node, key,
         absl::StrCat("`", key, "` must be a mapping with at most ", RuleOf(field).max_items(),
                      " entries"));
    return;
  }
  std::set<std::string> seen;
  for (const auto& pair : node) {
    const std::string& name = pair.first.Scalar();
    const std::string entry_key = absl::StrCat(key, ".", name);
    if (!CountValue(pair.first, entry_key)) continue;
    if (!seen.insert(name).second) {
      Fail(pair.first, entry_key, absl::StrCat("`", entry_key, "` is written twice"));
      continue;
    }
    if (field.containing_type() == v1::PlacementSpec::descriptor()) {
      DecodeLabel(pair.second, name, static_cast<v1::PlacementSpec&>(message));
    } else if (entry_key.starts_with(kMatrixPrefix)) {
      DecodeAxis(pair.second, name, static_cast<v1::JobSpec&>(message));
    } else {
      DecodeVariable(pair.second, name, static_cast<v1::JobSpec&>(message));
    }
  }
}

// A null value removes a label that an extended file requires.
void Decoder::DecodeLabel(const YAML::Node& value, const std::string& name,
                          v1::PlacementSpec& placement) {
  const std::string key = kLabelPrefix + name;
  if (value.IsNull()) {
    placement.mutable_labels()->erase(name);
    context_.origins.erase(key);
  } else if (IsText(value, key)) {
    (*placement.mutable_labels())[name] = value.Scalar();
    context_.origins[key] = PlaceOf(value);
  }
}

// A null value removes a key that an extended file adds.
void Decoder::DecodeAxis(const YAML::Node& value, const std::string& name, v1::JobSpec& spec) {
  const std::string key = kMatrixPrefix + name;
  if (value.IsNull()) {
    spec.mutable_matrix()->erase(name);
    context_.origins.erase(key);
    return;
  }
  const absl::StatusOr<std::string> text = MatrixText(name, value);
  if (!text.ok()) return Fail(value, key, absl::StrCat("`", key, "` ", text.status().message()));
  (*spec.mutable_matrix())[name] = *text;
  context_.origins[key] = PlaceOf(value);
}

// A null value removes a variable that is set by an extended file or by the worker.
void Decoder::DecodeVariable(const YAML::Node& value, const std::string& name, v1::JobSpec& spec) {
  const std::string key = kVariablePrefix + name;
  if (!value.IsNull() && !IsText(value, key)) return;
  auto& unset = *spec.mutable_unset_env();
  unset.erase(std::remove(unset.begin(), unset.end(), name), unset.end());
  if (value.IsNull()) {
    spec.mutable_env()->erase(name);
    context_.origins.erase(key);
    spec.add_unset_env(name);
    context_.written.insert(kUnsetVariables);
    context_.origins[kUnsetVariables] = PlaceOf(value);
    return;
  }
  (*spec.mutable_env())[name] = value.Scalar();
  context_.origins[key] = PlaceOf(value);
}

void Decoder::DecodeField(const YAML::Node& value, const FieldDescriptor& field,
                          const std::string& key, Message& message) {
  if (!CountValue(value, key)) return;
  if (value.IsNull()) {
    Clear(field, key, message);
  } else if (IsAutoLayout(value, key)) {
    DecodeField(YAML::Node(true), *v1::JobSpec::descriptor()->FindFieldByName(kAutoLayoutKey),
                kAutoLayoutKey, context_.spec);
    context_.origins[kAutoLayoutKey] = PlaceOf(value);
  } else if (field.is_map()) {
    DecodeMap(value, field, key, message);
  } else if (field.is_repeated()) {
    DecodeList(value, field, key, message);
  } else if (const FieldDescriptor* only = ScalarKeyOf(field);
             only != nullptr && value.IsScalar()) {
    DecodeField(value, *only, absl::StrCat(key, ".", only->name()),
                *message.GetReflection()->MutableMessage(&message, &field));
  } else if (IsSection(field)) {
    DecodeMapping(value, key + ".", *message.GetReflection()->MutableMessage(&message, &field));
  } else {
    DecodeScalar(value, field, key, message);
  }
}

void Decoder::DecodeMapping(const YAML::Node& node, const std::string& prefix, Message& message) {
  const std::string section = prefix.empty() ? "" : prefix.substr(0, prefix.size() - 1);
  if (!node.IsMap()) {
    const char* or_auto = section == kLayoutSection ? ", or auto" : "";
    Fail(node, section,
         absl::StrCat("`", section, "` must be a mapping of keys to values", or_auto));
    return;
  }
  std::set<std::string> seen;
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) {
      Fail(pair.first, section, "a key must be text, not a list or a mapping");
      continue;
    }
    const std::string key = prefix + pair.first.Scalar();
    const FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(pair.first.Scalar());
    if (field == nullptr) {
      Fail(pair.first, key, UnknownKey(key, prefix, *message.GetDescriptor()));
    } else if (!seen.insert(key).second) {
      Fail(pair.first, key, absl::StrCat("`", key, "` is written twice"));
    } else {
      DecodeField(pair.second, *field, key, message);
    }
  }
}

YAML::Node TextOrNull(const std::string& text) {
  return text == "null" ? YAML::Node() : YAML::Node(text);
}

}  // namespace

std::vector<std::string> ReadExtends(const YAML::Node& root, const std::string& display_name,
                                     DecodeContext& context) {
  const YAML::Node node = root["extends"];
  if (!node || node.IsNull()) return {};
  DecodeContext scratch;
  Decoder decoder(display_name, "", scratch);
  decoder.DecodeField(node, *v1::JobSpec::descriptor()->FindFieldByName("extends"), "extends",
                      scratch.spec);
  // An error only ends the search for extended files. DecodeJobFile reads the key again and reports
  // the errors.
  if (!scratch.errors.empty()) context.failed_keys.insert("extends");
  return {scratch.spec.extends().begin(), scratch.spec.extends().end()};
}

void DecodeJobFile(const YAML::Node& root, const std::string& display_name,
                   const std::string& directory, DecodeContext& context) {
  context.written.clear();
  Decoder(display_name, directory, context).DecodeMapping(root, "", context.spec);
}

void DecodeSetting(const WrittenSetting& setting, const std::string& directory,
                   DecodeContext& context) {
  const auto& [origin, key, text] = setting;
  Decoder decoder(origin, directory, context);
  decoder.UseFixedOrigin(origin);
  absl::string_view entry = key;
  if (absl::ConsumePrefix(&entry, kVariablePrefix)) {
    return decoder.DecodeVariable(TextOrNull(text), std::string(entry), context.spec);
  }
  if (absl::ConsumePrefix(&entry, kLabelPrefix)) {
    return decoder.DecodeLabel(TextOrNull(text), std::string(entry),
                               *context.spec.mutable_placement());
  }
  Message* holder = nullptr;
  const FieldDescriptor* field = FindField(key, context.spec, holder);
  if (key == "extends") {
    decoder.Fail(YAML::Node(), key,
                 absl::StrCat("`extends` is read before any --set; write `extends: ", text,
                              "` into the job file, or pass `", text, "` instead of the job file"));
    return;
  }
  if (field == nullptr && !absl::StartsWith(entry, kMatrixPrefix)) {
    decoder.Fail(YAML::Node(), key, UnknownKey(key, "", *v1::JobSpec::descriptor()));
    return;
  }
  try {
    if (absl::ConsumePrefix(&entry, kMatrixPrefix)) {
      return decoder.DecodeAxis(YAML::Load(text), std::string(entry), context.spec);
    }
    const bool is_text =
        field->cpp_type() == FieldDescriptor::CPPTYPE_STRING && !field->is_repeated();
    decoder.DecodeField(is_text ? YAML::Node(text) : YAML::Load(text), *field, key, *holder);
  } catch (const YAML::Exception& error) {
    decoder.Fail(YAML::Node(), key, absl::StrCat("not valid YAML: ", error.msg));
  }
}

}  // namespace trainyard
