// Stubs for builds without CUDA. The stubs are never called, because no tensor is on a GPU.
#include "trainer/config/trainer_error.h"
#include "trainer/ops/gpu.h"

namespace trainyard::trainer::gpu {
namespace {

using torch::Tensor;

[[noreturn]] void Refuse() {
  throw TrainerError(ExitCode::kInternal, "This trainer was built without CUDA.");
}

}  // namespace

bool HasKernels(const Tensor&) { return false; }
bool HasFusedAttention(const Tensor&) { return false; }

void RmsNormForward(const Tensor&, const Tensor&, double, Tensor&, Tensor&) { Refuse(); }
void RmsNormBackward(const Tensor&, const RmsNormInput&, const Tensor&, Tensor&,
                     const GradientTarget&) {
  Refuse();
}
void LayerNormForward(const Tensor&, const LayerNormWeights&, double, Tensor&, Tensor&) {
  Refuse();
}
void LayerNormBackward(const Tensor&, const LayerNormInput&, const Tensor&, Tensor&,
                       const LayerNormTargets&) {
  Refuse();
}
void HeadNormForward(Tensor&, const Tensor&, double, HeadNormKept&) { Refuse(); }
void HeadNormBackward(Tensor&, const Tensor&, const HeadNormKept&, const GradientTarget&) {
  Refuse();
}
void Rotate(Tensor&, const RotaryTable&, const AttentionHeads&, Rotation) { Refuse(); }
void JoinLatentHeads(LatentHeads&, const RotaryTable&) { Refuse(); }
void SplitLatentHeads(LatentHeads&, const RotaryTable&) { Refuse(); }
std::string PrepareAttention(const AttentionBatch&, Reproducible) { Refuse(); }
Tensor AttentionForward(const Tensor&, const AttentionHeads&, Tensor&, const AttentionLimits&) {
  Refuse();
}
void AttentionBackward(const Tensor&, const AttentionKept&, const AttentionHeads&, Reproducible,
                       Tensor&) {
  Refuse();
}
Tensor FlashAttentionForward(const Tensor&, const AttentionHeads&, Tensor&, int64_t) { Refuse(); }
void FlashAttentionBackward(const Tensor&, const AttentionKept&, const AttentionHeads&, Tensor&) {
  Refuse();
}
Tensor EfficientAttentionForward(const Tensor&, const AttentionHeads&, Tensor&) { Refuse(); }
void EfficientAttentionBackward(const Tensor&, const AttentionKept&, const AttentionHeads&,
                                Tensor&) {
  Refuse();
}
Tensor AttentionPartForward(const AttentionPart&, Tensor&) { Refuse(); }
void AttentionPartBackward(const AttentionPart&, const WholeAttention&, Reproducible,
                           const AttentionPartGradients&) {
  Refuse();
}
void CopyHeads(const std::vector<HeadCopy>&) { Refuse(); }
void MergeAttention(Tensor&, Tensor&, const Tensor&, const Tensor&) { Refuse(); }
void ActivationForward(Activation, const Tensor&, Tensor&) { Refuse(); }
void ActivationBackward(Activation, const Tensor&, const Tensor&, Tensor&, Tensor&) { Refuse(); }
void SwiGluForward(const Tensor&, Tensor&) { Refuse(); }
void SwiGluBackward(const Tensor&, const Tensor&, Tensor&, Tensor&) { Refuse(); }
void ScaledSwiGluForward(const Tensor&, const Tensor&, Tensor&) { Refuse(); }
Tensor ScaledSwiGluBackward(const Tensor&, const Tensor&, const Tensor&, Tensor&, Tensor&) {
  Refuse();
}
Tensor RouterScores(const Tensor&, const RouterForm&) { Refuse(); }
Tensor ChooseExperts(const Tensor&, const Tensor&, const RouterForm&) { Refuse(); }
Tensor ExpertWeights(const Tensor&, const Tensor&, const RouterForm&) { Refuse(); }
Tensor RouterLogitGradient(const Tensor&, const Tensor&, const Tensor&, const RouterForm&) {
  Refuse();
}
Tensor CountRows(const Tensor&, int64_t, const BalanceSequences&) { Refuse(); }
void AddBalanceGradient(const Tensor&, const RouterForm&, const Tensor&, const BalanceSequences&,
                        double, Tensor&) {
  Refuse();
}
void AddZLossGradient(const Tensor&, double, Tensor&) { Refuse(); }
ExpertOrder SortByExpert(const Tensor&) { Refuse(); }
void GatherRows(const Tensor&, const ExpertOrder&, Tensor&) { Refuse(); }
void SumSlots(const Tensor&, const ExpertOrder&, const Tensor&, Tensor&) { Refuse(); }
Tensor GroupedLinearForward(const Tensor&, const Tensor&, const RowSegments&) { Refuse(); }
Tensor GroupedLinearInputGradient(const Tensor&, const Tensor&, const RowSegments&) { Refuse(); }
void SegmentWeightGradient(const Tensor&, const Tensor&, const GradientTarget&) { Refuse(); }
void WideWeightGradient(const Tensor&, const Tensor&, const GradientTarget&) { Refuse(); }
Tensor WideLinearForward(const Tensor&, const Tensor&) { Refuse(); }
void AddWideLinearInputGradient(const Tensor&, const Tensor&, Tensor&) { Refuse(); }
void LinearForward(const Tensor&, const Tensor&, Tensor&, const Tensor&) { Refuse(); }
void LinearForwardWithResidual(const Tensor&, const Tensor&, const Tensor&, Tensor&,
                               const Tensor&) {
  Refuse();
}
void LinearInputGradient(const Tensor&, const Tensor&, Tensor&) { Refuse(); }
void LinearForwardWithGelu(const Tensor&, const Tensor&, const Tensor&, Tensor&, Tensor&) {
  Refuse();
}
void LinearInputGradientWithGelu(const Tensor&, const Tensor&, const Tensor&, Tensor&) { Refuse(); }
void LinearWeightGradient(const Tensor&, const Tensor&, const GradientTarget&) { Refuse(); }
void AddBias(const Tensor&, Tensor&) { Refuse(); }
void BiasGradient(const Tensor&, const GradientTarget&) { Refuse(); }
void SumParts(const std::vector<Tensor>&, const Tensor&, Tensor&) { Refuse(); }
void RaiseAmax(const Tensor&, const Tensor&) { Refuse(); }
void UpdateFp8Scale(const Tensor&, Fp8Format, const Tensor&) { Refuse(); }
Fp8Matrix SwiGluForwardToFp8(const Tensor&, const Fp8Scale&, Fp8Arrangement) { Refuse(); }
Fp8Matrix SwiGluBackwardToFp8(const Tensor&, const Tensor&, const Fp8Scale&) { Refuse(); }
Fp8Matrix ToFp8(const Tensor&, Fp8Format, const Fp8Scale&, Fp8Arrangement) { Refuse(); }
void Fp8LinearForward(const Fp8Matrix&, const Fp8Matrix&, Tensor&) { Refuse(); }
void Fp8LinearInputGradient(const Fp8Matrix&, const Fp8Matrix&, Tensor&) { Refuse(); }
void Fp8LinearWeightGradient(const Fp8Matrix&, const Fp8Matrix&, const GradientTarget&) {
  Refuse();
}
void EmbeddingForward(const Tensor&, const Tensor&, int64_t, Tensor&) { Refuse(); }
void AddEmbedding(const Tensor&, const Tensor&, Tensor&) { Refuse(); }
void EmbeddingBackward(const Tensor&, const Tensor&, int64_t, Tensor&) { Refuse(); }
void DropAboveCapacity(const Tensor&, const Tensor&, const CapacityForm&, Tensor&) { Refuse(); }
void CrossEntropy(Tensor&, const Targets&, LossPass, Tensor&) { Refuse(); }
void CrossEntropyStatistics(const Tensor&, const Tensor&, int64_t, Tensor&) { Refuse(); }
void CrossEntropyOfPart(Tensor&, const Targets&, int64_t, const Tensor&, LossPass, Tensor&) {
  Refuse();
}
void AdamWUpdate(const AdamWState&, const AdamWFactors&, const Tensor&) { Refuse(); }
void SquaredSum(const Tensor&, Tensor&) { Refuse(); }
void FinishNorm(const Tensor&, double, Tensor&) { Refuse(); }
void TuneMatrixProducts() { Refuse(); }
void SaveTunedMatrixProducts(const std::string&) { Refuse(); }
void FillNormal(uint64_t, double, const PlaceInMatrix&, Tensor&) { Refuse(); }

}  // namespace trainyard::trainer::gpu
