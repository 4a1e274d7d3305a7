// A model described in two ways: by its Hugging Face family, and by the settings in the section
// `model` of a job file. Pure functions.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_IMPORTED_MODEL_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_IMPORTED_MODEL_H_

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/checkpoint_tools/families/model_family.h"

namespace trainyard::trainer {

// All supported families.
const std::vector<const ModelFamily*>& ModelFamilies();

struct ImportedModel {
  const ModelFamily* family = nullptr;
  ModelConfig model;  // Including derived settings.
};

// Returns the model settings that a config.json describes. `path` is the path of config.json, for
// messages. Throws TrainerError kBadConfig if a key or value is not supported, or if the trainer
// rejects a setting. The message names the key or the setting.
ImportedModel ModelOfConfig(const nlohmann::json& config, const std::string& path);

// Returns the family and settings of a checkpoint's model (Manifest::model_fingerprint). `path` is
// the path of the checkpoint, for messages. Throws TrainerError kBadCheckpoint if the text does not
// describe a model. Throws kBadConfig if no family supports all settings; the message names the
// unsupported settings.
ImportedModel ModelOfFingerprint(const std::string& fingerprint, const std::string& path);

// Returns the keys of config.json that describe the model, without keys that do not affect the
// arithmetic.
nlohmann::json ConfigOf(const ImportedModel& imported);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_IMPORTED_MODEL_H_
