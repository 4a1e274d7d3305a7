// Makes a data set: reads the inputs, splits them, trains the tokenizer, writes the files, and
// renames the finished directory to its final name.
#ifndef TRAINYARD_DATA_PREPARE_PREPARE_H_
#define TRAINYARD_DATA_PREPARE_PREPARE_H_

#include <atomic>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/prepare/prepare_options.h"
#include "data/prepare/progress.h"
#include "data/tokens/token_writer.h"

namespace trainyard::data {

struct DataSummary {
  std::string directory;  // absolute
  int64_t files = 0;
  std::string tokenizer;  // kind
  int64_t vocab_size = 0;
  SplitTotals train;
  SplitTotals val;
};

// The files depend only on the inputs and on the options other than `jobs`. On failure, `out` is
// unchanged. `cancelled` is checked between blocks.
//
// Errors: NotFound for missing inputs, InvalidArgument for unusable options and inputs, DataLoss
// and PermissionDenied for unreadable inputs, AlreadyExists if `out` is in use, ResourceExhausted
// if the disk is full, Cancelled.
absl::StatusOr<DataSummary> PrepareData(const PrepareOptions& options, Progress* progress,
                                        const std::atomic<bool>& cancelled);

// Returns a summary for the user, including the command to run next. It ends with a newline.
std::string SummaryText(const DataSummary& summary);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_PREPARE_H_
