#include "data/prepare/splits/split_jobs.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

// Files of plain text are held out whole only if the validation split is expected to have at least
// this many files of their size. Otherwise a few long files would decide its size.
constexpr double kHeldOutFiles = 20;
// Less than a block, so that one block contains the whole file.
constexpr double kWholeBytesMax = 512 << 10;

size_t WholeBytes(const Job& job, double val_fraction) {
  const double expected = val_fraction * static_cast<double>(TextBytes(job.files));
  return static_cast<size_t>(std::min(kWholeBytesMax, expected / kHeldOutFiles));
}

fs::path CanonicalPath(const InputFile& file) {
  std::error_code error;
  return fs::canonical(file.path, error);
}

// Removes the files of `val` from `inputs`.
void RemoveHeldOut(const std::vector<InputFile>& val, std::vector<InputFile>* inputs) {
  std::set<fs::path> held_out;
  for (const InputFile& file : val) held_out.insert(CanonicalPath(file));
  std::erase_if(*inputs,
                [&](const InputFile& file) { return held_out.contains(CanonicalPath(file)); });
}

std::string FilesText(const Job& job) {
  return ReadableCount(static_cast<int64_t>(job.files.size())) + " files, " +
         ReadableBytes(job.bytes);
}

}  // namespace

absl::StatusOr<SplitJobs> CreateSplitJobs(const PrepareOptions& options, Progress* progress,
                                          const std::atomic<bool>& cancelled, PodTexts* pods) {
  if (options.val.empty()) {
    TRAINYARD_ASSIGN_OR_RETURN(Job job, Job::Create(options, progress, cancelled, pods));
    job.whole_bytes = WholeBytes(job, options.val_fraction);
    return SplitJobs{std::move(job), std::nullopt};
  }
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<InputFile> inputs, FindInputFiles(options.inputs));
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<InputFile> val, FindInputFiles(options.val));
  RemoveHeldOut(val, &inputs);
  if (inputs.empty()) {
    return absl::InvalidArgumentError(
        "all inputs are also files of --val, which are not used for training; add inputs, or use "
        "--val-fraction");
  }
  SplitJobs jobs = {Job::Of(std::move(inputs), options, progress, cancelled, pods),
                    Job::Of(std::move(val), options, progress, cancelled, pods)};
  progress->PrintLine("training on " + FilesText(jobs.train) + "; validating on " +
                      FilesText(*jobs.val));
  return jobs;
}

}  // namespace trainyard::data
