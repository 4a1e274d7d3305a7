// Text by which a checkpoint names the model that its tensors belong to.
#ifndef TRAINYARD_PROTO_MODEL_MODEL_FINGERPRINT_H_
#define TRAINYARD_PROTO_MODEL_MODEL_FINGERPRINT_H_

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "proto/contract/run_config.h"

namespace trainyard {

// The settings that define the model's tensors and arithmetic, as in the section `model` of a job
// file. Without the initial spread of the weights, which does not matter once they are there.
nlohmann::json ModelShape(const ModelConfig& model);

// The shape as JSON text.
std::string ModelFingerprint(const ModelConfig& model);

// "model.vocab_size is 100 here and 200 there" of two shapes, one difference after the other; empty
// where they are equal.
std::string ModelDifferences(const nlohmann::json& here, const nlohmann::json& there);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MODEL_MODEL_FINGERPRINT_H_
