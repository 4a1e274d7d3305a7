// Compares the existing tensors with those of a model. Pure function.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_TENSOR_CHECK_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_TENSOR_CHECK_H_

#include <map>
#include <string>
#include <vector>

#include "trainer/checkpoint/box.h"
#include "trainer/checkpoint_tools/families/family_tensor.h"

namespace trainyard::trainer {

// Names missing tensors, tensors that are not in the model, and tensors with the wrong shape: a few
// of each, and the number of others. Returns "" if all match. there: existing shapes by name.
std::string TensorFaults(const std::vector<TensorShape>& expected,
                         const std::map<std::string, Extents>& there);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_TENSOR_CHECK_H_
