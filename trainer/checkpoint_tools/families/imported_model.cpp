#include "trainer/checkpoint_tools/families/imported_model.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "proto/model/model_fingerprint.h"
#include "proto/rules/run_rules.h"
#include "trainer/checkpoint_tools/families/deepseek_family.h"
#include "trainer/checkpoint_tools/families/gpt2_family.h"
#include "trainer/checkpoint_tools/families/gpt_neox_family.h"
#include "trainer/checkpoint_tools/families/head_settings.h"
#include "trainer/checkpoint_tools/families/llama_family.h"
#include "trainer/checkpoint_tools/families/mistral_family.h"
#include "trainer/checkpoint_tools/families/mixtral_family.h"
#include "trainer/checkpoint_tools/families/olmo_family.h"
#include "trainer/checkpoint_tools/families/qwen2_family.h"
#include "trainer/checkpoint_tools/families/qwen3_family.h"
#include "trainer/checkpoint_tools/families/qwen3_moe_family.h"
#include "trainer/checkpoint_tools/families/rotary_keys.h"
#include "trainer/config/run_config_json.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

// Keys that any config.json may contain and that do not affect the logits: names, token ids, file
// types, the length at which tokenizers truncate, and the standard deviation of initial weights.
constexpr const char* kWithoutEffect[] = {
    "_name_or_path",     "architectures",        "bos_token_id", "dtype",
    "eos_token_id",      "initializer_range",    "model_type",   "max_position_embeddings",
    "pad_token_id",      "return_dict",          "torch_dtype",  "transformers_version",
    "output_attentions", "output_hidden_states", "unk_token_id", "use_cache"};

[[noreturn]] void RefuseModel(const std::string& path, const std::string& reason) {
  throw TrainerError(ExitCode::kBadConfig, path + " " + reason);
}

std::string Quoted(const std::string& key) { return "`" + key + "`"; }

const ModelFamily& FamilyOf(const json& config, const std::string& path) {
  const json architectures = config.value("architectures", json());
  std::string known;
  for (const ModelFamily* family : ModelFamilies()) {
    const bool is_named = architectures == json::array({family->architecture});
    // Files of other programs may lack the class. The model type then names the family.
    const bool is_typed =
        architectures.is_null() && config.value("model_type", json()) == json(family->model_type);
    if (is_named || is_typed) return *family;
    known += (known.empty() ? "" : ", ") + std::string(family->architecture);
  }
  RefuseModel(path, "has " + Quoted("architectures") + " " + architectures.dump() +
                        "; this version supports only " + known);
}

// Returns the keys that are in none of the family's lists. Ignores keys whose value is null,
// because null disables a key in transformers.
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
    if (has(family.lists, key) || names(family.dropouts, key)) continue;
    if (names(family.without_effect, key) || names(kWithoutEffect, key)) continue;
    unknown += (unknown.empty() ? "" : ", ") + Quoted(key);
  }
  return unknown;
}

[[noreturn]] void RefuseValue(const ModelFamily& family, const std::string& path,
                              const std::string& key, const json& value, const std::string& only) {
  RefuseModel(path, "has " + Quoted(key) + " " + value.dump() + "; an import of " +
                        family.architecture + " supports only " + only);
}

void CheckLists(const json& config, const ModelFamily& family, const std::string& path) {
  for (const FixedKey& list : family.lists) {
    const json only = json::parse(list.value);
    for (const json& entry : config.value(list.key, json())) {
      if (entry != only) RefuseValue(family, path, list.key, entry, only.dump());
    }
  }
}

void CheckFixed(const json& config, const ModelFamily& family, const std::string& path) {
  const json type = config.value("model_type", json(family.model_type));
  if (type != family.model_type) {
    RefuseModel(path, "has " + Quoted("model_type") + " " + type.dump() + ", but " +
                          family.architecture + " requires \"" + family.model_type + "\"");
  }
  for (const FixedKey& fixed : family.fixed) {
    const json only = json::parse(fixed.value), value = config.value(fixed.key, only);
    if (value == only || value.is_null()) continue;
    RefuseValue(family, path, fixed.key, value, only.dump());
  }
  CheckLists(config, family, path);
  const std::string unknown = UnknownKeys(config, family);
  if (unknown.empty()) return;
  RefuseModel(
      path,
      "has keys that this version does not know and that may change the arithmetic: " + unknown +
          "; if a key has no effect, copy the directory and remove the key from the copy");
}

// Returns the Trainyard value for a value in config.json; nullopt if Trainyard does not support
// this value of the key.
std::optional<json> OurValue(const MappedKey& mapped, const json& value) {
  if (mapped.values.empty()) return value;
  for (const MappedKey::Value& one : mapped.values) {
    if (json::parse(one.theirs) == value) return json::parse(one.ours);
  }
  return std::nullopt;
}

std::string ValuesText(const MappedKey& mapped) {
  std::string text;
  for (const MappedKey::Value& one : mapped.values) {
    text += (text.empty() ? "" : ", ") + std::string(one.theirs);
  }
  return text;
}

json SettingsOf(const json& config, const ModelFamily& family, const std::string& path) {
  json settings = json::object();
  for (const MappedKey& mapped : family.mapped) {
    json value = config.value(mapped.key, json());
    if (value.is_null() && *mapped.if_absent == '\0') {
      RefuseModel(path, "lacks " + Quoted(mapped.key) + "; check that config.json is complete");
    }
    if (value.is_null()) value = json::parse(mapped.if_absent);
    if (value.is_null()) continue;
    const std::optional<json> ours = OurValue(mapped, value);
    if (!ours) RefuseValue(family, path, mapped.key, value, ValuesText(mapped));
    settings[mapped.setting] = *ours;
  }
  for (const FixedSetting& fixed : family.settings) {
    settings[fixed.setting] = json::parse(fixed.value);
  }
  return settings;
}

// Resolves the model settings in a run whose other settings have minimal valid values. Throws
// TrainerError kBadConfig if the model settings are invalid.
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

// Clears the head size if it has the default value, because a job file omits the default head size.
ModelConfig WithoutUsualHeadSize(ModelConfig model) {
  if (model.kv_channels == WholeHeadSize(model)) model.kv_channels = 0;
  return model;
}

// Returns all settings that are set or have a default, without the standard deviations of initial
// weights.
json WrittenSettings(const ModelConfig& model) {
  RunConfig config;
  config.model = model;
  json settings = RunConfigToJson(config)["model"];
  for (const char* spread : {"init_method_std", "output_layer_init_method_std"}) {
    settings.erase(spread);
  }
  return settings;
}

// True if config.json can express this value of the setting.
bool CanExpress(const ModelFamily& family, const std::string& setting, const json& ours) {
  return std::any_of(family.mapped.begin(), family.mapped.end(), [&](const MappedKey& mapped) {
    if (mapped.setting != setting) return false;
    return mapped.values.empty() ||
           std::any_of(mapped.values.begin(), mapped.values.end(),
                       [&](const auto& value) { return json::parse(value.ours) == ours; });
  });
}

// Returns a setting that config.json of the family cannot express; nullopt if there is none.
std::optional<std::string> SettingWithoutKey(const ModelConfig& model, const ModelFamily& family) {
  json only = WrittenSettings(ModelConfig());
  for (const FixedSetting& fixed : family.settings) only[fixed.setting] = json::parse(fixed.value);
  for (const DerivedSetting& derived : family.derived_settings) {
    only[derived.setting] = derived.value(model);
  }
  const json settings = WrittenSettings(model);
  for (const auto& [setting, value] : settings.items()) {
    if (CanExpress(family, setting, value)) continue;
    if (!HasKeyFor(family, setting) && only.value(setting, json()) == value) continue;
    return "model." + setting + ": " + value.dump();
  }
  return std::nullopt;
}

// Returns the first value of config.json that corresponds to `ours`.
json TheirValue(const MappedKey& mapped, const json& ours) {
  for (const MappedKey::Value& one : mapped.values) {
    if (json::parse(one.ours) == ours) return json::parse(one.theirs);
  }
  return ours;
}

bool IsScaling(const MappedKey& mapped) {
  return std::string_view(mapped.key).starts_with("rope_scaling.");
}

// True if all settings for scaled positions have their default values.
bool HasPlainPositions(const json& settings, const ModelFamily& family) {
  const json usual = WrittenSettings(ModelConfig());
  return std::none_of(family.mapped.begin(), family.mapped.end(), [&](const MappedKey& mapped) {
    return IsScaling(mapped) && settings.at(mapped.setting) != usual.at(mapped.setting);
  });
}

}  // namespace

const std::vector<const ModelFamily*>& ModelFamilies() {
  static const std::vector<const ModelFamily*> families = {
      &LlamaFamily(),      &Qwen3Family(),    &OlmoFamily(),    &Gpt2Family(),
      &GptNeoxFamily(),    &Qwen3MoeFamily(), &MixtralFamily(), &DeepSeekV2Family(),
      &DeepSeekV3Family(), &MistralFamily(),  &Qwen2Family()};
  return families;
}

ImportedModel ModelOfConfig(const json& written, const std::string& path) {
  if (!written.is_object()) RefuseModel(path, "is not a JSON object");
  const ModelFamily& family = FamilyOf(written, path);
  json config = WithFlatRotaryKeys(written, family, path);
  if (family.complete != nullptr) family.complete(config);
  CheckFixed(config, family, path);
  const json settings = SettingsOf(config, family, path);
  try {
    return {&family, WithoutUsualHeadSize(Resolved(settings))};
  } catch (const TrainerError& error) {
    RefuseModel(
        path, std::string("describes a model that the trainer does not support: ") + error.what());
  }
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
    RefuseModel(path,
                std::string("has a model that this version does not support: ") + error.what());
  }
  std::string obstacles;
  for (const ModelFamily* family : ModelFamilies()) {
    const std::optional<std::string> setting = SettingWithoutKey(model, *family);
    if (!setting) return {family, model};
    obstacles += (obstacles.empty() ? "" : ", ") + std::string(family->architecture) +
                 " has no key for `" + *setting + "`";
  }
  RefuseModel(path, "cannot be exported: " + obstacles);
}

json ConfigOf(const ImportedModel& imported) {
  const ModelFamily& family = *imported.family;
  const json settings = WrittenSettings(imported.model);
  json config = {{"architectures", json::array({family.architecture})},
                 {"model_type", family.model_type}};
  for (const MappedKey& mapped : family.mapped) {
    const bool is_written = settings.contains(mapped.setting);
    config[mapped.key] = is_written ? TheirValue(mapped, settings[mapped.setting])
                                    : json(mapped.if_unwritten(imported.model));
  }
  for (const FixedKey& fixed : family.fixed) config[fixed.key] = json::parse(fixed.value);
  for (const char* dropout : family.dropouts) config[dropout] = 0.0;
  if (HasPlainPositions(settings, family)) {
    for (const MappedKey& mapped : family.mapped) {
      if (IsScaling(mapped)) config.erase(mapped.key);
    }
    config.erase("rope_scaling.rope_type");
  }
  if (family.finish != nullptr) family.finish(config);
  return WithRotaryObjects(std::move(config), family);
}

}  // namespace trainyard::trainer
