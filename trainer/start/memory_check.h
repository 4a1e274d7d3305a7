// Compares the predicted peak memory of a run with the memory of its GPU.
#ifndef TRAINYARD_TRAINER_START_MEMORY_CHECK_H_
#define TRAINYARD_TRAINER_START_MEMORY_CHECK_H_

#include <string>

#include "proto/contract/run_config.h"
#include "trainer/parallel/device/device.h"

namespace trainyard::trainer {

// Must be called before the run allocates memory. Throws TrainerError(kBadConfig) if the
// prediction, reduced by the fraction kMemoryMargin, exceeds the GPU's memory. Returns a warning if
// the prediction, increased by that fraction, exceeds the free memory; otherwise "". Returns "" if
// the memory size is unknown.
std::string CheckMemory(const RunConfig& config, const DeviceMemory& memory);

// Returns the message for a run that ran out of memory, with the prediction and with settings that
// need less memory.
std::string MemoryShortageText(const RunConfig& config, const DeviceMemory& memory);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_START_MEMORY_CHECK_H_
