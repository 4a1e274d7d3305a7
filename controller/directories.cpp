#include "controller/directories.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "proto/jobspec/fields/reader.h"

namespace trainyard::controller {

absl::StatusOr<std::string> AbsolutePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  if (error) return absl::InvalidArgumentError(absl::StrCat(path, ": ", error.message()));
  return absolute.lexically_normal().string();
}

absl::StatusOr<std::string> CheckpointRoot(const ControllerOptions& options) {
  return AbsolutePath(options.checkpoint_root.empty() ? options.data_dir + "/checkpoints"
                                                      : options.checkpoint_root);
}

std::vector<std::string> RecipeDirectories() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::vector<std::string>() : RecipeDirectoriesOf(program.parent_path().string());
}

}  // namespace trainyard::controller
