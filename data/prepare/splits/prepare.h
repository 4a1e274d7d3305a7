// Makes a data set: reads the inputs, splits them, trains the tokenizer, writes the files, and
// renames the finished directory to its final name.
#ifndef TRAINYARD_DATA_PREPARE_SPLITS_PREPARE_H_
#define TRAINYARD_DATA_PREPARE_SPLITS_PREPARE_H_

#include <atomic>

#include "absl/status/statusor.h"
#include "data/prepare/command/prepare_options.h"
#include "data/prepare/command/progress.h"
#include "data/prepare/splits/summary.h"

namespace trainyard::data {

// The files depend only on the inputs and on the options other than `jobs`. On failure, `out` is
// unchanged. `cancelled` is checked between blocks.
//
// Errors: NotFound for missing inputs, InvalidArgument for unusable options and inputs, DataLoss
// and PermissionDenied for unreadable inputs, DataLoss for too many bad lines, AlreadyExists if
// `out` is in use, ResourceExhausted if the disk is full, Cancelled.
absl::StatusOr<DataSummary> PrepareData(const PrepareOptions& options, Progress* progress,
                                        const std::atomic<bool>& cancelled);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_SPLITS_PREPARE_H_
