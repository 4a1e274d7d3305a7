// Tensors of which every tensor-parallel rank has a full copy, such as the vectors of norms, the
// matrices of routers, and biases that are added after a sum over ranks.
#ifndef TRAINYARD_TRAINER_MODEL_PARAMETERS_REPLICATED_TENSOR_H_
#define TRAINYARD_TRAINER_MODEL_PARAMETERS_REPLICATED_TENSOR_H_

#include <cstdint>
#include <string>
#include <utility>

#include "trainer/model/parallel/tensor_parallel.h"
#include "trainer/model/parameters/parameter_layout.h"

namespace trainyard::trainer {

// Marks a slice of which every tensor-parallel rank has a copy. If ranks have only a part of the
// rows (sequence parallelism), each rank computes only the corresponding part of the gradient.
inline LogicalTensorSlice Replicated(LogicalTensorSlice slice, const TensorParallel& tensor) {
  slice.is_first_holder = tensor.index() == 0;
  slice.has_partial_gradient = tensor.splits_rows();
  return slice;
}

inline ParameterDeclaration DeclareReplicatedVector(const std::string& name, int64_t width,
                                                    double initial_value,
                                                    const TensorParallel& tensor) {
  return {{Replicated(LogicalVector(name, width, initial_value), tensor)}, /*decays=*/false};
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARAMETERS_REPLICATED_TENSOR_H_
