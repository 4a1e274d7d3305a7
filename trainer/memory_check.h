// Compares the predicted peak of a run with the memory of its GPU.
#ifndef TRAINYARD_TRAINER_MEMORY_CHECK_H_
#define TRAINYARD_TRAINER_MEMORY_CHECK_H_

#include <string>

#include "proto/contract/run_config.h"
#include "trainer/parallel/device.h"

namespace trainyard::trainer {

// Throws TrainerError(kBadConfig) when the run cannot fit even if the prediction is too high by
// kMemoryMargin. Returns a warning when the memory that is free may not be enough, else "". To be
// called before the run allocates. Memory of unknown size is always enough.
std::string CheckMemory(const RunConfig& config, const DeviceMemory& memory);

// The prediction for a run that is out of memory, and settings that need less.
std::string MemoryShortageText(const RunConfig& config, const DeviceMemory& memory);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_MEMORY_CHECK_H_
