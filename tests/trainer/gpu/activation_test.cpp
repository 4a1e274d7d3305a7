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

// In fp64, by autograd.
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
  // Over the memory of `packed`, without the result of the forward pass.
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

// exp(100) is no fp32 number.
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

}  // namespace
}  // namespace trainyard::trainer
