// The input files of the training and the validation split.
#ifndef TRAINYARD_DATA_PREPARE_SPLITS_SPLIT_JOBS_H_
#define TRAINYARD_DATA_PREPARE_SPLITS_SPLIT_JOBS_H_

#include <atomic>
#include <optional>

#include "absl/status/statusor.h"
#include "data/documents/pod_text.h"
#include "data/prepare/command/job.h"
#include "data/prepare/command/prepare_options.h"
#include "data/prepare/command/progress.h"

namespace trainyard::data {

struct SplitJobs {
  Job train;
  std::optional<Job> val;  // nullopt: a part of the text of `train` is used
};

// Finds the files of the inputs and of `val`. A file of `val` is never used for training, even if
// it is also an input, for example as part of a directory. Errors: those of FindInputFiles;
// InvalidArgument if no file is left for training. The arguments must outlive the jobs.
absl::StatusOr<SplitJobs> CreateSplitJobs(const PrepareOptions& options, Progress* progress,
                                          const std::atomic<bool>& cancelled, PodTexts* pods);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_SPLITS_SPLIT_JOBS_H_
