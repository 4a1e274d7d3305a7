// The directory of a pipeline.
#ifndef TRAINYARD_DATA_PIPELINE_PIPELINE_DIRECTORY_H_
#define TRAINYARD_DATA_PIPELINE_PIPELINE_DIRECTORY_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "data/pipeline/pipeline.h"
#include "proto/files/unique_fd.h"

namespace trainyard::data {

// Contains a directory per step, `.work` with the parts of unfinished steps, and `.pipeline`, which
// identifies the directory and is locked while a run uses it. The lock ends with the process.
class PipelineDirectory {
 public:
  // Creates the directory, or locks the existing one. Returns FailedPrecondition if another process
  // uses it. Returns AlreadyExists if it contains other files. Returns InvalidArgument if it
  // overlaps with an input.
  static absl::StatusOr<std::unique_ptr<PipelineDirectory>> Open(const Pipeline& pipeline);
  // Returns LeaseServerSettings::key_directory.
  static std::string KeysOf(const Pipeline& pipeline);

 private:
  explicit PipelineDirectory(UniqueFd lock) : lock_(std::move(lock)) {}

  const UniqueFd lock_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_PIPELINE_DIRECTORY_H_
