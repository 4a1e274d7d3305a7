// Vectors replicated on every tensor-parallel rank: norms, and biases added after a sum over ranks.
#ifndef TRAINYARD_TRAINER_MODEL_REPLICATED_VECTOR_H_
#define TRAINYARD_TRAINER_MODEL_REPLICATED_VECTOR_H_

#include <cstdint>
#include <string>
#include <utility>

#include "trainer/model/parameter_layout.h"
#include "trainer/model/tensor_parallel.h"

namespace trainyard::trainer {

// A rank with part of the rows has the same part of the gradient.
inline ParameterDeclaration DeclareReplicatedVector(const std::string& name, int64_t width,
                                                    double initial_value,
                                                    const TensorParallel& tensor) {
  LogicalTensorSlice vector = LogicalVector(name, width, initial_value);
  vector.is_first_holder = tensor.index() == 0;
  vector.has_partial_gradient = tensor.splits_rows();
  return {{std::move(vector)}, /*decays=*/false};
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_REPLICATED_VECTOR_H_
