#include "trainer/checkpoint_tools/families/model_family.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace trainyard::trainer {

bool HasKeyFor(const ModelFamily& family, const std::string& setting) {
  return std::any_of(family.mapped.begin(), family.mapped.end(),
                     [&](const MappedKey& mapped) { return mapped.setting == setting; });
}

std::string DropoutsOf(const nlohmann::json& config, const ModelFamily& family) {
  std::string text;
  for (const char* key : family.dropouts) {
    const nlohmann::json value = config.value(key, nlohmann::json(0.0));
    if (value.is_null() || value == 0.0) continue;
    text += (text.empty() ? "" : ", ") + std::string(key) + " " + value.dump();
  }
  return text;
}

std::string KeysWithoutEffect(const nlohmann::json& config, const ModelFamily& family) {
  std::string text;
  for (const char* key : family.without_effect) {
    if (!config.contains(key)) continue;
    text += (text.empty() ? "" : ", ") + std::string(key);
  }
  return text;
}

}  // namespace trainyard::trainer
