// The table of a Hugging Face model family: maps keys of config.json to settings of a job file's
// section `model`, and tensors to tensors. Pure functions.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_MODEL_FAMILY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_MODEL_FAMILY_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/checkpoint_tools/families/family_tensor.h"

namespace trainyard::trainer {

// A key of config.json that corresponds to a Trainyard setting.
struct MappedKey {
  // A config.json value and the Trainyard value, as JSON text.
  struct Value {
    const char* theirs;
    const char* ours;
  };

  const char* key;
  const char* setting;
  // JSON text of the value used by transformers if config.json lacks the key. Empty: the key is
  // required. "null": our setting is then derived from others.
  const char* if_absent = "";
  // The supported values, if they differ between the two sides. An export uses the first match.
  std::vector<Value> values = {};
  // Value for an export if our setting is not set.
  int64_t (*if_unwritten)(const ModelConfig& model) = nullptr;
};

// A key of config.json that affects the arithmetic and for which the trainer supports only one
// value, which is also the default in transformers.
struct FixedKey {
  const char* key;
  const char* value;  // JSON text.
};

// A Trainyard setting with the same value in every model of the family.
struct FixedSetting {
  const char* setting;
  const char* value;  // JSON text.
};

// A Trainyard setting derived from others in every model of the family.
struct DerivedSetting {
  const char* setting;
  int64_t (*value)(const ModelConfig& model);
};

struct ModelFamily {
  const char* architecture;  // The only entry of `architectures`.
  const char* model_type;
  const char* prefix;  // Prefix of all names but the head's; absent if saved without the head.
  const char* head;
  const char* embedding;
  // Keys of rotary positions whose names differ between families.
  const char* rotary_base_key = "rope_theta";
  const char* rotary_part_key = "partial_rotary_factor";
  std::vector<MappedKey> mapped;
  std::vector<FixedKey> fixed;
  // Settings in none of the lists have the default of a job file.
  std::vector<FixedSetting> settings = {};
  std::vector<DerivedSetting> derived_settings = {};
  // Lists in which all entries have this value, as JSON text.
  std::vector<FixedKey> lists = {};
  // Dropout probabilities, which the trainer does not support. They do not change a logit: an
  // import accepts any value, and an export writes 0.
  std::vector<const char*> dropouts;
  // Further keys without an effect on the arithmetic.
  std::vector<const char*> without_effect = {};
  // Suffixes of tensor names that are derived from config.json and also skipped by transformers.
  std::vector<const char*> skipped_tensors = {};
  // Derives keys from other keys if they are absent or null.
  void (*complete)(nlohmann::json& config) = nullptr;
  // In the order of the forward pass.
  std::vector<FamilyTensor> (*tensors)(const ModelConfig& model);
};

// True if a key of config.json corresponds to this setting.
bool HasKeyFor(const ModelFamily& family, const std::string& setting);

// The nonzero dropouts in a config.json, such as "attn_pdrop 0.1, embd_pdrop 0.1"; "" if none.
std::string DropoutsOf(const nlohmann::json& config, const ModelFamily& family);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_MODEL_FAMILY_H_
