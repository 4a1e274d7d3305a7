// Tests windowed attention and attention within documents, with each backend.
#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/ops/references.h"
#include "trainer/kernels/cuda_check.h"
#include "trainer/ops/attention/attention.h"
#include "trainer/ops/gpu.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct FormCase {
  AttentionHeads heads;
  Tensor packed, dout;
};

FormCase RandomForm(int64_t batch, int64_t length, const AttentionHeads& heads,
                    torch::ScalarType type) {
  return {heads, RandomOnGpu({batch, length, heads.packed_heads(), heads.head_size}, type),
          RandomOnGpu({batch, length, heads.query_heads, heads.head_size}, type)};
}

struct FormResult {
  Tensor out, softmax, d_packed;
};

FormResult RunForm(const FormCase& c, const AttentionForm& form, Reproducible reproducible) {
  FormResult result{Poisoned(c.dout.sizes(), c.dout.scalar_type()), Tensor(),
                    Poisoned(c.packed.sizes(), c.packed.scalar_type())};
  result.softmax = AttentionForward(c.packed, c.heads, result.out, form);
  AttentionBackward(c.dout, {c.packed, result.out, result.softmax, form}, c.heads, reproducible,
                    result.d_packed);
  return result;
}

// Computes attention by the plain formula, with the limits as a mask and gradients by autograd.
FormResult ByFormula(const FormCase& c, const AttentionLimits& limits, torch::ScalarType type) {
  const int64_t queries = c.heads.query_heads, keys = c.heads.key_heads, length = c.packed.size(1);
  const Tensor packed = c.packed.to(type).detach().clone().set_requires_grad(true);
  const Tensor positions = torch::arange(length, OnGpu(torch::kInt64));
  Tensor first = torch::zeros({1, length}, OnGpu(torch::kInt64));
  if (limits.window > 0) first = (positions - limits.window + 1).unsqueeze(0);
  if (limits.document_starts.defined()) first = at::maximum(first, limits.document_starts);
  const Tensor scores = reference::Scores(packed.narrow(2, 0, queries),
                                          packed.narrow(2, queries, keys), /*causal=*/false);
  const Tensor hidden =
      (positions.view({1, 1, 1, -1}) < first.view({-1, 1, length, 1}))
          .logical_or(positions.view({1, 1, 1, -1}) > positions.view({1, 1, -1, 1}));
  const Tensor out = reference::WeightedValues(scores.masked_fill(hidden, -1e30),
                                               packed.narrow(2, queries + keys, keys));
  const auto gradients = torch::autograd::grad({out}, {packed}, {c.dout.to(type)});
  return {out.detach(), Tensor(), gradients[0]};
}

// The plain formula in bf16 rounds scores and weights. A fused kernel keeps the scores in fp32, so
// it must be at least as accurate as the formula. There is one exception: if a token sees only
// itself, the formula's gradients of queries and keys are exactly 0. There the kernel's error may
// be up to kUnseen times the norm of all gradients.
void ExpectNotWorseThanTheFormulaInBf16(const FormCase& c, const AttentionForm& form,
                                        Reproducible reproducible) {
  const FormResult actual = RunForm(c, form, reproducible);
  const FormResult exact = ByFormula(c, form.limits, torch::kFloat64);
  const FormResult peer = ByFormula(c, form.limits, torch::kBFloat16);
  EXPECT_LE(RelativeNorm(actual.out, exact.out), RelativeNorm(peer.out, exact.out));
  constexpr double kUnseen = 1e-6;
  const int64_t queries = c.heads.query_heads, keys = c.heads.key_heads;
  const auto expect = [&](const char* name, int64_t first, int64_t count) {
    const auto error = [&](const FormResult& result) {
      return NormOf(Wide(result.d_packed.narrow(2, first, count)) -
                    exact.d_packed.narrow(2, first, count));
    };
    EXPECT_LE(error(actual), error(peer) + kUnseen * NormOf(exact.d_packed)) << name;
  };
  expect("gradient of the queries", 0, queries);
  expect("gradient of the keys", queries, keys);
  expect("gradient of the values", queries + keys, keys);
}

const AttentionHeads kFormHeads[] = {{4, 2, 64}, {4, 4, 128}};

// Returns document starts for documents of about 50 tokens, different in each sample.
Tensor DocumentsOf(int64_t batch, int64_t length) {
  const Tensor positions = torch::arange(length, OnGpu(torch::kInt64)).unsqueeze(0);
  const Tensor shift = 7 * torch::arange(batch, OnGpu(torch::kInt64)).unsqueeze(1);
  return (positions - (positions + shift) % 50).clamp_min(0);
}

// cuDNN may have no deterministic plan for the gradients. cuDNN must report this before it computes
// anything, so that `auto` can choose manual attention (trainer/start/attention_choice.h). The
// printed lines show for each case whether cuDNN has a plan.
TEST(AttentionFormsGpuTest, CudnnHasTheWindowOrRefusesIt) {
  torch::manual_seed(1);
  for (const Reproducible reproducible : {Reproducible::kYes, Reproducible::kNo}) {
    for (const AttentionHeads& heads : kFormHeads) {
      for (const int64_t window : {1, 64, 100, 511}) {
        SCOPED_TRACE(ShapeName(torch::kBFloat16, {heads.query_heads, heads.head_size, window,
                                                  reproducible == Reproducible::kYes}));
        const std::string problem = gpu::PrepareAttention(
            {.samples = 2, .length = 512, .heads = heads, .window = window}, reproducible);
        std::printf("cuDNN, window %ld of 512, head size %ld, %s: %s\n", window, heads.head_size,
                    reproducible == Reproducible::kYes ? "deterministic" : "any order",
                    problem.empty() ? "has a plan" : problem.c_str());
        if (!problem.empty()) {
          EXPECT_NE(problem.find("cuDNN has no"), std::string::npos) << problem;
          continue;
        }
        const AttentionForm form{.limits = {.window = window}, .kernel = AttentionKernel::kCudnn};
        ExpectNotWorseThanTheFormulaInBf16(RandomForm(2, 512, heads, torch::kBFloat16), form,
                                           reproducible);
      }
    }
  }
}

TEST(AttentionFormsGpuTest, CudnnKeepsDocumentsApartOrRefusesTo) {
  torch::manual_seed(7);
  const Tensor documents = DocumentsOf(2, 512);
  for (const Reproducible reproducible : {Reproducible::kYes, Reproducible::kNo}) {
    for (const AttentionHeads& heads : kFormHeads) {
      for (const int64_t window : {0, 30}) {
        SCOPED_TRACE(ShapeName(torch::kBFloat16, {heads.query_heads, heads.head_size, window,
                                                  reproducible == Reproducible::kYes}));
        const gpu::AttentionBatch batch{
            .samples = 2, .length = 512, .heads = heads, .window = window, .has_documents = true};
        const std::string problem = gpu::PrepareAttention(batch, reproducible);
        std::printf("cuDNN, documents, window %ld, head size %ld, %s: %s\n", window,
                    heads.head_size,
                    reproducible == Reproducible::kYes ? "deterministic" : "any order",
                    problem.empty() ? "has a plan" : problem.c_str());
        if (!problem.empty()) {
          EXPECT_NE(problem.find("cuDNN has no"), std::string::npos) << problem;
          continue;
        }
        const AttentionForm form{.limits = {.window = window,
                                            .document_starts = documents,
                                            .document_bias = DocumentBias(documents)},
                                 .kernel = AttentionKernel::kCudnn};
        const FormCase c = RandomForm(2, 512, heads, torch::kBFloat16);
        ExpectNotWorseThanTheFormulaInBf16(c, form, reproducible);
        if (reproducible == Reproducible::kNo) continue;
        ExpectSameBitsInEveryRun([&] {
          const FormResult result = RunForm(c, form, reproducible);
          return std::vector<Tensor>{result.out, result.softmax, result.d_packed};
        });
      }
    }
  }
}

TEST(AttentionFormsGpuTest, CudnnsWindowHasTheSameBitsInEveryRun) {
  torch::manual_seed(2);
  const AttentionHeads heads{16, 8, 128};
  const gpu::AttentionBatch batch{.samples = 2, .length = 2048, .heads = heads, .window = 512};
  if (!gpu::PrepareAttention(batch, Reproducible::kYes).empty()) {
    GTEST_SKIP() << "this cuDNN has no deterministic window";
  }
  const FormCase c = RandomForm(2, 2048, heads, torch::kBFloat16);
  const AttentionForm form{.limits = {.window = 512}, .kernel = AttentionKernel::kCudnn};
  ExpectSameBitsInEveryRun([&] {
    const FormResult result = RunForm(c, form, Reproducible::kYes);
    return std::vector<Tensor>{result.out, result.softmax, result.d_packed};
  });
}

TEST(AttentionFormsGpuTest, ManualTakesAllLimits) {
  torch::manual_seed(3);
  const Tensor documents = DocumentsOf(2, 200);
  for (const AttentionLimits& limits :
       {AttentionLimits{}, AttentionLimits{.window = 30},
        AttentionLimits{.document_starts = documents},
        AttentionLimits{.window = 30, .document_starts = documents}}) {
    SCOPED_TRACE(limits.window);
    const AttentionForm form{.limits = limits, .kernel = AttentionKernel::kManual};
    ExpectNotWorseThanTheFormulaInBf16(RandomForm(2, 200, {4, 2, 64}, torch::kBFloat16), form,
                                       Reproducible::kYes);
    const FormCase c = RandomForm(2, 200, {4, 2, 64}, torch::kFloat32);
    const FormResult actual = RunForm(c, form, Reproducible::kYes);
    const FormResult exact = ByFormula(c, limits, torch::kFloat64);
    ExpectAccurate(actual.out, exact.out, kLongSumTolerance);
    ExpectAccurate(actual.d_packed, exact.d_packed, kLongSumTolerance);
  }
}

// cuDNN supports documents only through a bias, and this test passes none.
TEST(AttentionFormsGpuTest, AutoTakesManualForDocuments) {
  torch::manual_seed(4);
  const FormCase c = RandomForm(2, 256, {4, 2, 64}, torch::kBFloat16);
  const AttentionLimits limits{.document_starts = DocumentsOf(2, 256)};
  const FormResult by_itself = RunForm(c, {.limits = limits}, Reproducible::kYes);
  const FormResult manual =
      RunForm(c, {.limits = limits, .kernel = AttentionKernel::kManual}, Reproducible::kYes);
  EXPECT_TRUE(SameBits(by_itself.out, manual.out));
  EXPECT_TRUE(SameBits(by_itself.d_packed, manual.d_packed));
}

TEST(AttentionFormsGpuTest, LibTorchsFlashAttention) {
  torch::manual_seed(5);
  for (const AttentionHeads& heads : kFormHeads) {
    for (const int64_t window : {0, 1, 100}) {
      SCOPED_TRACE(ShapeName(torch::kBFloat16, {heads.query_heads, heads.head_size, window}));
      const AttentionForm form{.limits = {.window = window}, .kernel = AttentionKernel::kFlash};
      ExpectNotWorseThanTheFormulaInBf16(RandomForm(2, 320, heads, torch::kBFloat16), form,
                                         Reproducible::kNo);
    }
  }
}

TEST(AttentionFormsGpuTest, LibTorchsEfficientAttention) {
  torch::manual_seed(6);
  const AttentionForm form{.kernel = AttentionKernel::kSdpa};
  for (const AttentionHeads& heads : kFormHeads) {
    SCOPED_TRACE(ShapeName(torch::kBFloat16, {heads.query_heads, heads.head_size}));
    ExpectNotWorseThanTheFormulaInBf16(RandomForm(2, 320, heads, torch::kBFloat16), form,
                                       Reproducible::kNo);
    const FormCase c = RandomForm(2, 200, heads, torch::kFloat32);
    const FormResult actual = RunForm(c, form, Reproducible::kNo);
    const FormResult exact = ByFormula(c, {}, torch::kFloat64);
    // In fp32, LibTorch's efficient attention may round matrix products to TF32.
    EXPECT_LT(RelativeNorm(actual.out, exact.out), 2e-3);
    EXPECT_LT(RelativeNorm(actual.d_packed, exact.d_packed), 2e-3);
  }
}

}  // namespace
}  // namespace trainyard::trainer
