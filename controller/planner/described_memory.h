// Device memory of runs described by documents, including experts, latent attention and FP8, which
// proto/contract/memory_model.h does not cover. Pure functions.
#ifndef TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_MEMORY_H_
#define TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_MEMORY_H_

#include <cstdint>

#include "controller/planner/described_model.h"
#include "proto/contract/memory_model.h"
#include "proto/contract/run_config.h"

namespace trainyard::planner {

// Memory of each GPU of one pipeline stage, by the rules of trainyard-trainer where it has the
// feature: fused attention, gradients and moments in fp32, logits in parts. None of it is verified
// by measurement.
MemoryPrediction DescribedStageMemory(const RunConfig& config, const DescribedParts& parts,
                                      int64_t stage);

}  // namespace trainyard::planner

#endif  // TRAINYARD_CONTROLLER_PLANNER_DESCRIBED_MEMORY_H_
