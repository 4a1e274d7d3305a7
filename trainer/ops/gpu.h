// Operations implemented by CUDA kernels. Each operation has the name and contract of the function
// in this folder that calls it. The CUDA build uses the files gpu_*_cuda.cpp and gpu_cuda.cpp. The
// build without CUDA uses gpu_absent.cpp.
#ifndef TRAINYARD_TRAINER_OPS_GPU_H_
#define TRAINYARD_TRAINER_OPS_GPU_H_

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "proto/contract/model_config.h"
#include "trainer/ops/place_in_matrix.h"
#include "trainer/ops/tensors/adamw_state.h"
#include "trainer/ops/tensors/attention_form.h"
#include "trainer/ops/tensors/attention_heads.h"
#include "trainer/ops/tensors/attention_part_tensors.h"
#include "trainer/ops/tensors/balance_sequences.h"
#include "trainer/ops/tensors/capacity_form.h"
#include "trainer/ops/tensors/expert_order.h"
#include "trainer/ops/tensors/fp8_matrix.h"
#include "trainer/ops/tensors/gradient_target.h"
#include "trainer/ops/tensors/head_copy_tensors.h"
#include "trainer/ops/tensors/latent_head_tensors.h"
#include "trainer/ops/tensors/loss_targets.h"
#include "trainer/ops/tensors/norm_tensors.h"
#include "trainer/ops/tensors/rotary_table.h"
#include "trainer/ops/tensors/router_form.h"
#include "trainer/ops/tensors/row_segments.h"
#include "trainer/ops/tensors/visible_keys.h"

namespace trainyard::trainer::gpu {

// True for fp32 and bf16 tensors on a GPU. Other types on a GPU, such as the fp64 of the tests, use
// LibTorch's operations.
bool HasKernels(const torch::Tensor& tensor);

// True for bf16 tensors on a GPU. cuDNN's attention has no fp32 version.
bool HasFusedAttention(const torch::Tensor& tensor);

// The dimensions of the attention of one micro-batch.
struct AttentionBatch {
  int64_t samples = 0;
  int64_t length = 0;
  AttentionHeads heads;
  int64_t window = 0;
  bool has_documents = false;
  torch::ScalarType type = torch::kBFloat16;
  // Used if the values are in a separate tensor (latent attention): the size of a value head, and
  // the number of elements before it in each head of that tensor. 0: rows are packed.
  int64_t value_size = 0;
  int64_t value_offset = 0;
};

void RmsNormForward(const torch::Tensor& x, const torch::Tensor& weight, double epsilon,
                    torch::Tensor& y, torch::Tensor& inverse_rms);
void RmsNormBackward(const torch::Tensor& dy, const RmsNormInput& input,
                     const torch::Tensor& residual_gradient, torch::Tensor& dx,
                     const GradientTarget& weight_gradient);

void LayerNormForward(const torch::Tensor& x, const LayerNormWeights& weights, double epsilon,
                      torch::Tensor& y, torch::Tensor& statistics);
void LayerNormBackward(const torch::Tensor& dy, const LayerNormInput& input,
                       const torch::Tensor& residual_gradient, torch::Tensor& dx,
                       const LayerNormTargets& targets);

void HeadNormForward(torch::Tensor& heads, const torch::Tensor& weight, double epsilon,
                     HeadNormKept& kept);
void HeadNormBackward(torch::Tensor& d_heads, const torch::Tensor& weight, const HeadNormKept& kept,
                      const GradientTarget& weight_gradient);

void Rotate(torch::Tensor& packed, const RotaryTable& table, const AttentionHeads& heads,
            Rotation rotation);

// Heads must have a multiple of 16 bytes, and so must all strides and addresses.
void CopyHeads(const std::vector<HeadCopy>& copies);

void JoinLatentHeads(LatentHeads& heads, const RotaryTable& table);
void SplitLatentHeads(LatentHeads& gradients, const RotaryTable& table);

// Creates the plans of fused attention for micro-batches of this shape. Returns "" on success, or
// cuDNN's reason if it has no plan.
std::string PrepareAttention(const AttentionBatch& batch, Reproducible reproducible);
// AttentionBackward has no `limits` argument, because `kept` contains the limits.
torch::Tensor AttentionForward(const torch::Tensor& packed, const AttentionHeads& heads,
                               torch::Tensor& out, const AttentionLimits& limits);
void AttentionBackward(const torch::Tensor& dout, const AttentionKept& kept,
                       const AttentionHeads& heads, Reproducible reproducible,
                       torch::Tensor& d_packed);

// FlashAttention* and EfficientAttention* run LibTorch's kernels.
torch::Tensor FlashAttentionForward(const torch::Tensor& packed, const AttentionHeads& heads,
                                    torch::Tensor& out, int64_t window);
void FlashAttentionBackward(const torch::Tensor& dout, const AttentionKept& kept,
                            const AttentionHeads& heads, torch::Tensor& d_packed);
torch::Tensor EfficientAttentionForward(const torch::Tensor& packed, const AttentionHeads& heads,
                                        torch::Tensor& out);
void EfficientAttentionBackward(const torch::Tensor& dout, const AttentionKept& kept,
                                const AttentionHeads& heads, torch::Tensor& d_packed);

torch::Tensor AttentionPartForward(const AttentionPart& part, torch::Tensor& out);
void AttentionPartBackward(const AttentionPart& part, const WholeAttention& whole,
                           Reproducible reproducible, const AttentionPartGradients& gradients);
void MergeAttention(torch::Tensor& out_sum, torch::Tensor& log_sum_exp,
                    const torch::Tensor& part_out, const torch::Tensor& part_log_sum_exp);

void ActivationForward(Activation kind, const torch::Tensor& packed, torch::Tensor& out);
void ActivationBackward(Activation kind, const torch::Tensor& dout, const torch::Tensor& packed,
                        torch::Tensor& d_packed, torch::Tensor& out);
void SwiGluForward(const torch::Tensor& packed, torch::Tensor& out);
void SwiGluBackward(const torch::Tensor& dout, const torch::Tensor& packed, torch::Tensor& d_packed,
                    torch::Tensor& out);

void ScaledSwiGluForward(const torch::Tensor& packed, const torch::Tensor& scales,
                         torch::Tensor& out);
// Returns the gradient of the scales.
torch::Tensor ScaledSwiGluBackward(const torch::Tensor& dout, const torch::Tensor& packed,
                                   const torch::Tensor& scales, torch::Tensor& d_packed,
                                   torch::Tensor& out);

torch::Tensor RouterScores(const torch::Tensor& logits, const RouterForm& form);
torch::Tensor ChooseExperts(const torch::Tensor& scores, const torch::Tensor& bias,
                            const RouterForm& form);
torch::Tensor ExpertWeights(const torch::Tensor& scores, const torch::Tensor& experts,
                            const RouterForm& form);
torch::Tensor RouterLogitGradient(const torch::Tensor& d_weights, const torch::Tensor& scores,
                                  const torch::Tensor& experts, const RouterForm& form);
// Returns how many rows of each sequence have each of `count` experts, int64 [sequences, count].
// Negative numbers are not counted.
torch::Tensor CountRows(const torch::Tensor& experts, int64_t count,
                        const BalanceSequences& sequences);
// The gradient of the normalized scores is counts * factor.
void AddBalanceGradient(const torch::Tensor& scores, const RouterForm& form,
                        const torch::Tensor& counts, const BalanceSequences& sequences,
                        double factor, torch::Tensor& d_logits);
// Adds factor * softmax(logits) * log-sum-exp(logits).
void AddZLossGradient(const torch::Tensor& logits, double factor, torch::Tensor& d_logits);

ExpertOrder SortByExpert(const torch::Tensor& experts);
void GatherRows(const torch::Tensor& x, const ExpertOrder& order, torch::Tensor& sorted);
void SumSlots(const torch::Tensor& sorted, const ExpertOrder& order, const torch::Tensor& residual,
              torch::Tensor& y);

torch::Tensor GroupedLinearForward(const torch::Tensor& x, const torch::Tensor& weight,
                                   const RowSegments& segments);
torch::Tensor GroupedLinearInputGradient(const torch::Tensor& dy, const torch::Tensor& weight,
                                         const RowSegments& segments);
// LinearWeightGradient for fp32 dy and x of a 16-bit type.
void WideWeightGradient(const torch::Tensor& dy, const torch::Tensor& x,
                        const GradientTarget& target);
// LinearWeightGradient for the rows of one expert. The number of rows changes from call to call.
void SegmentWeightGradient(const torch::Tensor& dy, const torch::Tensor& x,
                           const GradientTarget& target);
torch::Tensor WideLinearForward(const torch::Tensor& x, const torch::Tensor& weight);
void AddWideLinearInputGradient(const torch::Tensor& dy, const torch::Tensor& weight,
                                torch::Tensor& dx);

void LinearForward(const torch::Tensor& x, const torch::Tensor& weight, torch::Tensor& y,
                   const torch::Tensor& bias);
void LinearForwardWithResidual(const torch::Tensor& x, const torch::Tensor& weight,
                               const torch::Tensor& residual, torch::Tensor& y,
                               const torch::Tensor& bias);
void LinearInputGradient(const torch::Tensor& dy, const torch::Tensor& weight, torch::Tensor& dx);
void LinearForwardWithGelu(const torch::Tensor& x, const torch::Tensor& weight,
                           const torch::Tensor& bias, torch::Tensor& y, torch::Tensor& gelu);
void LinearInputGradientWithGelu(const torch::Tensor& dy, const torch::Tensor& weight,
                                 const torch::Tensor& y, torch::Tensor& d_y);
void LinearWeightGradient(const torch::Tensor& dy, const torch::Tensor& x,
                          const GradientTarget& target);
void AddBias(const torch::Tensor& bias, torch::Tensor& y);
void BiasGradient(const torch::Tensor& dy, const GradientTarget& target);
void SumParts(const std::vector<torch::Tensor>& parts, const torch::Tensor& residual,
              torch::Tensor& sum);

void RaiseAmax(const torch::Tensor& x, const torch::Tensor& amax);
void UpdateFp8Scale(const torch::Tensor& amax, Fp8Format format, const torch::Tensor& scale);
Fp8Matrix SwiGluForwardToFp8(const torch::Tensor& packed, const Fp8Scale& scale,
                             Fp8Arrangement arrangement);
Fp8Matrix SwiGluBackwardToFp8(const torch::Tensor& dout, const torch::Tensor& packed,
                              const Fp8Scale& scale);
Fp8Matrix ToFp8(const torch::Tensor& x, Fp8Format format, const Fp8Scale& scale,
                Fp8Arrangement arrangement);
void Fp8LinearForward(const Fp8Matrix& x, const Fp8Matrix& weight, torch::Tensor& y);
void Fp8LinearInputGradient(const Fp8Matrix& dy, const Fp8Matrix& weight, torch::Tensor& dx);
void Fp8LinearWeightGradient(const Fp8Matrix& dy, const Fp8Matrix& x, const GradientTarget& target);

void EmbeddingForward(const torch::Tensor& table, const torch::Tensor& tokens, int64_t first_token,
                      torch::Tensor& out);
void AddEmbedding(const torch::Tensor& table, const torch::Tensor& tokens, torch::Tensor& x);
// Adds the embedding gradient to `gradient`.
void EmbeddingBackward(const torch::Tensor& dy, const torch::Tensor& tokens, int64_t first_token,
                       torch::Tensor& gradient);

// Weights, if defined, are fp32.
void DropAboveCapacity(const torch::Tensor& experts, const torch::Tensor& weights,
                       const CapacityForm& form, torch::Tensor& marked);

void CrossEntropy(torch::Tensor& logits, const Targets& targets, LossPass pass,
                  torch::Tensor& loss);
void CrossEntropyStatistics(const torch::Tensor& logits, const torch::Tensor& target_tokens,
                            int64_t first_token, torch::Tensor& statistics);
void CrossEntropyOfPart(torch::Tensor& logits, const Targets& targets, int64_t first_token,
                        const torch::Tensor& combined, LossPass pass, torch::Tensor& loss);

void AdamWUpdate(const AdamWState& state, const AdamWFactors& factors,
                 const torch::Tensor& step_values);
void SquaredSum(const torch::Tensor& values, torch::Tensor& sum);
void FinishNorm(const torch::Tensor& squared_norms, double max_norm, torch::Tensor& step_values);

// After this call, a matrix product whose shape is in no table is timed at its first use. The
// timing runs make the results of the backward pass wrong (kernels/gemm.h), so this function is for
// tuning only.
void TuneMatrixProducts();
// Writes the algorithms chosen for the timed matrix products, in the format of kernels/gemm_tables.
void SaveTunedMatrixProducts(const std::string& path);

void FillNormal(uint64_t key, double std, const PlaceInMatrix& place, torch::Tensor& values);

}  // namespace trainyard::trainer::gpu

#endif  // TRAINYARD_TRAINER_OPS_GPU_H_
