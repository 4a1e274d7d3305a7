// Trains with any layout in one process, in which each rank is a thread.
#ifndef TRAINYARD_TESTS_TRAINER_STEP_LAYOUT_RUN_H_
#define TRAINYARD_TESTS_TRAINER_STEP_LAYOUT_RUN_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "tests/trainer/step/logical_tensors.h"
#include "trainer/step/loss_scale.h"
#include "trainer/step/step_runner.h"

namespace trainyard::trainer {

// The results of a run, combined from all its ranks.
struct LayoutRun {
  std::vector<StepResult> steps;
  LogicalTensors first_gradients;  // Gradients of the first step, before clipping.
  LogicalTensors weights;          // Compute values at the end of the run.
  LogicalTensors first_moments;
  LogicalTensors second_moments;
  torch::Tensor expert_bias;  // At the end of the run; undefined without one.
  LossScale loss_scale;       // At the end of the run.
  torch::Tensor fp8_history;  // At the end of the run; undefined without delayed FP8 scales.
  // Data that should have the same bits on several ranks but does not: the ranks and the steps.
  std::vector<std::string> faults;
};

// A small model with an odd vocabulary, trained on 8 samples of 16 tokens per step.
RunConfig SmallRun();

// Number of ranks that the layout needs.
int64_t RanksOf(const LayoutConfig& layout);

// A micro-batch that a rank is about to read.
struct BatchPlace {
  int64_t rank = 0;
  int64_t step = 0;   // From 1.
  int64_t batch = 0;  // Number of the micro-batch within the rank's part of the step, from 0.
};

// Devices and groups on which a run executes. By default, the ranks use the CPU and communicate
// through memory.
struct LayoutMachine {
  std::function<torch::Device(int64_t rank)> open_device = [](int64_t) {
    return torch::Device(torch::kCPU);
  };
  // Connects the groups of a rank, on that rank's thread; nullptr if the groups communicate through
  // memory.
  std::function<ConnectGroupFunction(int64_t rank)> connect;
  bool takes_turns = false;  // True if ranks share a device that allows one thread at a time.
  // Called on the rank's thread. May change the gradients that earlier micro-batches of the step
  // have produced.
  std::function<void(const BatchPlace&, ParameterStore&)> before_batch;
  double loss_scale = 1;  // The loss scale in all steps of a run without fp16.
  // The type of weights and activations; by default, that of train.precision.
  std::optional<torch::ScalarType> type;
  // With delayed FP8 scales: the history before the first step; undefined: empty.
  torch::Tensor fp8_history;
};

// Trains on tokens that depend only on the sample's number. If `masked` is true, a third of the
// predictions have weight 0. Rethrows an exception of a rank.
LayoutRun RunLayout(const RunConfig& config, int64_t steps, bool masked = false,
                    const LayoutMachine& machine = {});

// Returns the number of steps before the first in which an expert has another load in one of the
// runs: all steps without experts. A difference of one rounding can change the expert of a token
// whose best scores are nearly equal. From then on, the losses of both runs differ by more than
// rounding.
int64_t StepsOfEqualLoad(const LayoutRun& run, const LayoutRun& other);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_STEP_LAYOUT_RUN_H_
