// Text by which a checkpoint names the model that its tensors belong to.
#ifndef TRAINYARD_TRAINER_CONFIG_MODEL_FINGERPRINT_H_
#define TRAINYARD_TRAINER_CONFIG_MODEL_FINGERPRINT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "proto/contract/run_config.h"

namespace trainyard::trainer {

// The settings that define the model's tensors and arithmetic, as in the section `model` of a job
// file. Without the initial spread of the weights, which does not matter once they are there.
nlohmann::json ModelShape(const ModelConfig& model);

// The shape as JSON text.
std::string ModelFingerprint(const ModelConfig& model);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CONFIG_MODEL_FINGERPRINT_H_
