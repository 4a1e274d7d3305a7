// Runs of other trainers with published memory use, and predictions of this memory use.
//
// The memory of trainyard-trainer is predicted by proto/memory/memory_model.h. Other trainers keep
// other tensors, so each trainer has its own constants here.
#ifndef TRAINYARD_TESTS_CONTROLLER_PLANNER_MEASURED_MEMORY_H_
#define TRAINYARD_TESTS_CONTROLLER_PLANNER_MEASURED_MEMORY_H_

#include <string>
#include <vector>

#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Constants for the memory of an FSDP trainer.
struct MemoryProfile {
  double state =
      16;  // Bytes per parameter, sharded over all ranks: fp32 weights, gradients, moments.
  double per_logit = 0;    // Bytes per logit at the peak: copies in bf16 and fp32, and gradients.
  double per_element = 0;  // Bytes kept by a block per element of a hidden state.
  double slack = 0;        // Bytes in blocks that the allocator holds unused.
};

struct MemoryRun {
  std::string name;
  RunConfig config;
  MemoryProfile profile;
  double gigabytes = 0;  // 10^9 bytes, measured.
  bool is_fitted = false;
};

// torchtitan on H100 of 96 GB: pytorch/torchtitan, benchmarks/llama3_h100_202412_torchtitan,
// tables 1 to 4.
std::vector<MemoryRun> TorchtitanMemory();

// Returns the predicted memory in units of 10^9 bytes per GPU.
double PredictedGigabytes(const MemoryRun& run);

}  // namespace trainyard::planner

#endif  // TRAINYARD_TESTS_CONTROLLER_PLANNER_MEASURED_MEMORY_H_
