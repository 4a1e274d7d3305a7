// Initial weights as a pure function of (seed, logical name, element), so that every layout, world
// size and slice starts with the same model.
#ifndef TRAINYARD_TRAINER_MODEL_INITIALISATION_H_
#define TRAINYARD_TRAINER_MODEL_INITIALISATION_H_

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "trainer/model/parameter_layout.h"

namespace trainyard::trainer {

// Returns the slice's initial values as an fp32 CPU tensor of its shape. Time and memory are
// proportional to the slice, not the whole tensor.
torch::Tensor InitialValues(uint64_t seed, const LogicalTensorSlice& slice);

// Element `index` of an endless sequence of standard normal numbers.
float StandardNormal(uint64_t key, int64_t index);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_INITIALISATION_H_
