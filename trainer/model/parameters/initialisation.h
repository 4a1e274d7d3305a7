// Initial weights as a pure function of (seed, logical name, element), so that training starts with
// the same weights in every layout and world size.
#ifndef TRAINYARD_TRAINER_MODEL_PARAMETERS_INITIALISATION_H_
#define TRAINYARD_TRAINER_MODEL_PARAMETERS_INITIALISATION_H_

#include <torch/types.h>

#include <cstdint>
#include <string>

#include "trainer/model/parameters/parameter_layout.h"

namespace trainyard::trainer {

// Returns the initial values of the slice, an fp32 tensor of the slice's shape. Time and memory are
// proportional to the size of the slice, not of the whole tensor. On a GPU, some values differ from
// those on a CPU in the last bit.
torch::Tensor InitialValues(uint64_t seed, const LogicalTensorSlice& slice,
                            torch::Device device = torch::kCPU);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARAMETERS_INITIALISATION_H_
