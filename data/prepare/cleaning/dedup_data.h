// `trainyard data dedup`: removes duplicate documents.
#ifndef TRAINYARD_DATA_PREPARE_CLEANING_DEDUP_DATA_H_
#define TRAINYARD_DATA_PREPARE_CLEANING_DEDUP_DATA_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "data/dedup/dedup_run.h"
#include "data/dedup/dedup_settings.h"
#include "data/prepare/command/prepare_options.h"
#include "data/prepare/command/progress.h"

namespace trainyard::data {

struct DedupSummary {
  std::string directory;
  int64_t files = 0;
  DedupSettings settings;
  DedupResult result;
};

// Writes a directory of data/stages. Errors are those of PresetSettings, FindInputFiles and
// RunDedup, and InvalidArgument if the directory is in an input.
absl::StatusOr<DedupSummary> DedupData(const DedupOptions& options, Progress* progress,
                                       const std::atomic<bool>& cancelled);

// Returns the result for the user, with a newline at the end.
std::string DedupText(const DedupSummary& summary);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_CLEANING_DEDUP_DATA_H_
