// Compares the tensors that are there with those that a model has. Pure.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_TENSOR_CHECK_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_TENSOR_CHECK_H_

#include <map>
#include <string>
#include <vector>

#include "trainer/checkpoint/box.h"
#include "trainer/checkpoint_tools/model_family.h"

namespace trainyard::trainer {

// Names the tensors that are missing, that no such model has, and that have another shape: a few of
// each, and the number of further ones. Empty when all is as it should be. `there`: shapes by name.
std::string TensorFaults(const std::vector<TensorShape>& expected,
                         const std::map<std::string, Extents>& there);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_TENSOR_CHECK_H_
