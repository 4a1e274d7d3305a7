// The flat tensors (pieces) that make up the state of a rank's model and optimizer.
#ifndef TRAINYARD_TRAINER_HEALING_STATE_PARTS_H_
#define TRAINYARD_TRAINER_HEALING_STATE_PARTS_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "trainer/model/parameters/parameter_store.h"
#include "trainer/optimizer/adamw.h"

namespace trainyard::trainer {

// Returns views of the state that the rank with these parts stores (KeptParts::stored). The views
// contain, for each group in turn, the weights, the low bits if there are any, and the first and
// second moments. The bias of the experts follows if it is defined; this bias is equal on every
// rank. Precondition: this rank stores that state, too.
std::vector<torch::Tensor> StoredPieces(const ParameterStore& store, AdamW& optimizer,
                                        const std::vector<torch::Tensor>& on_every_rank,
                                        const PerKind<int64_t>& part);

int64_t BytesOf(const std::vector<torch::Tensor>& tensors);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_STATE_PARTS_H_
