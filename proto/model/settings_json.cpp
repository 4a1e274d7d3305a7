#include "proto/model/settings_json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>

namespace trainyard {
namespace {

using nlohmann::json;

template <typename Value>
json ToJson(const Value& value) {
  if constexpr (NamedSetting<Value>) {
    for (const auto& [name, constant] : SettingNames<Value>::kNames) {
      if (constant == value) return std::string(name);
    }
    return nullptr;
  } else if constexpr (std::is_same_v<Value, std::optional<bool>>) {
    return value.has_value() ? json(*value) : json();
  } else {
    return value;
  }
}

}  // namespace

json RunConfigToJson(const RunConfig& config) {
  json out;
  out["name"] = config.name;
  VisitSections(config, [&out](const char* name, const auto& section) {
    json& values = out[name] = json::object();
    VisitSettings(section, [&values](const char* key, const SettingRule& rule, const auto& value) {
      const bool written = rule.has_default || value != std::remove_cvref_t<decltype(value)>{};
      if (written) values[key] = ToJson(value);
    });
  });
  return out;
}

}  // namespace trainyard
