#include "proto/jobspec/rules/field_rules.h"

#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "google/protobuf/duration.pb.h"
#include "proto/jobspec/fields/scalar_text.h"
#include "proto/rules/data_sources.h"
#include "proto/text/number_text.h"
#include "re2/re2.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

using Problems = std::vector<SettingProblem>;

// A field of a message, and the prefix of its key in the job file. The full key is built only for
// error messages, to save time.
struct FieldPlace {
  const Message& message;
  // Stored because calling GetReflection() takes longer than reading a field.
  const Reflection& reflection;
  const FieldDescriptor& field;
  const std::string& prefix;

  std::string Key() const { return absl::StrCat(prefix, field.name()); }
};

double NumberOf(const FieldPlace& place) {
  const auto& [message, reflection, field, prefix] = place;
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return static_cast<double>(reflection.GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return static_cast<double>(reflection.GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.GetDouble(message, &field);
    default: {
      const auto& duration =
          static_cast<const google::protobuf::Duration&>(reflection.GetMessage(message, &field));
      return static_cast<double>(duration.seconds()) + duration.nanos() / 1e9;
    }
  }
}

void CheckRange(const FieldPlace& place, Problems& problems) {
  const v1::FieldRule& rule = RuleOf(place.field);
  const double value = NumberOf(place);
  // Written with `!`, so that NaN is rejected too.
  const bool too_small = rule.has_min() && !(value >= rule.min());
  const bool too_large = rule.has_max() && !(value <= rule.max());
  if (!too_small && !too_large) return;
  const std::string key = place.Key();
  const char* unit = IsDuration(place.field) ? "s" : "";
  problems.push_back({key, absl::StrCat("`", key, "` must be at ", too_small ? "least " : "most ",
                                        NumberText(too_small ? rule.min() : rule.max()), unit,
                                        ", got ", NumberText(value), unit)});
}

// Returns the compiled pattern of the field. Each thread compiles a pattern once, because compiling
// takes a hundred times as long as matching. Any thread.
const RE2& CompiledPattern(const FieldDescriptor& field) {
  thread_local std::map<const FieldDescriptor*, RE2> patterns;
  return patterns.try_emplace(&field, RuleOf(field).pattern()).first->second;
}

void CheckText(const FieldPlace& place, Problems& problems) {
  const auto& [message, reflection, field, prefix] = place;
  const v1::FieldRule& rule = RuleOf(field);
  std::string scratch;
  const std::string& text = reflection.GetStringReference(message, &field, &scratch);
  if (!rule.pattern().empty() && !RE2::FullMatch(text, CompiledPattern(field))) {
    const std::string key = place.Key();
    problems.push_back(
        {key, absl::StrCat("`", key, "` is \"", text, "\"; it must match ", rule.pattern())});
  }
  if (rule.path() && !text.empty() && text.front() != '/') {
    const std::string key = place.Key();
    problems.push_back({key, absl::StrCat("`", key, "` must be an absolute path, got ", text)});
  }
}

void CheckEntries(const FieldPlace& place, Problems& problems) {
  const auto& [message, reflection, field, prefix] = place;
  const std::string key = place.Key();
  const v1::FieldRule& rule = RuleOf(field);
  const int size = reflection.FieldSize(message, &field);
  if (rule.max_items() > 0 && size > rule.max_items()) {
    problems.push_back(
        {key, absl::StrCat("`", key, "` has ", size, " entries; at most ", rule.max_items())});
  }
  if (field.is_map()) return;
  for (int i = 0; i < size; ++i) {
    const std::string entry = reflection.GetRepeatedString(message, &field, i);
    const std::string path = rule.path() ? SplitEntry(entry).second : "";
    if (!path.empty() && path.front() != '/') {
      problems.push_back(
          {key, absl::StrCat("`", key, "` must contain absolute paths, got ", entry)});
    }
    if (rule.pattern().empty()) continue;
    if (RE2::FullMatch(entry, CompiledPattern(field))) continue;
    problems.push_back({key, absl::StrCat("`", key, "` contains \"", entry,
                                          "\"; an entry must match ", rule.pattern())});
  }
}

void CheckFieldsOf(const Message& message, const std::string& prefix, Problems& problems) {
  const Reflection& reflection = *message.GetReflection();
  std::vector<const FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const FieldPlace place{message, reflection, *field, prefix};
    if (field->is_repeated()) {
      CheckEntries(place, problems);
    } else if (IsSection(*field)) {
      CheckFieldsOf(reflection.GetMessage(message, field), place.Key() + ".", problems);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      CheckText(place, problems);
    } else if (field->cpp_type() != FieldDescriptor::CPPTYPE_BOOL &&
               field->cpp_type() != FieldDescriptor::CPPTYPE_ENUM) {
      CheckRange(place, problems);
    }
  }
}

}  // namespace

void CheckFields(const v1::JobSpec& spec, Problems& problems) { CheckFieldsOf(spec, "", problems); }

}  // namespace trainyard
