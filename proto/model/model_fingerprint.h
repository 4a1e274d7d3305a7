// Text in a checkpoint that identifies the model of its tensors.
#ifndef TRAINYARD_PROTO_MODEL_MODEL_FINGERPRINT_H_
#define TRAINYARD_PROTO_MODEL_MODEL_FINGERPRINT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "proto/contract/model_config.h"

namespace trainyard {

// The settings that define the model's tensors and arithmetic, as in section `model` of a job file.
// Excludes the initial spread of the weights, which does not matter once they exist, and the
// balancing of the experts' load, which only training uses.
nlohmann::json ModelShape(const ModelConfig& model);

// The shape as JSON text.
std::string ModelFingerprint(const ModelConfig& model);

// Differences of two shapes, such as "model.vocab_size is 100 here and 200 there", separated by
// commas; empty if they are equal.
std::string ModelDifferences(const nlohmann::json& here, const nlohmann::json& there);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MODEL_MODEL_FINGERPRINT_H_
