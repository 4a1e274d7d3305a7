// Vectors of which every tensor-parallel rank has a full copy: those of norms, and biases that are
// added after a sum over ranks.
#ifndef TRAINYARD_TRAINER_MODEL_REPLICATED_VECTOR_H_
#define TRAINYARD_TRAINER_MODEL_REPLICATED_VECTOR_H_

#include <cstdint>
#include <string>
#include <utility>

#include "trainer/model/parameter_layout.h"
#include "trainer/model/tensor_parallel.h"

namespace trainyard::trainer {

// If ranks have only a part of the rows (sequence parallelism), each rank computes only the
// corresponding part of the gradient.
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
