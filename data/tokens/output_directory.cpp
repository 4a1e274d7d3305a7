#include "data/tokens/output_directory.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "data/tokens/dataset_description.h"
#include "proto/files/durable_file.h"
#include "proto/files/remove_tree.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

absl::Status CannotCreate(const std::string& path, int error) {
  const std::string message = "cannot create " + path + ": " + std::strerror(error);
  if (error == ENOSPC || error == EDQUOT) return absl::ResourceExhaustedError(message);
  return absl::InternalError(message);
}

absl::Status Sync(const std::string& directory) {
  const FileResult failed = SyncDirectory(directory);
  return failed.has_value() ? CannotCreate(directory, failed->number) : absl::OkStatus();
}

// True for a directory written by `data prepare` or `data mix`. --force replaces only such
// directories, so that a typing error cannot delete a home directory.
bool HoldsDataSet(const fs::path& path) {
  std::error_code error;
  if (fs::exists(path / kMixFile, error) && fs::exists(path / "data.yaml", error)) return true;
  if (fs::exists(path / "train.bin", error) && fs::exists(path / "train.json", error)) return true;
  return fs::exists(path / kDatasetFile, error) && ReadDescription(path.string()).ok();
}

absl::Status CheckTarget(const std::string& target, bool replace) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(target, error);
  if (!fs::exists(status)) return absl::OkStatus();
  if (fs::is_directory(status) && fs::is_empty(target, error)) return absl::OkStatus();
  if (!fs::is_directory(status) || !HoldsDataSet(target)) {
    return absl::AlreadyExistsError(
        target + " exists and is not a data set; choose another directory with --out");
  }
  if (replace) return absl::OkStatus();
  return absl::AlreadyExistsError(
      target + " has an earlier result; replace it with --force, or choose another directory");
}

}  // namespace

absl::StatusOr<std::unique_ptr<OutputDirectory>> OutputDirectory::Create(const std::string& target,
                                                                         bool replace) {
  std::error_code error;
  fs::path absolute = fs::absolute(target, error).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  TRAINYARD_RETURN_IF_ERROR(CheckTarget(absolute.string(), replace));
  fs::create_directories(absolute.parent_path(), error);
  if (error) return CannotCreate(absolute.parent_path().string(), error.value());
  std::string path = absolute.string() + ".tmp-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return CannotCreate(path, errno);
  chmod(path.c_str(), 0755);  // mkdtemp sets 0700, which hides the data from jobs of other users
  return std::unique_ptr<OutputDirectory>(new OutputDirectory(absolute.string(), path, replace));
}

// After Publish, path_ names the old data set if one was replaced, and otherwise nothing.
OutputDirectory::~OutputDirectory() { (void)RemoveEntry(path_); }

absl::Status OutputDirectory::Publish() {
  // Sync the directory, so that the file names are durable. OutputFile::Close has already synced
  // the contents.
  TRAINYARD_RETURN_IF_ERROR(Sync(path_));
  // Check again, because preparing the data may have taken hours.
  TRAINYARD_RETURN_IF_ERROR(CheckTarget(target_, replace_));
  if (replace_) {
    const FileResult failed = ReplaceDirectory(path_, target_);
    if (failed.has_value()) return CannotCreate(target_, failed->number);
  } else if (rename(path_.c_str(), target_.c_str()) != 0) {
    return CannotCreate(target_, errno);
  }
  return Sync(fs::path(target_).parent_path().string());
}

}  // namespace trainyard::data
