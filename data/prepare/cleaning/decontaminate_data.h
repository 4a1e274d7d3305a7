// `trainyard data decontaminate`: removes documents that overlap evaluation sets.
#ifndef TRAINYARD_DATA_PREPARE_CLEANING_DECONTAMINATE_DATA_H_
#define TRAINYARD_DATA_PREPARE_CLEANING_DECONTAMINATE_DATA_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "data/decontamination/decontamination_run.h"
#include "data/prepare/command/prepare_options.h"
#include "data/prepare/command/progress.h"

namespace trainyard::data {

struct DecontaminateSummary {
  std::string directory;
  int64_t files = 0;
  OverlapSettings settings;
  DecontaminationResult result;
};

// Writes a directory of data/stages. Errors are those of FindInputFiles, CheckOutsideInputs and
// RunDecontamination.
absl::StatusOr<DecontaminateSummary> DecontaminateData(const DecontaminateOptions& options,
                                                       Progress* progress,
                                                       const std::atomic<bool>& cancelled);

// Returns the result for the user, with a newline at the end.
std::string DecontaminateText(const DecontaminateSummary& summary);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_CLEANING_DECONTAMINATE_DATA_H_
