// A model as described on both sides: its Hugging Face family, and the settings of a job file's
// section `model`. Pure functions.
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

// The model settings described by a config.json. path: path of the file, for messages. Throws
// TrainerError kBadConfig naming each unsupported key and the settings that the trainer refuses.
ImportedModel ModelOfConfig(const nlohmann::json& config, const std::string& path);

// The family and settings of a checkpoint's model (Manifest::model_fingerprint). path: path of the
// checkpoint, for messages. Throws TrainerError kBadCheckpoint if the text is not a model
// description, and kBadConfig naming the setting that no family supports.
ImportedModel ModelOfFingerprint(const std::string& fingerprint, const std::string& path);

// The keys of config.json that describe the model, without those that have no effect on the
// arithmetic.
nlohmann::json ConfigOf(const ImportedModel& imported);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_IMPORTED_MODEL_H_
