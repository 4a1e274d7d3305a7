#include "trainer/checkpoint_tools/families/rotary_keys.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

constexpr char kBase[] = "rope_theta";
constexpr char kPart[] = "partial_rotary_factor";
constexpr char kParameters[] = "rope_parameters";
constexpr char kScaling[] = "rope_scaling";
constexpr char kPrefix[] = "rope_scaling.";
constexpr char kType[] = "rope_scaling.rope_type";

// Returns the top-level name of a rotary key, whether it comes from rope_parameters or
// rope_scaling.
std::string FlatName(const std::string& key, const ModelFamily& family) {
  if (key == kBase) return family.rotary_base_key;
  if (key == kPart) return family.rotary_part_key;
  return kPrefix + (key == "type" ? std::string("rope_type") : key);
}

class FlatKeys {
 public:
  FlatKeys(json config, const ModelFamily& family, const std::string& path)
      : config_(std::move(config)), family_(family), path_(path) {}

  json Take() {
    for (const char* name : {kParameters, kScaling}) {
      const json keys = config_.value(name, json());
      if (!keys.is_object()) continue;
      config_.erase(name);
      for (const auto& [key, value] : keys.items()) {
        Set(FlatName(key, family_), value, "`" + std::string(name) + "." + key + "`");
      }
    }
    // Version 4 of transformers writes GPT-NeoX's keys also under the names that other families
    // use.
    for (const char* name : {kBase, kPart}) {
      if (FlatName(name, family_) == name || !config_.contains(name)) continue;
      const json value = config_[name];
      config_.erase(name);
      Set(FlatName(name, family_), value, "`" + std::string(name) + "`");
    }
    if (config_.value(kType, json()) == "default") config_.erase(kType);
    if (HasTypeOfFamily()) RequireScalingKeys();
    return config_;
  }

 private:
  [[noreturn]] void Refuse(const std::string& reason) const {
    throw TrainerError(ExitCode::kBadConfig, path_ + " " + reason);
  }

  void Set(const std::string& key, const json& value, const std::string& place) {
    if (value.is_null()) return;
    const json there = config_.value(key, json());
    if (!there.is_null() && there != value) {
      Refuse("has `" + key + "` " + there.dump() + " and " + place + " " + value.dump() +
             ", which contradict each other; copy the directory and remove the wrong key from the "
             "copy");
    }
    config_[key] = value;
  }

  bool HasTypeOfFamily() const {
    const json type = config_.value(kType, json());
    if (type.is_null()) return false;
    const bool is_fixed =
        std::any_of(family_.fixed.begin(), family_.fixed.end(), [&](const FixedKey& fixed) {
          return fixed.key == std::string(kType) && json::parse(fixed.value) == type;
        });
    return is_fixed || HasMappedType(type);
  }

  bool HasMappedType(const json& type) const {
    for (const MappedKey& mapped : family_.mapped) {
      if (mapped.key != std::string(kType)) continue;
      return std::any_of(mapped.values.begin(), mapped.values.end(),
                         [&](const auto& value) { return json::parse(value.theirs) == type; });
    }
    return false;
  }

  // Throws if a key for scaled positions is missing, because transformers has no defaults for these
  // keys.
  void RequireScalingKeys() const {
    for (const MappedKey& mapped : family_.mapped) {
      const bool is_scaling = std::strncmp(mapped.key, kPrefix, std::strlen(kPrefix)) == 0;
      if (!is_scaling || !config_.value(mapped.key, json()).is_null()) continue;
      Refuse("scales positions but lacks `" + std::string(mapped.key) +
             "`; check that config.json is complete");
    }
  }

  json config_;
  const ModelFamily& family_;
  const std::string& path_;
};

}  // namespace

json WithFlatRotaryKeys(json config, const ModelFamily& family, const std::string& path) {
  return FlatKeys(std::move(config), family, path).Take();
}

json WithRotaryObjects(json config, const ModelFamily& family) {
  if (!config.contains(family.rotary_base_key)) return config;
  json scaling = json::object();
  const json flat = config;
  for (const auto& [key, value] : flat.items()) {
    if (!key.starts_with(kPrefix)) continue;
    scaling[key.substr(std::strlen(kPrefix))] = value;
    config.erase(key);
  }
  config[kScaling] = scaling.empty() ? json() : scaling;
  if (scaling.empty()) scaling["rope_type"] = "default";
  scaling[kBase] = config[family.rotary_base_key];
  if (config.contains(family.rotary_part_key)) scaling[kPart] = config[family.rotary_part_key];
  config[kParameters] = scaling;
  return config;
}

}  // namespace trainyard::trainer
