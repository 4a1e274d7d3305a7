// Flat pieces of a rank's model and optimizer.
#ifndef TRAINYARD_TRAINER_HEALING_STATE_PARTS_H_
#define TRAINYARD_TRAINER_HEALING_STATE_PARTS_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "trainer/model/parameter_store.h"
#include "trainer/optimizer/adamw.h"

namespace trainyard::trainer {

// Views of the state stored by the rank with this part (StoreParts::stored): for each group in turn
// weights, low bits if any, first and second moments. This rank must keep it too.
std::vector<torch::Tensor> StoredPieces(const ParameterStore& store, AdamW& optimizer,
                                        int64_t part);

int64_t BytesOf(const std::vector<torch::Tensor>& tensors);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_HEALING_STATE_PARTS_H_
