// Model families of Hugging Face: one table each, from the keys of config.json to settings of the
// section `model` of a job file, and the names and shapes of the tensors. Pure.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_MODEL_FAMILY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_MODEL_FAMILY_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "trainer/checkpoint/box.h"

namespace trainyard::trainer {

// A key of config.json that is a setting of ours.
struct MappedKey {
  const char* key;
  const char* setting;
  // JSON text of the value that transformers takes when config.json lacks the key; empty when the
  // key must be there; "null" when our setting then follows from others.
  const char* if_absent = "";
  bool is_negated = false;  // A boolean that has the opposite meaning here.
};

// A key of config.json whose value decides the arithmetic and which the trainer has with one value
// only. transformers takes the same value when the key is absent.
struct FixedKey {
  const char* key;
  const char* value;  // JSON text.
};

// A key of config.json that follows from our settings. It may be absent or null.
struct DerivedKey {
  const char* key;
  int64_t (*value)(const ModelConfig& model);
};

// A setting of ours that every model of the family has with one value.
struct FixedSetting {
  const char* setting;
  const char* value;  // JSON text.
};

struct TensorShape {
  std::string name;  // The same in our checkpoints and on Hugging Face.
  Extents shape;
};

struct ModelFamily {
  const char* architecture;  // The one entry of `architectures`.
  const char* model_type;
  std::vector<MappedKey> mapped;
  std::vector<FixedKey> fixed;
  std::vector<DerivedKey> derived;
  // Settings that are in neither list have the default of a job file.
  std::vector<FixedSetting> settings;
  // Keys without an effect on the arithmetic, beside those that are so in every family.
  std::vector<const char*> without_effect;
  // Ends of names of tensors that follow from config.json, and that transformers skips, too.
  std::vector<const char*> skipped_tensors;
  // In the order of the forward pass.
  std::vector<TensorShape> (*tensors)(const ModelConfig& model);
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

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_MODEL_FAMILY_H_
