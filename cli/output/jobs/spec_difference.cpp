#include "cli/output/jobs/spec_difference.h"

#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "cli/output/terminal/readable.h"
#include "proto/json/message_json.h"

namespace trainyard::cli {
namespace {

// The settings of a job, by dotted key.
using FlatSettings = std::map<std::string, std::string>;

void Flatten(const nlohmann::json& value, const std::string& key, FlatSettings& flat) {
  if (value.is_object()) {
    for (const auto& [name, inner] : value.items()) {
      Flatten(inner, key.empty() ? name : absl::StrCat(key, ".", name), flat);
    }
  } else {
    flat[key] = value.is_string() ? value.get<std::string>() : DumpJson(value, -1);
  }
}

FlatSettings SettingsOf(const v1::JobSpec& spec) {
  FlatSettings flat;
  Flatten(MessageToJson(spec), "", flat);
  return flat;
}

std::string ValueOf(const FlatSettings& settings, const std::string& key) {
  const auto found = settings.find(key);
  return found == settings.end() ? "" : found->second;
}

}  // namespace

Listing SpecDifference(const NamedSpec& left, const NamedSpec& right) {
  const FlatSettings before = SettingsOf(left.spec);
  const FlatSettings after = SettingsOf(right.spec);
  FlatSettings all = before;
  all.insert(after.begin(), after.end());
  Listing listing;
  listing.columns = {{"SETTING"},
                     {absl::AsciiStrToUpper(left.name), false, false, true},
                     {absl::AsciiStrToUpper(right.name), false, false, true}};
  for (const auto& [key, unused] : all) {
    const std::string was = ValueOf(before, key), is = ValueOf(after, key);
    if (was == is) continue;
    listing.rows.push_back({{key, TextOrNothing(was), TextOrNothing(is)},
                            key,
                            {{"setting", key}, {left.name, was}, {right.name, is}}});
  }
  return listing;
}

}  // namespace trainyard::cli
