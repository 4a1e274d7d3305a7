// Converts results of file operations to statuses.
#ifndef TRAINYARD_DATA_STAGES_FILE_STATUS_H_
#define TRAINYARD_DATA_STAGES_FILE_STATUS_H_

#include "absl/status/status.h"
#include "proto/files/durable_file.h"

namespace trainyard::data {

// Names the failed operation. The code is ResourceExhausted if the disk is full, and Internal for
// every other error.
absl::Status ToStatus(const FileResult& result);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_FILE_STATUS_H_
