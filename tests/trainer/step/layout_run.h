// Runs training with any layout in one process: each rank is a thread.
#ifndef TRAINYARD_TESTS_TRAINER_STEP_LAYOUT_RUN_H_
#define TRAINYARD_TESTS_TRAINER_STEP_LAYOUT_RUN_H_

#include <functional>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "tests/trainer/step/logical_tensors.h"
#include "trainer/step/step_runner.h"

namespace trainyard::trainer {

// The results of a run, combined from all its ranks.
struct LayoutRun {
  std::vector<StepResult> steps;
  LogicalTensors first_gradients;  // Gradients of the first step, before clipping.
  LogicalTensors weights;          // At the end, as the model's computation uses them.
  LogicalTensors first_moments;
  LogicalTensors second_moments;
  // Ranks whose data differs although it must have the same bits, and the steps at which it
  // differs.
  std::vector<std::string> faults;
};

// A small model with an odd vocabulary, trained on 8 samples of 16 tokens per step.
RunConfig SmallRun();

// Number of ranks that the layout needs.
int64_t RanksOf(const LayoutConfig& layout);

// The machine on which a run executes. By default, the ranks use the CPU and communicate over
// memory.
struct LayoutMachine {
  std::function<torch::Device(int64_t rank)> open_device = [](int64_t) {
    return torch::Device(torch::kCPU);
  };
  // Connects the groups of a rank; nullptr if the groups communicate over memory. Called on the
  // thread of the rank.
  std::function<ConnectGroupFunction(int64_t rank)> connect;
  bool takes_turns = false;  // True if ranks share a device that allows one thread at a time.
};

// Trains on tokens that depend only on the number of the sample. If `masked` is true, a third of
// the predictions have weight 0. If a rank throws, rethrows the exception.
LayoutRun RunLayout(const RunConfig& config, int64_t steps, bool masked = false,
                    const LayoutMachine& machine = {});

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_STEP_LAYOUT_RUN_H_
