// One module of multi-token prediction (DeepSeek-V3, arXiv 2412.19437, section 2.2). Predicts one
// token further ahead than the preceding module or, for the first module, the model.
#ifndef TRAINYARD_TRAINER_MODEL_MTP_MODULE_H_
#define TRAINYARD_TRAINER_MODEL_MTP_MODULE_H_

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/model/block.h"
#include "trainer/model/layers/embedding.h"
#include "trainer/model/layers/norm.h"
#include "trainer/model/parallel/tensor_parallel.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/model/parameters/weight_gradients.h"
#include "trainer/model/pass/micro_batch.h"

namespace trainyard::trainer {

// Computes y = norm(block(projection [norm_e(embedding); norm_h(h)])). h and y are normalized
// hidden states, from which the head computes logits. Uses the model's embedding. The parameters
// have the names of DeepSeek-V3 on Hugging Face. Every tensor-parallel rank has the whole
// projection, because each rank multiplies its own rows.
class MtpModule {
 public:
  // Declares all parameters except those of the block. `layer` is the number of the block, counted
  // from the first layer of the model.
  static std::vector<ParameterDeclaration> Declare(const ModelConfig& model, int64_t layer,
                                                   const TensorParallel& tensor);

  // `first_parameter` is the index of the first declared parameter. The store must outlive this
  // object.
  MtpModule(const ModelConfig& model, const ParameterStore& store, int64_t first_parameter,
            Block block);

  // The state that a pass keeps from its forward half to its backward half.
  struct Kept {
    MicroBatch micro_batch;  // With the module's inputs and targets, and an empty stash.
    torch::Tensor h;
    torch::Tensor embedding;
    torch::Tensor joined;  // The input of the projection, [rows, 2 * hidden].
    torch::Tensor result;  // The output of the block.
    torch::Tensor y;
    // Statistics of the norms.
    torch::Tensor embedding_statistics = {};
    torch::Tensor h_statistics = {};
    torch::Tensor result_statistics = {};
  };

  // Sets kept.y. `h` is [RowsHere(rows), hidden].
  void Forward(const torch::Tensor& h, const Embedding& embedding, Kept& kept) const;

  // Returns the gradient of h, given dy, the gradient of y. The result may be in the memory of dy.
  torch::Tensor Backward(torch::Tensor dy, const Embedding& embedding, Kept& kept,
                         WeightGradients& gradients) const;

 private:
  const ParameterStore& store_;
  int64_t projection_;
  Norm embedding_norm_;
  Norm hidden_norm_;
  Norm final_norm_;
  Block block_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_MTP_MODULE_H_
