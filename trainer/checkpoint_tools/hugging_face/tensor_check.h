// Compares the tensors of a directory with those that a model needs. Pure function.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_TENSOR_CHECK_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_TENSOR_CHECK_H_

#include <map>
#include <string>
#include <vector>

#include "trainer/checkpoint/box.h"
#include "trainer/checkpoint_tools/families/family_tensor.h"

namespace trainyard::trainer {

// Returns a message that names missing tensors, tensors that are not in the model, and tensors with
// the wrong shape. The message names a few tensors of each kind and counts the others. Returns ""
// if all tensors match. `there` contains the existing shapes by name.
std::string TensorFaults(const std::vector<TensorShape>& expected,
                         const std::map<std::string, Extents>& there);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_TENSOR_CHECK_H_
