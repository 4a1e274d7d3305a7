// Compares a run's predicted peak memory with the memory of its GPU.
#ifndef TRAINYARD_TRAINER_START_MEMORY_CHECK_H_
#define TRAINYARD_TRAINER_START_MEMORY_CHECK_H_

#include <string>

#include "proto/contract/run_config.h"
#include "trainer/parallel/device.h"

namespace trainyard::trainer {

// Throws TrainerError(kBadConfig) if the run does not fit even when the prediction is too high by
// kMemoryMargin. Returns a warning if the free memory may not suffice, else "". Call it before the
// run allocates memory. Does nothing if the memory size is unknown.
std::string CheckMemory(const RunConfig& config, const DeviceMemory& memory);

// Message for a run that ran out of memory: the prediction and settings that need less.
std::string MemoryShortageText(const RunConfig& config, const DeviceMemory& memory);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_MEMORY_CHECK_H_
