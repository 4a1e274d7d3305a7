// Training runs of any layout in one process: each rank is a thread.
#ifndef TRAINYARD_TESTS_TRAINER_STEP_LAYOUT_RUN_H_
#define TRAINYARD_TESTS_TRAINER_STEP_LAYOUT_RUN_H_

#include <functional>
#include <string>
#include <vector>

#include "proto/contract/run_config.h"
#include "tests/trainer/step/logical_tensors.h"
#include "trainer/step/step_runner.h"

namespace trainyard::trainer {

// Results of a run, put together from all ranks.
struct LayoutRun {
  std::vector<StepResult> steps;
  LogicalTensors first_gradients;  // Gradients of the first step, before clipping.
  LogicalTensors weights;          // At the end, as the model computes with them.
  LogicalTensors first_moments;
  LogicalTensors second_moments;
  // Ranks that differ in what must be the same bits, and steps in which they did.
  std::vector<std::string> faults;
};

// A small model with an odd vocabulary, on 16 tokens of 8 samples a step.
RunConfig SmallRun();

// Ranks that the layout needs.
int64_t RanksOf(const LayoutConfig& layout);

// The machine that a run is for; by default ranks on the CPU, over memory.
struct LayoutMachine {
  std::function<torch::Device(int64_t rank)> open_device = [](int64_t) {
    return torch::Device(torch::kCPU);
  };
  // The groups of a rank, or null for groups over memory. Called on the rank's thread.
  std::function<ConnectGroupFunction(int64_t rank)> connect;
  bool takes_turns = false;  // Ranks share a device that takes one thread at a time.
};

// Trains on tokens that depend on the sample's number only; `masked` predictions count nothing.
// Throws what a rank throws.
LayoutRun RunLayout(const RunConfig& config, int64_t steps, bool masked = false,
                    const LayoutMachine& machine = {});

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_STEP_LAYOUT_RUN_H_
