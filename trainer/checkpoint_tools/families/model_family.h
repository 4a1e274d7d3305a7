// Describes a Hugging Face model family: maps keys of config.json to settings in the section
// `model` of a job file, and Hugging Face tensors to Trainyard tensors. Pure functions.
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
  // The value that transformers uses if config.json lacks the key, as JSON text. Empty: the key is
  // required. "null": the Trainyard setting is then derived from other settings.
  const char* if_absent = "";
  // The supported values, if config.json and Trainyard write them differently. An export uses the
  // first value that matches.
  std::vector<Value> values = {};
  // Returns the value that an export writes if the Trainyard setting is not set.
  int64_t (*if_unwritten)(const ModelConfig& model) = nullptr;
};

// A key of config.json that affects the arithmetic and for which the trainer supports only one
// value. That value is also the default in transformers.
struct FixedKey {
  const char* key;
  const char* value;  // JSON text.
};

// A Trainyard setting that has the same value in all models of the family.
struct FixedSetting {
  const char* setting;
  const char* value;  // JSON text.
};

// A Trainyard setting that is derived from other settings in all models of the family.
struct DerivedSetting {
  const char* setting;
  int64_t (*value)(const ModelConfig& model);
};

struct ModelFamily {
  const char* architecture;  // The only entry of `architectures`.
  const char* model_type;
  const char* prefix;  // Prefix of all names but the head's; omitted in files without a head.
  const char* head;
  const char* embedding;
  // Keys for rotary positions. Their names differ between families.
  const char* rotary_base_key = "rope_theta";
  const char* rotary_part_key = "partial_rotary_factor";
  std::vector<MappedKey> mapped;
  std::vector<FixedKey> fixed;
  // Settings that are in none of the lists always have the default value of a job file.
  std::vector<FixedSetting> settings = {};
  std::vector<DerivedSetting> derived_settings = {};
  // Keys that an export omits. The value, or each entry of the value if it is a list, must be this
  // one, given as JSON text.
  std::vector<FixedKey> lists = {};
  // Keys of dropout probabilities, which the trainer does not support. They do not affect the
  // logits, so an import accepts any value. An export writes 0.
  std::vector<const char*> dropouts;
  // Other keys that do not affect the arithmetic.
  std::vector<const char*> without_effect = {};
  // Suffixes of the names of tensors that are derived from config.json. transformers skips these
  // tensors too.
  std::vector<const char*> skipped_tensors = {};
  // An import ignores the tensors of layers after the last, such as modules that predict further
  // tokens.
  bool skips_later_layers = false;
  // Derives keys from other keys if they are absent or null.
  void (*complete)(nlohmann::json& config) = nullptr;
  // The inverse of `complete`, for an export. Throws TrainerError kBadConfig if config.json cannot
  // express the model.
  void (*finish)(nlohmann::json& config) = nullptr;
  // Returns the tensors in the order of the forward pass.
  std::vector<FamilyTensor> (*tensors)(const ModelConfig& model);
};

// True if some key of config.json corresponds to this setting.
bool HasKeyFor(const ModelFamily& family, const std::string& setting);

// Returns the nonzero dropouts in a config.json, such as "attn_pdrop 0.1, embd_pdrop 0.1"; "" if
// there are none.
std::string DropoutsOf(const nlohmann::json& config, const ModelFamily& family);

// Returns the keys of a config.json that only this family has and that have no effect, such as
// "is_llama_config, pretraining_tp"; "" if there are none.
std::string KeysWithoutEffect(const nlohmann::json& config, const ModelFamily& family);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FAMILIES_MODEL_FAMILY_H_
