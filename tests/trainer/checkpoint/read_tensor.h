// Reads tensors of a checkpoint as CPU tensors of the stored type.
#ifndef TRAINYARD_TESTS_TRAINER_CHECKPOINT_READ_TENSOR_H_
#define TRAINYARD_TESTS_TRAINER_CHECKPOINT_READ_TENSOR_H_

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "trainer/checkpoint/checkpoint_reader.h"

namespace trainyard::trainer {

// Returns the logical tensor. If the checkpoint has no tensor with this name, the result has no
// type and no shape, and ReadBoxes reports the error.
inline LogicalTensor TensorIn(const CheckpointReader& reader, const std::string& name) {
  const auto found = reader.tensors().find(name);
  return found == reader.tensors().end() ? LogicalTensor{} : found->second;
}

// Reads the box of the tensor with size `shape` at position `offset`.
inline torch::Tensor ReadBox(const CheckpointReader& reader, const std::string& name,
                             const std::vector<int64_t>& offset,
                             const std::vector<int64_t>& shape) {
  torch::Tensor result = torch::empty(shape, TensorIn(reader, name).dtype);
  const torch::Tensor flat = result.view({-1});
  reader.ReadBoxes(
      {{name, offset, shape,
        [&flat](const ElementRows& elements) {
          elements.PlacesIn(flat.narrow(0, elements.first, elements.span())).copy_(elements.rows);
        }}},
      torch::kCPU);
  return result;
}

inline torch::Tensor ReadWhole(const CheckpointReader& reader, const std::string& name) {
  const std::vector<int64_t> shape = TensorIn(reader, name).shape;
  return ReadBox(reader, name, std::vector<int64_t>(shape.size(), 0), shape);
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_CHECKPOINT_READ_TENSOR_H_
