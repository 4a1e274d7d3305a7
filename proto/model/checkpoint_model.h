// Reads the model of a published checkpoint without reading its tensors.
#ifndef TRAINYARD_PROTO_MODEL_CHECKPOINT_MODEL_H_
#define TRAINYARD_PROTO_MODEL_CHECKPOINT_MODEL_H_

#include <string>

#include "proto/contract/model_config.h"

namespace trainyard {

// The result of comparing a model with a checkpoint. At most one member is set.
struct CheckpointFit {
  std::string problem;    // Why the model does not fit, with the differences.
  std::string unchecked;  // Why no comparison is possible on this machine.
};

// Compares `model`, which must be resolved, with the manifest in `directory`. Reads at most the
// first 64 MiB of the manifest and does not verify the checksum.
CheckpointFit CheckCheckpointModel(const std::string& directory, const ModelConfig& model);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MODEL_CHECKPOINT_MODEL_H_
