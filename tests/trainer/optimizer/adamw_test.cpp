#include "trainer/optimizer/adamw.h"

#include <gtest/gtest.h>
#include <torch/optim.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>

#include "tests/trainer/model/stored_slices.h"
#include "tests/trainer/ops/step_values_tensor.h"
#include "tests/trainer/optimizer/adamw_tables.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Returns two groups. The first has a matrix with weight decay that is longer than one piece of an
// update. The second has a vector without weight decay.
std::vector<GroupDeclaration> Groups() {
  return {{"matrices", {{{WholeLogicalTensor("matrix", {300, 130}, 0.5)}, true}}},
          {"norms", {{{WholeLogicalTensor("norm", {7}, 0)}, false}}}};
}

void SetGradients(ParameterStore& store, int seed) {
  torch::manual_seed(seed);
  for (int64_t i = 0; i < store.size(); ++i) {
    store.Gradient(i).copy_(torch::randn(store.Gradient(i).sizes()));
  }
}

void Measure(AdamW& optimizer, Tensor& values) {
  for (int64_t group = 0; group < static_cast<int64_t>(Groups().size()); ++group) {
    optimizer.MeasureGroup(group);
  }
  optimizer.SumSquares(StepValue::kSquaredNorm, values);
  optimizer.FinishGradientNorm(values);
}

void UpdateAll(AdamW& optimizer, const Tensor& values) {
  for (int64_t group = 0; group < static_cast<int64_t>(Groups().size()); ++group) {
    optimizer.UpdateGroup(group, values);
  }
}

void Update(AdamW& optimizer, int64_t step, double learning_rate) {
  Tensor values = optimizer.HostStepValues(step, learning_rate);
  Measure(optimizer, values);
  UpdateAll(optimizer, values);
}

TEST(AdamWTest, EqualsLibTorchOverManySteps) {
  OptimizerConfig config;
  config.weight_decay = 0.3;
  config.clip_grad = 0;
  ParameterStore store(Groups(), torch::kFloat32, torch::kCPU, 1);
  AdamW ours(config, store);
  std::vector<Tensor> theirs;
  for (int64_t i = 0; i < store.size(); ++i) {
    theirs.push_back(store.Value(i).clone().set_requires_grad(true));
  }
  const auto options = [&](double decay) {
    return std::make_unique<torch::optim::AdamWOptions>(
        torch::optim::AdamWOptions(1e-2).betas({0.9, 0.95}).eps(1e-8).weight_decay(decay));
  };
  std::vector<torch::optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{theirs[0]}, options(0.3));
  groups.emplace_back(std::vector<Tensor>{theirs[1]}, options(0));
  torch::optim::AdamW reference(groups);
  for (int step = 1; step <= 5; ++step) {
    SetGradients(store, step);
    for (int64_t i = 0; i < store.size(); ++i) {
      theirs[i].mutable_grad() = store.Gradient(i).clone();
    }
    Update(ours, step, 1e-2);
    reference.step();
  }
  for (int64_t i = 0; i < store.size(); ++i) {
    EXPECT_TRUE(torch::allclose(store.Value(i), theirs[i], 1e-5, 1e-6)) << i;
  }
}

// Runs the steps of the tables (tests/trainer/references/adamw.py) in fp64 and compares the
// weights.
void ExpectTable(double max_norm, const adamw_tables::Weights& expected, double tolerance) {
  const std::vector<GroupDeclaration> groups = {
      {"all",
       {{{WholeLogicalTensor("matrix", {2, 3}, 0.5)}, true},
        {{WholeLogicalTensor("norm", {2}, 0)}, false}}}};
  OptimizerConfig config;
  config.clip_grad = max_norm;
  ParameterStore store(groups, torch::kFloat64, torch::kCPU, 1);
  AdamW optimizer(config, store);
  const auto at = [](const Tensor& matrix, const Tensor& vector, int64_t i) -> double& {
    return i < 6 ? matrix.data_ptr<double>()[i] : vector.data_ptr<double>()[i - 6];
  };
  for (int64_t i = 0; i < 8; ++i) {
    at(store.Value(0), store.Value(1), i) = static_cast<double>(i - 3) / 4;
  }
  for (int64_t step = 1; step <= static_cast<int64_t>(expected.size()); ++step) {
    for (int64_t i = 0; i < 8; ++i) {
      const auto residue = static_cast<double>((i * 7919 + step * 104729) % 2003);
      at(store.Gradient(0), store.Gradient(1), i) =
          (residue / 1001 - 1) * static_cast<double>(1 + step % 3);
    }
    Tensor values =
        optimizer.HostStepValues(step, 1e-2 * static_cast<double>(std::min<int64_t>(step, 8)) / 8);
    optimizer.MeasureGroup(0);
    optimizer.SumSquares(StepValue::kSquaredNorm, values);
    optimizer.FinishGradientNorm(values);
    optimizer.UpdateGroup(0, values);
    for (int64_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(at(store.Value(0), store.Value(1), i), expected[step - 1][i], tolerance)
          << "step " << step << ", weight " << i;
    }
  }
}

// To clip, PyTorch divides by the norm plus 1e-6. Therefore the tolerance is larger with clipping.
TEST(AdamWTest, WholeRunsEqualPyTorchsFormula) {
  ExpectTable(0, adamw_tables::kPlain, 1e-13);
  ExpectTable(2, adamw_tables::kClipped, 1e-8);
}

TEST(AdamWTest, DecaysMatricesOnly) {
  OptimizerConfig config;
  config.weight_decay = 0.5;
  ParameterStore store(Groups(), torch::kFloat32, torch::kCPU, 1);
  const Tensor before = store.Value(0).clone();
  AdamW optimizer(config, store);
  Update(optimizer, 1, 0.1);  // All gradients are 0.
  EXPECT_TRUE(torch::allclose(store.Value(0), before * (1 - 0.1 * 0.5)));
  EXPECT_TRUE(store.Value(1).equal(torch::ones({7})));
}

TEST(AdamWTest, MasterKeepsUpdatesThatSixteenBitsWouldLose) {
  OptimizerConfig config;
  config.weight_decay = 0;
  config.clip_grad = 0;
  ParameterStore store(Groups(), torch::kBFloat16, torch::kCPU, 1);
  AdamW optimizer(config, store);
  store.gradients().fill_(1);
  for (int step = 1; step <= 100; ++step) Update(optimizer, step, 1e-4);
  // One step changes the weight by 1e-4. This change is below bfloat16's spacing at 1 (0.0039). The
  // sum of a hundred steps is above that spacing.
  EXPECT_NEAR(MasterOf(store, store.slices()[1])[0].item<float>(), 0.99, 1e-4);
  EXPECT_NEAR(store.Value(1)[0].item<float>(), 0.99, 0.004);
}

TEST(AdamWTest, MomentsHaveTheTypesOfTheSettings) {
  OptimizerConfig config;
  config.exp_avg_sq_dtype = Precision::kBf16;
  ParameterStore store(Groups(), torch::kFloat32, torch::kCPU, 1);
  AdamW optimizer(config, store);
  EXPECT_EQ(optimizer.first_moment().scalar_type(), torch::kFloat32);
  EXPECT_EQ(optimizer.second_moment().scalar_type(), torch::kBFloat16);
  SetGradients(store, 1);
  Update(optimizer, 1, 1e-2);
  EXPECT_GT(optimizer.second_moment().abs().sum().item<double>(), 0);
}

TEST(AdamWTest, MeasuresAllGradientsTogether) {
  OptimizerConfig config;
  config.clip_grad = 0.5;
  ParameterStore store(Groups(), torch::kFloat32, torch::kCPU, 1);
  AdamW optimizer(config, store);
  SetGradients(store, 3);
  double squares = 0;
  for (int64_t i = 0; i < store.size(); ++i) {
    squares += store.Gradient(i).to(torch::kFloat64).square().sum().item<double>();
  }
  Tensor values = optimizer.HostStepValues(1, 1e-2);
  Measure(optimizer, values);
  const double norm = std::sqrt(squares);
  EXPECT_NEAR(ValueOf(values, StepValue::kGradientNorm), norm, 1e-6 * norm);
  EXPECT_NEAR(ValueOf(values, StepValue::kGradientScale), 0.5 / norm, 1e-6 / norm);
}

// Each of three ranks updates one part. The parts begin and end within matrices.
TEST(AdamWTest, PartsTogetherEqualTheWhole) {
  for (const auto type : {torch::kFloat32, torch::kBFloat16}) {
    ParameterStore whole(Groups(), type, torch::kCPU, 1);
    AdamW optimizer({}, whole);
    SetGradients(whole, 5);
    Tensor values = optimizer.HostStepValues(1, 1e-2);
    Measure(optimizer, values);
    UpdateAll(optimizer, values);
    double squares = 0;
    for (int64_t index = 0; index < 3; ++index) {
      ParameterStore store(Groups(), type, torch::kCPU, 1,
                           {.zero = 1, .kept = {.dense = {{index, 3}, {index, 3}}}});
      AdamW part({}, store);
      EXPECT_EQ(part.first_moment().numel(), store.elements() / 3);
      SetGradients(store, 5);
      for (int64_t group = 0; group < 2; ++group) part.MeasureGroup(group);
      Tensor mine_only = part.HostStepValues(1, 1e-2);
      part.SumSquares(StepValue::kSquaredNorm, mine_only);
      squares += ValueOf(mine_only, StepValue::kSquaredNorm);
      UpdateAll(part, values);
      for (size_t i = 0; i < store.slices().size(); ++i) {
        const StoredSlice &mine = store.slices()[i], &theirs = whole.slices()[i];
        const ElementRange owned = Intersect(mine.range, store.OwnedOf(mine.group));
        if (owned.length == 0) continue;
        const int64_t begin = owned.first - mine.range.first;
        EXPECT_TRUE(store.values()
                        .narrow(0, owned.first, owned.length)
                        .equal(whole.values().narrow(0, theirs.range.first + begin, owned.length)));
      }
    }
    const double norm = ValueOf(values, StepValue::kGradientNorm);
    EXPECT_NEAR(std::sqrt(squares), norm, 1e-6 * norm);
  }
}

TEST(AdamWTest, HostValuesCorrectTheBiasOfTheMoments) {
  ParameterStore store(Groups(), torch::kFloat32, torch::kCPU, 1);
  const Tensor values = AdamW({}, store).HostStepValues(2, 0.1);
  EXPECT_EQ(ValueOf(values, StepValue::kLearningRate), 0.1);
  EXPECT_DOUBLE_EQ(ValueOf(values, StepValue::kStepSize), 0.1 / (1 - 0.9 * 0.9));
  EXPECT_DOUBLE_EQ(ValueOf(values, StepValue::kRootCorrection), std::sqrt(1 - 0.95 * 0.95));
}

TEST(AdamWTest, OnlyOneOfTheRanksWithEqualElementsCountsThem) {
  StoreParts parts;
  parts.kept.dense.counts = false;
  ParameterStore store(Groups(), torch::kFloat32, torch::kCPU, 1, parts);
  AdamW optimizer({}, store);
  SetGradients(store, 5);
  Tensor values = optimizer.HostStepValues(1, 1e-2);
  Measure(optimizer, values);
  EXPECT_EQ(ValueOf(values, StepValue::kSquaredNorm), 0);
}

}  // namespace
}  // namespace trainyard::trainer
