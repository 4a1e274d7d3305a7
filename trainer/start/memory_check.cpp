#include "trainer/start/memory_check.h"

#include <algorithm>

#include "proto/memory/memory_advice.h"
#include "proto/memory/memory_model.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

std::string CheckMemory(const RunConfig& config, const DeviceMemory& memory) {
  if (memory.total_bytes == 0) return "";
  const MemoryPrediction prediction = PredictTrainingMemory(config);
  const auto total = static_cast<double>(memory.total_bytes);
  const auto free = static_cast<double>(memory.free_bytes);
  if (prediction.Total() * (1 - kMemoryMargin) > total) {
    throw TrainerError(ExitCode::kBadConfig, "The run does not fit into the GPU's memory of " +
                                                 GigabytesText(total) + "; the run needs about " +
                                                 MemoryText(prediction) + ". " +
                                                 MemoryAdviceText(config, total));
  }
  if (prediction.Required() <= free) return "";
  return "The run may need more memory than is free on the GPU (" + GigabytesText(free) + " of " +
         GigabytesText(total) + "): the prediction is " + MemoryText(prediction) + ". " +
         MemoryAdviceText(config, free);
}

std::string MemoryShortageText(const RunConfig& config, const DeviceMemory& memory) {
  const MemoryPrediction prediction = PredictTrainingMemory(config);
  const auto total = static_cast<double>(memory.total_bytes);
  const bool is_known = memory.total_bytes > 0;
  // Memory may have run out although the prediction was below the total. Advice for the total could
  // then suggest the present settings again, so the prediction is used as the limit.
  const double limit = is_known ? std::min(total, prediction.Total()) : prediction.Total();
  return "The prediction was " + MemoryText(prediction) +
         (is_known ? " of the GPU's " + GigabytesText(total) : "") + ". " +
         MemoryAdviceText(config, limit);
}

}  // namespace trainyard::trainer
