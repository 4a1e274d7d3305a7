#include "data/pipeline/pipeline_directory.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "data/pipeline/step_pass.h"
#include "data/stages/file_status.h"
#include "data/stages/run_directory.h"
#include "proto/files/remove_tree.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

// Removes what a killed process has left: scratch files and unpublished data sets.
void RemoveLeftovers(const Pipeline& pipeline) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(pipeline.out + "/.work", error)) {
    const bool is_scratch = entry.path().filename().string().find("-scratch-") != std::string::npos;
    if (is_scratch) (void)RemoveEntry(entry.path().string());
  }
  for (const auto& entry : fs::directory_iterator(pipeline.out, error)) {
    const std::string name = entry.path().filename().string();
    for (const PipelineStep& step : pipeline.steps) {
      if (name.starts_with(step.name + ".tmp-")) (void)RemoveEntry(entry.path().string());
    }
  }
}

absl::Status FailedTo(const std::string& action, int error) {
  return ToStatus(FileError{error, "cannot " + action});
}

}  // namespace

std::string PipelineDirectory::KeysOf(const Pipeline& pipeline) { return pipeline.out + "/.work"; }

absl::StatusOr<std::unique_ptr<PipelineDirectory>> PipelineDirectory::Open(
    const Pipeline& pipeline) {
  TRAINYARD_RETURN_IF_ERROR(CheckOutsideInputs(pipeline.out, PathsOf(pipeline)));
  std::error_code error;
  fs::create_directories(pipeline.out, error);
  if (error) return FailedTo("create " + pipeline.out, error.value());
  const std::string path = pipeline.out + "/.pipeline";
  if (!fs::exists(path, error) && !fs::is_empty(pipeline.out, error)) {
    return absl::AlreadyExistsError(pipeline.out +
                                    " contains files of other programs; choose another `out`");
  }
  UniqueFd lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!lock.valid()) return FailedTo("open " + path, errno);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return FailedTo("lock " + path, errno);
    return absl::FailedPreconditionError(pipeline.out +
                                         " is in use by another process; wait until it ends, or "
                                         "choose another `out`");
  }
  fs::create_directories(pipeline.out + "/.work", error);
  if (error) return FailedTo("create " + pipeline.out + "/.work", error.value());
  RemoveLeftovers(pipeline);
  return std::unique_ptr<PipelineDirectory>(new PipelineDirectory(std::move(lock)));
}

}  // namespace trainyard::data
