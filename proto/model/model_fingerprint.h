// Text in a checkpoint that identifies the model of its tensors.
#ifndef TRAINYARD_PROTO_MODEL_MODEL_FINGERPRINT_H_
#define TRAINYARD_PROTO_MODEL_MODEL_FINGERPRINT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "proto/contract/model_config.h"

namespace trainyard {

// Returns the settings that define the model's tensors and arithmetic, as in section `model` of a
// job file. Excludes the initial spread of the weights, which has no effect once the weights exist.
// Excludes the load balancing of the experts, which only training uses.
nlohmann::json ModelShape(const ModelConfig& model);

// Returns ModelShape as JSON text.
std::string ModelFingerprint(const ModelConfig& model);

// Returns the differences between two shapes, such as "model.vocab_size is 100 here and 200 there",
// separated by commas; empty if the shapes are equal.
std::string ModelDifferences(const nlohmann::json& here, const nlohmann::json& there);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MODEL_MODEL_FINGERPRINT_H_
