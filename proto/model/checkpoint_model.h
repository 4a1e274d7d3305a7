// The model of a published checkpoint, read without its tensors.
#ifndef TRAINYARD_PROTO_MODEL_CHECKPOINT_MODEL_H_
#define TRAINYARD_PROTO_MODEL_CHECKPOINT_MODEL_H_

#include <string>

#include "proto/contract/model_config.h"

namespace trainyard {

// Result of checking a checkpoint from this machine. At most one member is set.
struct CheckpointFit {
  std::string problem;    // Reason why the model cannot start from it, with the difference.
  std::string unchecked;  // Reason why that cannot be determined here.
};

// Compares the model with the manifest in `directory`. Reads at most its first 64 MiB and does not
// verify it. `model` is resolved.
CheckpointFit CheckCheckpointModel(const std::string& directory, const ModelConfig& model);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_MODEL_CHECKPOINT_MODEL_H_
