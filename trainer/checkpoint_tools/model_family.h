// Model families of Hugging Face: one table each, from the keys of config.json to settings of the
// section `model` of a job file, and tensors to tensors. Pure.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_MODEL_FAMILY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_MODEL_FAMILY_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/checkpoint_tools/family_tensor.h"

namespace trainyard::trainer {

// A key of config.json that is a setting of ours.
struct MappedKey {
  // A value of config.json and the one of ours, as JSON text.
  struct Value {
    const char* theirs;
    const char* ours;
  };

  const char* key;
  const char* setting;
  // JSON text of the value that transformers takes when config.json lacks the key; empty when the
  // key must be there; "null" when our setting then follows from others.
  const char* if_absent = "";
  // The only values, where they are not the same here and there. An export takes the first that
  // fits.
  std::vector<Value> values = {};
  // The value for an export when our setting is not written.
  int64_t (*if_unwritten)(const ModelConfig& model) = nullptr;
};

// A key of config.json whose value decides the arithmetic and which the trainer has with one value
// only. transformers takes the same value when the key is absent.
struct FixedKey {
  const char* key;
  const char* value;  // JSON text.
};

// A setting of ours that every model of the family has with one value.
struct FixedSetting {
  const char* setting;
  const char* value;  // JSON text.
};

// A setting of ours that follows from others in every model of the family.
struct DerivedSetting {
  const char* setting;
  int64_t (*value)(const ModelConfig& model);
};

struct ModelFamily {
  const char* architecture;  // The one entry of `architectures`.
  const char* model_type;
  const char* prefix;  // Of every tensor but the head's; a model saved without its head lacks it.
  // Weights on Hugging Face, which are one where they are tied.
  const char* head;
  const char* embedding;
  // The two keys of rotary positions that families name differently.
  const char* rotary_base_key = "rope_theta";
  const char* rotary_part_key = "partial_rotary_factor";
  std::vector<MappedKey> mapped;
  std::vector<FixedKey> fixed;
  // Settings that are in none of the lists have the default of a job file.
  std::vector<FixedSetting> settings = {};
  std::vector<DerivedSetting> derived_settings = {};
  // Lists of which every entry has one value, as JSON text.
  std::vector<FixedKey> lists = {};
  // Probabilities of dropout, which the trainer does not have. They change no logit: an import
  // takes any value, and an export writes 0.
  std::vector<const char*> dropouts;
  // Keys without an effect on the arithmetic, beside those that are so in every family.
  std::vector<const char*> without_effect = {};
  // Ends of names of tensors that follow from config.json, and that transformers skips, too.
  std::vector<const char*> skipped_tensors = {};
  // Sets keys whose value follows from other keys when they are absent or null.
  void (*complete)(nlohmann::json& config) = nullptr;
  // In the order of the forward pass.
  std::vector<FamilyTensor> (*tensors)(const ModelConfig& model);
};

// Each family that this version knows.
const std::vector<const ModelFamily*>& ModelFamilies();

struct ImportedModel {
  const ModelFamily* family = nullptr;
  ModelConfig model;  // With the settings that follow from others.
};

// The settings that a config.json describes. `path`: of the file, for messages. Throws
// TrainerError kBadConfig that names each key for which the trainer has no counterpart, and the
// settings that it refuses.
ImportedModel ModelOfConfig(const nlohmann::json& config, const std::string& path);

// The family that a checkpoint's model (Manifest::model_fingerprint) belongs to, and its settings.
// `path`: of the checkpoint, for messages. Throws TrainerError kBadCheckpoint when it is no such
// description, and kBadConfig that names the setting which no family has.
ImportedModel ModelOfFingerprint(const std::string& fingerprint, const std::string& path);

// The keys of config.json that describe the model, without those that have no effect on the
// arithmetic.
nlohmann::json ConfigOf(const ImportedModel& imported);

// True when a key of config.json is this setting of ours.
bool HasKeyFor(const ModelFamily& family, const std::string& setting);

// The dropouts above 0 that a config.json has: "attn_pdrop 0.1, embd_pdrop 0.1"; empty for none.
std::string DropoutsOf(const nlohmann::json& config, const ModelFamily& family);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_MODEL_FAMILY_H_
