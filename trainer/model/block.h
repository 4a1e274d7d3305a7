// One transformer block. The sequential form computes y = x + attention(norm1(x)) and returns y +
// mlp(norm2(y)). The parallel form returns x + attention(norm1(x)) + mlp(norm2(x)) (GPT-NeoX, Black
// et al. 2022, arXiv 2204.06745).
#ifndef TRAINYARD_TRAINER_MODEL_BLOCK_H_
#define TRAINYARD_TRAINER_MODEL_BLOCK_H_

#include <torch/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "proto/contract/layout_config.h"
#include "proto/contract/model_config.h"
#include "proto/rules/fp8_products.h"
#include "trainer/model/attention/attention.h"
#include "trainer/model/layers/norm.h"
#include "trainer/model/layers/residual_branch.h"
#include "trainer/model/parallel/model_parallel.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/model/parameters/weight_gradients.h"
#include "trainer/model/pass/micro_batch.h"

namespace trainyard::trainer {

// The place of a block in the model and in the parameter store.
struct BlockPlace {
  int64_t layer = 0;            // Counted from 0 over the whole model.
  int64_t first_parameter = 0;  // Index in the store of the block's first parameter.
};

// Indices of a block's parameter groups.
struct BlockGroups {
  int64_t dense = -1;
  int64_t experts = -1;  // -1 if the block has no experts.
};

struct BlockOptions {
  Recompute recompute = Recompute::kNone;
  Reproducible reproducible = Reproducible::kYes;
  AttentionKernel attention = AttentionKernel::kAuto;
};

// Either keeps all activations for the backward pass or recomputes some of them. kSelective
// recomputes the norms, the activation function (Korthikanti et al. 2022, arXiv 2205.05198) and the
// heads of latent attention. kFull recomputes the whole block (Chen et al. 2016, arXiv 1604.06174).
// The results have the same bits in all cases. The choice of experts is always kept, because a
// second choice could differ.
class Block {
 public:
  // The name of the group of a layer's experts is the name of the layer's group plus this suffix.
  static constexpr char kExpertGroupSuffix[] = " experts";

  // Declares the parameters of one layer: first the group of its experts, if it has experts, then
  // the group of all other parameters. `layer` is counted from 0 over the whole model.
  static std::vector<GroupDeclaration> Declare(const ModelConfig& model, int64_t layer,
                                               const ModelParallel& parallel);

  // Returns the parameters of the matrices, indexed by BlockMatrix; -1 if the block has no such
  // matrix.
  static std::array<int64_t, kBlockMatrices> MatricesOf(const BlockPlace& place,
                                                        const ModelConfig& model);

  // The store must outlive this object.
  Block(const ModelConfig& model, const ParameterStore& store, const BlockPlace& place,
        const BlockOptions& options, const ModelParallel& parallel = {});

  // x is [RowsHere(rows), hidden]. The result has the same shape.
  torch::Tensor Forward(const torch::Tensor& x, MicroBatch& micro_batch) const;

  // Returns the gradient of x.
  torch::Tensor Backward(const torch::Tensor& dy, MicroBatch& micro_batch,
                         WeightGradients& gradients) const;

 private:
  // A norm and the branch that follows it.
  struct Half {
    Norm norm;
    const ResidualBranch& branch;
  };

  torch::Tensor ForwardKeeping(const torch::Tensor& x, MicroBatch& micro_batch) const;
  torch::Tensor BackwardOfKept(const torch::Tensor& dy, MicroBatch& micro_batch,
                               WeightGradients& gradients) const;
  // Returns residual + branch(norm(x)).
  torch::Tensor ForwardHalf(const Half& half, const torch::Tensor& x, const torch::Tensor& residual,
                            MicroBatch& micro_batch) const;
  // Returns residual_gradient + the gradient of x.
  torch::Tensor BackwardHalf(const Half& half, const torch::Tensor& dy,
                             const torch::Tensor& residual_gradient, MicroBatch& micro_batch,
                             WeightGradients& gradients) const;

  Recompute recompute_;
  bool parallel_residual_;
  bool has_experts_;
  std::unique_ptr<ResidualBranch> attention_;
  std::unique_ptr<ResidualBranch> feed_forward_;
  Norm input_norm_;
  Norm ffn_norm_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_BLOCK_H_
