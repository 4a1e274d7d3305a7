// Causal self-attention whose queries, keys and values are computed from vectors of lower rank
// (multi-head latent attention, DeepSeek-V2, arXiv 2405.04434, section 2.1). Heads are divided
// among tensor-parallel ranks, and tokens among context-parallel ranks.
#ifndef TRAINYARD_TRAINER_MODEL_ATTENTION_LATENT_ATTENTION_H_
#define TRAINYARD_TRAINER_MODEL_ATTENTION_LATENT_ATTENTION_H_

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/model/attention/attention.h"
#include "trainer/model/attention/context_attention.h"
#include "trainer/model/layers/norm.h"
#include "trainer/model/layers/parallel_linear.h"
#include "trainer/model/layers/residual_branch.h"
#include "trainer/model/parallel/model_parallel.h"
#include "trainer/model/parameters/parameter_store.h"
#include "trainer/ops/attention/latent_heads.h"

namespace trainyard::trainer {

// For a row x, with q = RMSNorm(x W_qa^T) or q = x, and c = RMSNorm of the first columns of
// x W_kva^T:
//   query = [q W_qb^T: unrotated | rotated]
//   key = [c W_kvb^T: unrotated | rotated]
//   value = c W_kvb^T
// The rotated elements of all key heads are the last columns of x W_kva^T. Every tensor-parallel
// rank computes the vectors of lower rank for the rows that it has between matrix products, and
// gathers the normalized vectors, which are narrower than x.
class LatentAttention final : public ResidualBranch {
 public:
  struct Parameters {
    int64_t down = 0;            // [query rank + key-value rank + rotated, hidden], on every rank.
    LinearParameters query;      // [own heads * (unrotated + rotated), query rank or hidden]
    LinearParameters key_value;  // [own heads * (unrotated + value), key-value rank]
    LinearParameters output;     // [hidden, own heads * value]
    int64_t query_norm = -1;     // -1 if queries are computed from x.
    int64_t key_value_norm = 0;
  };

  // Declares the parameters in the order of Parameters. `prefix` precedes the block's logical
  // names.
  static std::vector<ParameterDeclaration> Declare(const ModelConfig& model,
                                                   const std::string& prefix,
                                                   const TensorParallel& tensor);
  // Assigns the parameters in the order of Declare, from `first` on.
  static Parameters NumbersFrom(int64_t first, const ModelConfig& model);

  // If `keeps_heads` is false, heads and normalized vectors are recomputed in the backward pass.
  // The store must outlive this object.
  LatentAttention(const ModelConfig& model, const ParameterStore& store,
                  const Parameters& parameters, bool keeps_heads, const AttentionCode& code,
                  const ModelParallel& parallel);

  torch::Tensor Forward(const torch::Tensor& x, const torch::Tensor& residual,
                        MicroBatch& micro_batch) const override;
  torch::Tensor Backward(const torch::Tensor& dy, const torch::Tensor& x, MicroBatch& micro_batch,
                         WeightGradients& gradients) const override;

 private:
  struct Sizes {
    int64_t heads = 0;  // On this rank.
    int64_t unrotated = 0;
    int64_t rotated = 0;
    int64_t value = 0;
    int64_t query_rank = 0;  // 0: queries are computed from x.
    int64_t key_value_rank = 0;
  };
  // A vector of lower rank for each row of x.
  struct Latent {
    torch::Tensor vector;
    torch::Tensor statistics;  // Statistics of the norm.
    torch::Tensor normal;
  };
  struct Latents {
    Latent query;  // Undefined if queries are computed from x.
    Latent key_value;
    torch::Tensor shared;  // The elements that are rotated for all key heads.
  };

  Latents Lower(const torch::Tensor& x) const;
  static Latent Normalise(const Norm& norm, torch::Tensor vector);
  LatentHeads Raise(const torch::Tensor& x, const Latents& latents,
                    const MicroBatch& micro_batch) const;
  AttentionInputs InputsOf(const LatentHeads& heads) const;

  // Pushes what Restore pops.
  void Keep(Latents latents, LatentHeads heads, MicroBatch& micro_batch) const;
  LatentHeads Restore(const torch::Tensor& x, MicroBatch& micro_batch, Latents& latents) const;

  // Returns the gradients of queries, keys and values; for rotated elements, those before rotation.
  LatentHeads HeadGradients(const torch::Tensor& dout, const ContextAttentionKept& kept,
                            const LatentHeads& heads, const MicroBatch& micro_batch) const;
  // Returns the gradient of x. `d_heads` is from HeadGradients.
  torch::Tensor BackwardOfHeads(const LatentHeads& d_heads, const torch::Tensor& x,
                                const Latents& latents, WeightGradients& gradients) const;
  // Returns the gradient of the vector before its norm.
  torch::Tensor BackwardOfLatent(const torch::Tensor& d_rows, const Latent& latent,
                                 const LinearParameters& up, const Norm& norm,
                                 WeightGradients& gradients) const;

  const bool keeps_heads_;
  const Sizes sizes_;
  const double scale_;
  const ModelConfig model_;
  const ParameterStore& store_;
  const Parameters parameters_;
  std::optional<Norm> query_norm_;
  const Norm key_value_norm_;
  const AttentionCode code_;
  const ModelParallel parallel_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MODEL_ATTENTION_LATENT_ATTENTION_H_
