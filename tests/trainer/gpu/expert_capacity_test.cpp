#include "trainer/ops/experts/expert_capacity.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"
#include "trainer/ops/experts/routing.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

struct CapacityShape {
  int64_t sequences;
  int64_t tokens;
  int64_t topk;
  CapacityForm form;
};

// The shapes have few or many slots per block of threads. One shape drops no slot, and one shape
// keeps a single token per expert.
const CapacityShape kCapacityShapes[] = {
    {1, 1, 1, {1, 1}},     {3, 7, 2, {4, 2}},     {2, 513, 1, {3, 200}},   {1, 1024, 2, {8, 256}},
    {5, 333, 3, {7, 333}}, {2, 4096, 6, {64, 1}}, {1, 4099, 8, {256, 97}}, {3, 2048, 2, {8, 640}},
};

Tensor RandomChoice(const CapacityShape& shape) {
  return ChooseExperts(torch::rand({shape.sequences * shape.tokens, shape.form.experts}), {},
                       {.topk = shape.topk})
      .view({shape.sequences, shape.tokens, shape.topk});
}

void ExpectSameAsOnTheCpu(const Tensor& experts, const Tensor& weights, const CapacityForm& form) {
  const Tensor expected = DropAboveCapacity(experts, weights, form);
  const Tensor on_gpu = weights.defined() ? weights.to(Gpu()) : weights;
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(DropAboveCapacity(experts.to(Gpu()), on_gpu, form).cpu().equal(expected));
  }
}

TEST(GpuExpertCapacityTest, DropsTheSlotsThatTheCpuDrops) {
  torch::manual_seed(1);
  for (const CapacityShape& shape : kCapacityShapes) {
    SCOPED_TRACE(shape.tokens);
    const Tensor experts = RandomChoice(shape), weights = torch::rand(experts.sizes());
    ExpectSameAsOnTheCpu(experts, weights, shape.form);
    ExpectSameAsOnTheCpu(experts, {}, shape.form);
    // Many equal weights, and weights that are 0.
    ExpectSameAsOnTheCpu(experts, (weights * 4).floor() / 4, shape.form);
    ExpectSameAsOnTheCpu(experts, torch::full_like(weights, 0.5), shape.form);
  }
}

TEST(GpuExpertCapacityTest, AllTokensMayChooseOneExpert) {
  torch::manual_seed(2);
  const Tensor experts = torch::full({2, 3000, 1}, 3, torch::kInt64);
  ExpectSameAsOnTheCpu(experts, torch::rand({2, 3000, 1}), {.experts = 5, .capacity = 700});
}

}  // namespace
}  // namespace trainyard::trainer
