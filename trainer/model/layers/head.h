// The end of the model: the final norm, the vocabulary matrix, and the loss.
#ifndef TRAINYARD_TRAINER_MODEL_LAYERS_HEAD_H_
#define TRAINYARD_TRAINER_MODEL_LAYERS_HEAD_H_

#include <torch/types.h>

#include <cstdint>

#include "trainer/model/layers/norm.h"
#include "trainer/model/parallel/tensor_parallel.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/model/parameters/weight_gradients.h"
#include "trainer/ops/loss/cross_entropy.h"

namespace trainyard::trainer {

// Processes the rows in chunks of some thousand, so that only one chunk's logits are in memory. The
// gradients of a chunk are computed right after its loss (as in Liger Kernel, arXiv 2410.10989).
// The vocabulary is divided among tensor-parallel ranks, which all compute the same loss.
class Head {
 public:
  struct Parameters {
    int64_t weight = 0;  // [vocabulary on this rank, hidden]; if tied, the embedding's.
    int64_t first_token = 0;
    int64_t largest_part = 0;  // Size of the largest part; gives all ranks equal chunks.
  };

  // The store must outlive this object.
  Head(const ParameterStore& store, Norm norm, const Parameters& parameters,
       const TensorParallel& tensor)
      : store_(store), norm_(norm), parameters_(parameters), tensor_(tensor) {}

  const Norm& norm() const { return norm_; }

  // `normal` is [RowsHere(rows), hidden], the result of the norm. Adds the weighted loss of the
  // rows to `loss`, an fp64 scalar, and the gradient of the matrix to `gradients`. Returns the
  // gradient of `normal`.
  torch::Tensor LossAndGradient(const torch::Tensor& normal, const Targets& targets,
                                torch::Tensor& loss, WeightGradients& gradients) const;

  // Adds the weighted loss of the rows to `loss`, without computing gradients. x is the input of
  // the norm.
  void Loss(const torch::Tensor& x, const Targets& targets, torch::Tensor& loss) const;

  // Returns [rows, vocabulary on this rank].
  torch::Tensor Logits(const torch::Tensor& x) const;

 private:
  void AddLoss(torch::Tensor& logits, const Targets& targets, LossPass pass,
               torch::Tensor& loss) const;

  const ParameterStore& store_;
  Norm norm_;
  Parameters parameters_;
  TensorParallel tensor_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_LAYERS_HEAD_H_
