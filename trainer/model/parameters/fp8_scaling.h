// Scales of the tensors that are cast to FP8 in a step: inputs of products and gradients of their
// outputs.
#ifndef TRAINYARD_TRAINER_MODEL_PARAMETERS_FP8_SCALING_H_
#define TRAINYARD_TRAINER_MODEL_PARAMETERS_FP8_SCALING_H_

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "proto/contract/train_config.h"
#include "proto/model/model_size.h"
#include "proto/rules/fp8_products.h"
#include "trainer/ops/fp8/fp8.h"
#include "trainer/parallel/communicator.h"

namespace trainyard::trainer {

struct Fp8Options {
  Fp8Recipe recipe = Fp8Recipe::kNone;
  int64_t history_length = 1;  // Used by the delayed recipe.
  Fp8AmaxAlgorithm algorithm = Fp8AmaxAlgorithm::kMostRecent;
  Fp8Matrices dense = {};         // The matrices of blocks without experts that use FP8.
  Fp8Matrices expert = {};        // As `dense`, for blocks with experts.
  Communicator* world = nullptr;  // All ranks; null: one rank. Must outlive the model.
};

// Inputs use E4M3 and gradients use E5M2.
enum class Fp8Role : int64_t { kInput, kGradient };
inline constexpr int64_t kFp8Roles = 2;

// Returns the number of the matrix in the whole model. The numbers do not depend on the layout.
inline int64_t Fp8MatrixNumber(int64_t layer, BlockMatrix matrix) {
  return layer * kBlockMatrices + static_cast<int64_t>(matrix);
}

// Returns whether the products with each matrix of a layer use FP8.
const Fp8Matrices& Fp8MatricesIn(int64_t layer, const ModelConfig& model,
                                 const Fp8Options& options);

// Replaces each element, none of which is negative, by the largest one over the members. NaN counts
// as the largest: in this order of the bits it is above infinity. Maxima of fp32 numbers would drop
// it.
void MaxOverMembers(Communicator& group, const torch::Tensor& amax);

// Chooses one scale per tensor. The state covers the matrices of the whole model and is equal on
// all ranks after each step, so that ranks exchange vectors of equal lengths in every layout.
//
// Current recipe: the scale follows from the largest value of the tensor itself, over all ranks
// that have parts of the tensor. There is no state.
//
// Delayed recipe: the scale follows from the largest values of earlier steps, which are in the
// history, and changes only between steps. While the history is empty, which is so before the end
// of the first step, the current recipe applies. The rule is that of NVIDIA's TransformerEngine,
// with two differences: its first scale is 1, and its history can contain values that are not
// finite, which prevent later changes of the scale.
//
// Not thread-safe.
class Fp8Scaling {
 public:
  Fp8Scaling(const Fp8Options& options, const ModelConfig& model, torch::Device device);

  // Forgets the largest values that were recorded since the end of the previous step.
  void BeginStep();
  // Collective. Determines the largest values over all ranks, with one operation.
  void ShareAmax();
  // Ends a step, after ShareAmax: adds its largest values to the history and updates the scales.
  // Tensors that did not occur in the step, or whose largest value is not finite, change nothing.
  // is_finite: a scalar on the device; if it is 0, the step changes nothing.
  void EndStep(const torch::Tensor& is_finite);

  // Names the ranks that have other parts of a tensor, and the use of the tensor.
  struct TensorUse {
    int64_t matrix = 0;
    Fp8Role role = Fp8Role::kInput;
    std::vector<Communicator*> holders;
    bool records = true;  // False: leaves the state unchanged.
  };
  // Returns the scale for this rank's part of a tensor. Collective over the holders unless the
  // scale is known.
  Fp8Scale ScaleOf(const torch::Tensor& part, const TensorUse& use) const;

  // fp32 [matrices, roles, length]: the largest values of the latest steps, newest first. 0: none.
  // Undefined without the delayed recipe.
  const torch::Tensor& history() const { return history_; }
  // The history of one matrix, fp32 [roles, length], and the name of the matrix.
  struct MatrixHistory {
    std::string name;
    torch::Tensor values;
  };
  // Returns the histories of all matrices of the model that use FP8. Empty without the delayed
  // recipe. The scales are not state of their own, because they follow from the history.
  const std::vector<MatrixHistory>& Histories() const { return histories_; }
  // Must be called after the history was loaded: computes the scales from it. Waits for the device.
  void Resume();
  // True if the next step uses scales from the history.
  bool has_history() const { return has_history_; }

 private:
  void UpdateScales();
  bool IsDelayed() const { return history_.defined(); }

  Fp8AmaxAlgorithm algorithm_;
  Communicator* world_;
  std::vector<MatrixHistory> histories_;  // Views of history_.
  bool has_history_ = false;
  torch::Tensor history_;
  torch::Tensor amax_;   // fp32 [roles, matrices]: the largest values of the present step.
  torch::Tensor scale_;  // fp32 [roles, matrices].
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_PARAMETERS_FP8_SCALING_H_
