#include "trainer/ops/activation.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"
#include "tests/trainer/ops/references.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct SwiGluResult {
  Tensor out, d_packed;
};

// Computes the reference in fp64, with gradients by autograd.
SwiGluResult SwiGluByAutograd(const Tensor& packed, const Tensor& dout) {
  const Tensor wide = Wide(packed).set_requires_grad(true);
  const Tensor out = reference::SwiGlu(wide);
  const auto gradients = torch::autograd::grad({out}, {wide}, {Wide(dout)});
  return {out.detach(), gradients[0]};
}

void ExpectSwiGluEqualsAutograd(const Tensor& packed, const Tensor& dout) {
  const SwiGluResult expected = SwiGluByAutograd(packed, dout);
  Tensor out = Poisoned(dout.sizes(), dout.scalar_type());
  SwiGluForward(packed, out);
  ExpectAccurate(out, expected.out, kShortSumTolerance);
  Tensor again = Poisoned(dout.sizes(), dout.scalar_type());
  Tensor d_packed = Poisoned(packed.sizes(), packed.scalar_type());
  SwiGluBackward(dout, packed, d_packed, again);
  ExpectAccurate(d_packed, expected.d_packed, kShortSumTolerance);
  EXPECT_TRUE(SameBits(again, out));
  // The kernel writes the gradient over `packed` and does not store the output of the forward pass.
  Tensor over = packed.clone(), none;
  SwiGluBackward(dout, over, over, none);
  EXPECT_TRUE(SameBits(over, d_packed));
}

TEST(ActivationGpuTest, EqualsAutogradForEveryShape) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : {1, 7, 64, 96, 768, 2048, 8192, 16384 + 8}) {
      for (const int64_t rows : {1, 3, 127, 4096}) {
        SCOPED_TRACE(ShapeName(type, {rows, width}));
        ExpectSwiGluEqualsAutograd(RandomOnGpu({rows, 2 * width}, type) * 3,
                                   RandomOnGpu({rows, width}, type));
      }
    }
  }
}

// exp(100), which occurs in the formula for such gates, overflows in fp32.
TEST(ActivationGpuTest, LargeGatesStayFinite) {
  torch::manual_seed(2);
  for (const torch::ScalarType type : kGpuTypes) {
    SCOPED_TRACE(ShapeName(type, {}));
    Tensor packed = RandomOnGpu({16, 128}, type);
    packed.narrow(1, 0, 32).fill_(-100);
    ExpectSwiGluEqualsAutograd(packed, RandomOnGpu({16, 64}, type));
    packed.narrow(1, 32, 32).fill_(100);
    ExpectSwiGluEqualsAutograd(packed, RandomOnGpu({16, 64}, type));
  }
}

TEST(ActivationGpuTest, TakesMemoryAtOddAddresses) {
  torch::manual_seed(3);
  for (const torch::ScalarType type : kGpuTypes) {
    SCOPED_TRACE(ShapeName(type, {}));
    const Tensor packed = AtOddAddress(RandomOnGpu({127, 2 * 768}, type));
    const Tensor dout = AtOddAddress(RandomOnGpu({127, 768}, type));
    ExpectSwiGluEqualsAutograd(packed, dout);
  }
}

TEST(ActivationGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(4);
  for (const torch::ScalarType type : kGpuTypes) {
    const Tensor packed = RandomOnGpu({4096, 2 * 768}, type), dout = RandomOnGpu({4096, 768}, type);
    ExpectSameBitsInEveryRun([&] {
      Tensor out = Poisoned(dout.sizes(), type), d_packed = Poisoned(packed.sizes(), type);
      SwiGluBackward(dout, packed, d_packed, out);
      return std::vector<Tensor>{out, d_packed};
    });
  }
}

Tensor UngatedReference(Activation kind, const Tensor& x) {
  if (kind == Activation::kGelu) return reference::Gelu(x);
  return kind == Activation::kGeluTanh ? reference::GeluTanh(x) : reference::SquaredRelu(x);
}

constexpr Activation kUngated[] = {Activation::kGelu, Activation::kGeluTanh,
                                   Activation::kSquaredRelu};

void ExpectUngatedEqualsAutograd(Activation kind, const Tensor& x, const Tensor& dout) {
  const Tensor wide = Wide(x).set_requires_grad(true);
  const Tensor expected = UngatedReference(kind, wide);
  const Tensor dx = torch::autograd::grad({expected}, {wide}, {Wide(dout)})[0];
  Tensor out = Poisoned(x.sizes(), x.scalar_type());
  ActivationForward(kind, x, out);
  // For large negative x, GELU is a difference of numbers much larger than itself. Therefore the
  // scale includes x.
  ExpectAccurate(out, expected.detach(), kShortSumTolerance, NormOf(x) + NormOf(expected.detach()));
  Tensor again = Poisoned(x.sizes(), x.scalar_type());
  Tensor actual = Poisoned(x.sizes(), x.scalar_type());
  ActivationBackward(kind, dout, x, actual, again);
  ExpectAccurate(actual, dx, kShortSumTolerance, NormOf(dout) + NormOf(dx));
  EXPECT_TRUE(SameBits(again, out));
  // The kernel writes the gradient over x and does not store the output of the forward pass.
  Tensor over = x.clone(), none;
  ActivationBackward(kind, dout, over, over, none);
  EXPECT_TRUE(SameBits(over, actual));
}

TEST(ActivationGpuTest, UngatedEqualAutogradForEveryShape) {
  torch::manual_seed(5);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const Activation kind : kUngated) {
      for (const int64_t count : {1, 7, 64, 4096, 4104, 127 * 3071, 4096 * 3072}) {
        SCOPED_TRACE(ShapeName(type, {static_cast<int64_t>(kind), count}));
        ExpectUngatedEqualsAutograd(kind, RandomOnGpu({count}, type) * 3,
                                    RandomOnGpu({count}, type));
      }
      const Tensor x = AtOddAddress(RandomOnGpu({127, 768}, type));
      ExpectUngatedEqualsAutograd(kind, x, AtOddAddress(RandomOnGpu({127, 768}, type)));
    }
  }
}

// Far from 0, GELU is nearly 0 or x, but the exponentials in its formula overflow.
TEST(ActivationGpuTest, UngatedStayFiniteFarFromZero) {
  for (const torch::ScalarType type : kGpuTypes) {
    for (const Activation kind : kUngated) {
      SCOPED_TRACE(ShapeName(type, {static_cast<int64_t>(kind)}));
      const Tensor x = torch::tensor({-1e4, -100., -20., -0., 0., 20., 100., 1e4}).to(OnGpu(type));
      ExpectUngatedEqualsAutograd(kind, x, torch::ones({8}, OnGpu(type)));
    }
  }
}

TEST(ActivationGpuTest, UngatedKeepNaNs) {
  for (const torch::ScalarType type : kGpuTypes) {
    for (const Activation kind : kUngated) {
      Tensor out = torch::zeros({9}, OnGpu(type));
      ActivationForward(kind, Poisoned({9}, type), out);
      EXPECT_TRUE(out.isnan().all().item<bool>());
    }
  }
}

TEST(ActivationGpuTest, UngatedHaveTheSameBitsInEveryRun) {
  torch::manual_seed(6);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const Activation kind : kUngated) {
      const Tensor x = RandomOnGpu({4096, 768}, type), dout = RandomOnGpu({4096, 768}, type);
      ExpectSameBitsInEveryRun([&] {
        Tensor out = Poisoned(x.sizes(), type), dx = Poisoned(x.sizes(), type);
        ActivationBackward(kind, dout, x, dx, out);
        return std::vector<Tensor>{out, dx};
      });
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer
