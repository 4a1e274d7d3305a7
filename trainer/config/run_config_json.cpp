#include "trainer/config/run_config_json.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <vector>

#include "proto/rules/run_rules.h"
#include "proto/text/number_text.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

[[noreturn]] void Refuse(const std::string& message) {
  throw TrainerError(ExitCode::kBadConfig, message);
}

[[noreturn]] void RefuseValue(const std::string& key, const std::string& problem,
                              const json& value) {
  Refuse("`" + key + "` " + problem + ", got " + value.dump());
}

template <typename Enum>
Enum ReadName(const std::string& key, const json& value) {
  std::string allowed;
  for (const auto& [name, constant] : SettingNames<Enum>::kNames) {
    if (value.is_string() && value.get<std::string>() == name) return constant;
    allowed += (allowed.empty() ? "" : ", ") + std::string(name);
  }
  RefuseValue(key, "must be one of: " + allowed, value);
}

template <typename Value>
void Read(const std::string& key, const json& from, Value& value) {
  if constexpr (NamedSetting<Value>) {
    value = ReadName<Value>(key, from);
  } else if constexpr (std::is_same_v<Value, bool>) {
    if (!from.is_boolean()) RefuseValue(key, "must be true or false", from);
    value = from.get<bool>();
  } else if constexpr (std::is_same_v<Value, std::optional<bool>>) {
    Read(key, from, value.emplace());
  } else if constexpr (std::is_same_v<Value, double>) {
    if (!from.is_number()) RefuseValue(key, "must be a number", from);
    value = from.get<double>();
  } else if constexpr (std::is_same_v<Value, uint64_t>) {
    const bool fits =
        from.is_number_integer() && (from.is_number_unsigned() || from.get<int64_t>() >= 0);
    if (!fits) RefuseValue(key, "must be a whole number, 0 or more", from);
    value = from.get<uint64_t>();
  } else if constexpr (std::is_same_v<Value, int64_t>) {
    const bool fits = from.is_number_integer() &&
                      !(from.is_number_unsigned() && from.get<uint64_t>() > INT64_MAX);
    if (!fits) RefuseValue(key, "must be a whole number", from);
    value = from.get<int64_t>();
  } else if constexpr (std::is_same_v<Value, std::vector<std::string>>) {
    if (!from.is_array()) RefuseValue(key, "must be a list of strings", from);
    for (const json& entry : from) Read(key, entry, value.emplace_back());
  } else {
    if (!from.is_string()) RefuseValue(key, "must be text", from);
    value = from.get<std::string>();
  }
}

void RefuseUnknownKeys(const std::string& section, const json& values,
                       const std::vector<std::string>& known) {
  for (const auto& [key, value] : values.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    Refuse("`" + section + "." + key + "` is not a setting of this trainer; remove it");
  }
}

// Throws if a number without a default is 0. For such a setting 0 means "not set", so an explicit 0
// is an error.
template <typename Value>
void RefuseWrittenZero(const std::string& key, const SettingRule& rule, const Value& value) {
  if constexpr (std::is_arithmetic_v<Value>) {
    if (rule.has_default || value != 0) return;
    RefuseValue(key, "must be at least " + NumberText(rule.min), value);
  }
}

template <typename Section>
void ReadSection(const std::string& name, const json& values, Section& section) {
  if (!values.is_object()) Refuse("`" + name + "` must be a mapping of settings");
  std::vector<std::string> known;
  VisitSettings(section, [&](const char* key, const SettingRule& rule, auto& value) {
    known.push_back(key);
    const auto found = values.find(key);
    if (found == values.end()) return;
    Read(name + "." + key, *found, value);
    RefuseWrittenZero(name + "." + key, rule, value);
  });
  RefuseUnknownKeys(name, values, known);
}

void RefuseAny(const std::vector<SettingProblem>& problems) {
  std::string lines;
  for (const SettingProblem& problem : problems) {
    lines += (lines.empty() ? "" : "\n") + problem.message;
  }
  if (!lines.empty()) Refuse(lines);
}

json ReadJson(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw TrainerError(ExitCode::kNoInput, "Cannot read the settings file " + path + ".");
  }
  try {
    return json::parse(file);
  } catch (const json::exception& error) {
    Refuse(path + " is not valid JSON: " + error.what());
  }
}

// Parses a duration as spec.json writes it: "90s", "0.25s".
double ReadSeconds(const std::string& key, const json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : "";
  double seconds = -1;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  const bool is_duration = error == std::errc() && std::string(stop, end) == "s" && seconds >= 0;
  if (!is_duration) RefuseValue(key, "must be a number of seconds, such as \"60s\"", value);
  return seconds;
}

}  // namespace

RunConfig ParseRunConfig(const json& spec) {
  if (!spec.is_object()) Refuse("The run's settings must be a JSON object.");
  for (const auto& [key, value] : spec.items()) {
    if (std::find(kJobFileKeys.begin(), kJobFileKeys.end(), key) == kJobFileKeys.end()) {
      Refuse("`" + key + "` is not a part of a job file; remove it");
    }
  }
  RunConfig config;
  if (const auto name = spec.find("name"); name != spec.end()) Read("name", *name, config.name);
  VisitSections(config, [&spec](const std::string& name, auto& section) {
    const auto found = spec.find(name);
    if (found != spec.end()) ReadSection(name, *found, section);
  });
  return config;
}

RunConfig LoadRunConfig(const std::string& path) { return ParseRunConfig(ReadJson(path)); }

double LoadStopGraceSeconds(const std::string& path) {
  const json spec = ReadJson(path);
  const auto found = spec.find("stop_grace");
  if (found == spec.end()) return std::numeric_limits<double>::infinity();
  return ReadSeconds("stop_grace", *found);
}

void ResolveRunConfig(int64_t world_size, RunConfig& config) {
  RefuseAny(FindMissing(config));
  FillDerived(world_size, config);
  RefuseAny(FindOutOfRange(config));
  RefuseAny(FindLayoutProblems(world_size, config));
  RefuseAny(FindTrainingProblems(config));
  RefuseAny(FindLaunchProblems(config));
}

}  // namespace trainyard::trainer
