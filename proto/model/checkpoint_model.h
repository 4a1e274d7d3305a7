// Reads the model of a published checkpoint without reading its tensors.
#ifndef TRAINYARD_PROTO_MODEL_CHECKPOINT_MODEL_H_
#define TRAINYARD_PROTO_MODEL_CHECKPOINT_MODEL_H_

#include <string>

#include "proto/contract/model_config.h"

namespace trainyard {

// The result of checking a checkpoint on this machine. At most one member is set.
struct CheckpointFit {
  std::string problem;    // Why the model cannot start from it, with the differences.
  std::string unchecked;  // Why this cannot be determined on this machine.
};

// Compares the model with the manifest in `directory`. Reads at most the first 64 MiB of the
// manifest and does not verify it. `model` must be resolved.
CheckpointFit CheckCheckpointModel(const std::string& directory, const ModelConfig& model);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MODEL_CHECKPOINT_MODEL_H_
