// The matrices of this rank whose products use FP8.
#ifndef TRAINYARD_TRAINER_MODEL_PARAMETERS_FP8_PARAMETERS_H_
#define TRAINYARD_TRAINER_MODEL_PARAMETERS_FP8_PARAMETERS_H_

#include <torch/types.h>

#include <cstdint>
#include <map>

#include "trainer/model/parameters/fp8_scaling.h"
#include "trainer/ops/fp8/fp8.h"

namespace trainyard::trainer {

class ParameterStore;

// Keeps an FP8 copy of each matrix, in both arrangements, and the scales of all products.
//
// The scale of a weight is exact: the largest value of the weight becomes the largest number of
// E4M3. There is no history of weights, because their values are known before they are used. A copy
// is made at its first use after the weights have changed, and serves all micro-batches and
// evaluations until the next change. In ZeRO stage 3, it is freed with the values of its group.
//
// Not thread-safe.
class Fp8Parameters {
 public:
  // The store must outlive this object.
  Fp8Parameters(const Fp8Options& options, const ModelConfig& model, const ParameterStore& store);

  // Declares the number (Fp8MatrixNumber) of a parameter that uses FP8.
  void Add(int64_t parameter, int64_t matrix);

  bool Has(int64_t parameter) const { return matrices_.count(parameter) > 0; }
  int64_t MatrixOf(int64_t parameter) const { return matrices_.at(parameter).number; }

  Fp8Scaling& scaling() { return scaling_; }

  // Collective over all ranks, at the start of a pass: computes the scales of the weights if the
  // weights have changed. Uses the elements that this rank owns.
  void ScaleWeights();
  // Must be called after the weights have changed, except before the first pass.
  void OnWeightsChanged();
  // Frees the copies of a group.
  void Drop(int64_t group);

  // Returns the copy of a parameter. ScaleWeights must have been called, and the values of the
  // parameter must be available.
  const Fp8Matrix& Weight(int64_t parameter);
  // The size of all present copies.
  int64_t bytes() const;

 private:
  struct Matrix {
    int64_t number = 0;
    Fp8Matrix copy;
  };

  const ParameterStore& store_;
  Communicator* world_;
  Fp8Scaling scaling_;
  std::map<int64_t, Matrix> matrices_;  // By parameter.
  bool has_scales_ = false;             // False: the weights have changed.
  torch::Tensor amax_;                  // fp32 [matrices of the model].
  torch::Tensor scale_;                 // fp32 [matrices of the model].
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARAMETERS_FP8_PARAMETERS_H_
