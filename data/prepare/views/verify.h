// `trainyard data verify`: checks the files of a data set.
#ifndef TRAINYARD_DATA_PREPARE_VIEWS_VERIFY_H_
#define TRAINYARD_DATA_PREPARE_VIEWS_VERIFY_H_

#include <atomic>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "data/prepare/command/prepare_options.h"
#include "data/prepare/command/progress.h"

namespace trainyard::data {

struct VerifyReport {
  std::string text;                   // for the user; ends with a newline
  std::vector<std::string> problems;  // a line per problem, with the file and the next step
};

// Reads all files of a data set. Checks what CheckSplit and CheckTokenizerFiles check. Errors:
// those of ReadDescription, and Cancelled.
absl::StatusOr<VerifyReport> VerifyDataset(const VerifyOptions& options, Progress* progress,
                                           const std::atomic<bool>& cancelled);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_VIEWS_VERIFY_H_
