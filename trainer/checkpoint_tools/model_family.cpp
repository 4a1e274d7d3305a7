#include "trainer/checkpoint_tools/model_family.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "proto/contract/run_rules.h"
#include "trainer/checkpoint_tools/llama_family.h"
#include "trainer/config/model_fingerprint.h"
#include "trainer/config/run_config_json.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

// Keys of any config.json that do not change a logit: names, token ids, types of files, the length
// that tokenizers cut at, and the spread of weights that are not there yet.
constexpr const char* kWithoutEffect[] = {
    "_name_or_path",     "architectures",        "bos_token_id", "dtype",
    "eos_token_id",      "initializer_range",    "model_type",   "max_position_embeddings",
    "pad_token_id",      "return_dict",          "torch_dtype",  "transformers_version",
    "output_attentions", "output_hidden_states", "unk_token_id", "use_cache"};

[[noreturn]] void RefuseModel(const std::string& path, const std::string& reason) {
  throw TrainerError(ExitCode::kBadConfig, path + " " + reason);
}

std::string Quoted(const std::string& key) { return "`" + key + "`"; }

// transformers 5 has the keys of rotary positions in an object of their own. Scaled ones get the
// key of earlier versions.
json WithRotaryKeysOnTop(json config) {
  const json rotary = config.value("rope_parameters", json());
  config.erase("rope_parameters");
  if (!rotary.is_object()) return config;
  if (rotary.value("rope_type", json("default")) != "default") {
    config["rope_scaling"] = rotary;
    return config;
  }
  for (const auto& [key, value] : rotary.items()) {
    if (key != "rope_type") config[key] = value;
  }
  return config;
}

const ModelFamily& FamilyOf(const json& config, const std::string& path) {
  const json architectures = config.value("architectures", json());
  std::string known;
  for (const ModelFamily* family : ModelFamilies()) {
    if (architectures == json::array({family->architecture})) return *family;
    known += (known.empty() ? "" : ", ") + std::string(family->architecture);
  }
  RefuseModel(path, "has " + Quoted("architectures") + " " + architectures.dump() +
                        "; this version knows " + known);
}

// Keys that no list of the family has. Null turns a key of transformers off.
std::string UnknownKeys(const json& config, const ModelFamily& family) {
  const auto has = [](const auto& list, const std::string& key) {
    return std::any_of(list.begin(), list.end(), [&](const auto& row) { return row.key == key; });
  };
  const auto names = [](const auto& list, const std::string& key) {
    return std::find(std::begin(list), std::end(list), key) != std::end(list);
  };
  std::string unknown;
  for (const auto& [key, value] : config.items()) {
    if (value.is_null() || has(family.mapped, key) || has(family.fixed, key)) continue;
    if (has(family.derived, key) || names(family.without_effect, key)) continue;
    if (!names(kWithoutEffect, key)) unknown += (unknown.empty() ? "" : ", ") + Quoted(key);
  }
  return unknown;
}

void CheckFixed(const json& config, const ModelFamily& family, const std::string& path) {
  const json type = config.value("model_type", json(family.model_type));
  if (type != family.model_type) {
    RefuseModel(path, "has " + Quoted("model_type") + " " + type.dump() + " with " +
                          family.architecture + ", which is \"" + family.model_type + "\"");
  }
  for (const FixedKey& fixed : family.fixed) {
    const json only = json::parse(fixed.value), value = config.value(fixed.key, only);
    if (value == only || value.is_null()) continue;
    RefuseModel(path, "has " + Quoted(fixed.key) + " " + value.dump() + "; of " +
                          family.architecture + " an import takes " + only.dump() + " only");
  }
  const std::string unknown = UnknownKeys(config, family);
  if (unknown.empty()) return;
  RefuseModel(path,
              "has keys that this version does not know and that may change the arithmetic: " +
                  unknown + "; take out those that do not, in a copy of the directory");
}

void CheckDerived(const json& config, const ImportedModel& imported, const std::string& path) {
  for (const DerivedKey& derived : imported.family->derived) {
    const json value = config.value(derived.key, json());
    const int64_t only = derived.value(imported.model);
    if (value.is_null() || value == only) continue;
    RefuseModel(path, "has " + Quoted(derived.key) + " " + value.dump() + ", and an import takes " +
                          std::to_string(only) + " only, which follows from the other keys");
  }
}

json SettingsOf(const json& config, const ModelFamily& family, const std::string& path) {
  json settings = json::object();
  for (const MappedKey& mapped : family.mapped) {
    json value = config.value(mapped.key, json());
    if (value.is_null() && *mapped.if_absent == '\0') {
      RefuseModel(path, "lacks " + Quoted(mapped.key) + "; is it a copy of the whole config.json?");
    }
    if (value.is_null()) value = json::parse(mapped.if_absent);
    if (value.is_null()) continue;
    if (mapped.is_negated && !value.is_boolean()) {
      RefuseModel(path,
                  "has " + Quoted(mapped.key) + " " + value.dump() + " instead of true or false");
    }
    settings[mapped.setting] = mapped.is_negated ? json(!value.get<bool>()) : value;
  }
  for (const FixedSetting& fixed : family.settings) {
    settings[fixed.setting] = json::parse(fixed.value);
  }
  return settings;
}

// The model of a run that breaks no rule: the rest of the run is as small as it can be.
ModelConfig Resolved(const json& settings) {
  RunConfig config = ParseRunConfig({{"model", settings}});
  config.train = {.seq_length = 2, .global_batch = 1, .steps = 1};
  FillDerived(/*world_size=*/1, config);
  std::vector<SettingProblem> problems = FindMissing(config);
  if (problems.empty()) problems = FindOutOfRange(config);
  if (problems.empty()) problems = FindTrainingProblems(config);
  std::string text;
  for (const SettingProblem& problem : problems) {
    if (!problem.key.starts_with("model.")) continue;
    text += (text.empty() ? "" : "; ") + problem.message;
  }
  if (!text.empty()) throw TrainerError(ExitCode::kBadConfig, text);
  return config.model;
}

// The setting for which the family has no key; nullopt when it has all.
std::optional<std::string> SettingWithoutKey(const json& shape, const ModelFamily& family) {
  json fixed = ModelShape(ModelConfig());
  for (const FixedSetting& setting : family.settings) {
    fixed[setting.setting] = json::parse(setting.value);
  }
  for (const auto& [setting, value] : shape.items()) {
    const auto is_it = [&key = setting](const MappedKey& mapped) { return mapped.setting == key; };
    if (std::any_of(family.mapped.begin(), family.mapped.end(), is_it)) continue;
    if (fixed.value(setting, json()) != value) return "model." + setting + ": " + value.dump();
  }
  return std::nullopt;
}

}  // namespace

const std::vector<const ModelFamily*>& ModelFamilies() {
  static const std::vector<const ModelFamily*> families = {&LlamaFamily()};
  return families;
}

ImportedModel ModelOfConfig(const json& written, const std::string& path) {
  if (!written.is_object()) RefuseModel(path, "is not a JSON object");
  const json config = WithRotaryKeysOnTop(written);
  const ModelFamily& family = FamilyOf(config, path);
  CheckFixed(config, family, path);
  const json settings = SettingsOf(config, family, path);
  ImportedModel imported = {&family, {}};
  try {
    imported.model = Resolved(settings);
  } catch (const TrainerError& error) {
    RefuseModel(path, std::string("is of a model that the trainer refuses: ") + error.what());
  }
  CheckDerived(config, imported, path);
  return imported;
}

ImportedModel ModelOfFingerprint(const std::string& fingerprint, const std::string& path) {
  const json shape = json::parse(fingerprint, nullptr, /*allow_exceptions=*/false);
  if (!shape.is_object()) {
    throw TrainerError(ExitCode::kBadCheckpoint,
                       path +
                           " does not describe its model; only checkpoints of "
                           "trainyard-trainer can be exported");
  }
  ModelConfig model;
  try {
    model = Resolved(shape);
  } catch (const TrainerError& error) {
    RefuseModel(path, std::string("has a model that this version does not know: ") + error.what());
  }
  std::string obstacles;
  for (const ModelFamily* family : ModelFamilies()) {
    const std::optional<std::string> setting = SettingWithoutKey(ModelShape(model), *family);
    if (!setting) return {family, model};
    obstacles += (obstacles.empty() ? "" : ", ") + std::string(family->architecture) +
                 " has no key for `" + *setting + "`";
  }
  RefuseModel(path, "cannot be exported: " + obstacles);
}

json ConfigOf(const ImportedModel& imported) {
  const ModelFamily& family = *imported.family;
  const json shape = ModelShape(imported.model);
  json config = {{"architectures", json::array({family.architecture})},
                 {"model_type", family.model_type}};
  for (const MappedKey& mapped : family.mapped) {
    const json& value = shape.at(mapped.setting);
    config[mapped.key] = mapped.is_negated ? json(!value.get<bool>()) : value;
  }
  for (const FixedKey& fixed : family.fixed) config[fixed.key] = json::parse(fixed.value);
  for (const DerivedKey& derived : family.derived) {
    config[derived.key] = derived.value(imported.model);
  }
  return config;
}

}  // namespace trainyard::trainer
