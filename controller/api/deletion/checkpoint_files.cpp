#include "controller/api/deletion/checkpoint_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "controller/api/deletion/directory_use.h"
#include "proto/contract/checkpoint_claim.h"
#include "proto/files/file_place.h"
#include "proto/files/normal_path.h"
#include "proto/support/durable_file.h"
#include "proto/support/guarded_path.h"
#include "proto/support/remove_tree.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;

// Limits on the entries and the directory depth that InspectCheckpoints counts per checkpoint.
constexpr int64_t kMaxEntriesCounted = 100'000;
constexpr int kMaxDepthCounted = 32;

// A checkpoint whose parent directories are open.
struct OpenCheckpoint {
  UniqueFd job;  // Directory of the job, directly below the root.
  std::string job_name;
  FilePlace job_place;
  UniqueFd parent;
  std::string name;
  FilePlace place;
};

absl::Status Missing(const std::string& path) {
  return absl::NotFoundError(absl::StrCat("the controller's machine cannot see ", path,
                                          "; if this directory exists on a node, remove it there"));
}

absl::StatusOr<OpenCheckpoint> Open(const std::string& path, const std::string& root) {
  const std::string normal_root = NormalPath(root);
  const std::string normal = NormalPath(path);
  absl::string_view below = normal;
  if (!absl::ConsumePrefix(&below, absl::StrCat(normal_root, "/")) ||
      !absl::StrContains(below, "/")) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is not below ", root));
  }
  OpenCheckpoint found;
  found.job_name = std::string(below.substr(0, below.find('/')));
  const std::string job_path = absl::StrCat(root, "/", found.job_name);
  const std::string rest(below.substr(found.job_name.size() + 1));
  const std::size_t slash = rest.rfind('/');
  found.name = slash == std::string::npos ? rest : rest.substr(slash + 1);
  const std::string above = slash == std::string::npos ? "" : rest.substr(0, slash);
  TRAINYARD_ASSIGN_OR_RETURN(found.job, OpenGuardedDirectory({root, found.job_name}));
  TRAINYARD_ASSIGN_OR_RETURN(found.parent, OpenGuardedDirectory(found.job, {job_path, above}));
  const std::optional<FilePlace> job = trainyard::PlaceOf(found.job.get(), "");
  if (!job.has_value()) return ErrnoStatus(errno, "cannot read", job_path);
  const std::optional<FilePlace> place = trainyard::PlaceOf(found.parent.get(), found.name.c_str());
  if (!place.has_value()) return ErrnoStatus(errno, "cannot read", path);
  found.job_place = *job;
  found.place = *place;
  if (place->IsLink()) return found;
  if (!place->IsDirectory()) {
    return absl::FailedPreconditionError(absl::StrCat(path, " is not a directory"));
  }
  if (place->IsOnMountOf(*job)) return found;
  return absl::FailedPreconditionError(
      absl::StrCat("another file system or directory is mounted at ", path, "; unmount it first"));
}

void ForEachName(int directory, const std::function<bool(const char*)>& visit) {
  UniqueFd copy(openat(directory, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> names(fdopendir(copy.get()), closedir);
  if (names == nullptr) return;
  copy.Release();
  while (const dirent* entry = readdir(names.get())) {
    const bool is_dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    if (!is_dots && !visit(entry->d_name)) return;
  }
}

// Returns the job id in the name of a claim file, or 0 if the name is not that of a claim file.
int64_t ClaimedBy(absl::string_view name) {
  int64_t job_id = 0;
  const bool is_claim = absl::ConsumePrefix(&name, kClaimPrefix) &&
                        absl::SimpleAtoi(name.substr(0, name.find('.')), &job_id);
  return is_claim ? job_id : 0;
}

// Checks the claim files that trainers write. A claim file reveals a job that uses the directory
// even if this machine cannot resolve the job's path.
absl::Status CheckUnclaimed(const OpenCheckpoint& checkpoint,
                            const std::vector<DirectoryOfJob>& others) {
  absl::Status status;
  ForEachName(checkpoint.job.get(), [&](const char* name) {
    const int64_t claim = ClaimedBy(name);
    const auto user = std::ranges::find(others, claim, &DirectoryOfJob::job_id);
    if (claim != 0 && user != others.end()) status = UsedBy(*user);
    return status.ok();
  });
  return status;
}

// Checks whether another job uses a checkpoint's directory. Caches the result for the latest
// directory, because a job's checkpoints usually share one directory.
class UseCheck {
 public:
  explicit UseCheck(const std::vector<DirectoryOfJob>& others) : others_(others) {}

  absl::Status Check(const OpenCheckpoint& checkpoint) {
    TRAINYARD_RETURN_IF_ERROR(CheckUnclaimed(checkpoint, others_));
    if (directory_ != checkpoint.job_place.identity) {
      status_ = CheckNoJobUses(checkpoint.job_place.identity, others_);
      directory_ = checkpoint.job_place.identity;
    }
    return status_;
  }

 private:
  const std::vector<DirectoryOfJob>& others_;
  std::optional<FileIdentity> directory_;
  absl::Status status_;
};

std::string TargetOf(const OpenCheckpoint& checkpoint) {
  char target[PATH_MAX];
  const ssize_t size =
      readlinkat(checkpoint.parent.get(), checkpoint.name.c_str(), target, sizeof(target));
  return size < 0 ? "" : std::string(target, static_cast<std::size_t>(size));
}

// Counts the files below the directory. Does not follow links and does not enter mounts.
void Count(int parent, const char* name, int depth, v1::RemovableCheckpoint& total) {
  const UniqueFd directory(openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const std::optional<FilePlace> place = trainyard::PlaceOf(directory.get(), "");
  if (!directory.valid() || !place.has_value()) return;
  ForEachName(directory.get(), [&](const char* entry) {
    if (total.entries() >= kMaxEntriesCounted) {
      total.set_more(true);
      return false;
    }
    total.set_entries(total.entries() + 1);
    const std::optional<FilePlace> below = trainyard::PlaceOf(directory.get(), entry);
    if (!below.has_value() || !below->IsOnMountOf(*place)) return true;
    struct stat info {};
    if (S_ISREG(below->mode) && fstatat(directory.get(), entry, &info, AT_SYMLINK_NOFOLLOW) == 0) {
      total.set_bytes(total.bytes() + info.st_size);
    }
    if (!below->IsDirectory()) return true;
    if (depth < kMaxDepthCounted) {
      Count(directory.get(), entry, depth + 1, total);
    } else {
      total.set_more(true);
    }
    return true;
  });
}

absl::StatusOr<v1::RemovableCheckpoint> Inspect(const std::string& path, const std::string& root,
                                                UseCheck& use) {
  TRAINYARD_ASSIGN_OR_RETURN(const OpenCheckpoint found, Open(path, root));
  TRAINYARD_RETURN_IF_ERROR(use.Check(found));
  v1::RemovableCheckpoint removable;
  removable.set_path(path);
  std::error_code error;
  const fs::path real_root = fs::canonical(root, error);
  const std::string below = NormalPath(path).substr(NormalPath(root).size());
  removable.set_real_path(error ? path : absl::StrCat(real_root.string(), below));
  if (found.place.IsLink()) {
    removable.set_link_target(TargetOf(found));
    removable.set_entries(1);
  } else {
    Count(found.parent.get(), found.name.c_str(), 0, removable);
  }
  return removable;
}

// The manifest is removed before the other files, so that a partly removed checkpoint is not valid.
void RemoveManifest(const OpenCheckpoint& checkpoint) {
  const UniqueFd directory(openat(checkpoint.parent.get(), checkpoint.name.c_str(),
                                  O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  const std::optional<FilePlace> place = trainyard::PlaceOf(directory.get(), "");
  if (!directory.valid() || !place.has_value()) return;
  if (place->IsOnMountOf(checkpoint.job_place)) unlinkat(directory.get(), "manifest.json", 0);
}

}  // namespace

std::vector<v1::RemovableCheckpoint> InspectCheckpoints(const std::string& root,
                                                        const std::vector<DirectoryOfJob>& others,
                                                        CheckpointsOfDeletion& sorted) {
  std::vector<v1::RemovableCheckpoint> removable;
  std::vector<std::string> paths;
  UseCheck use(others);
  for (std::string& path : sorted.removable) {
    absl::StatusOr<v1::RemovableCheckpoint> found = Inspect(path, root, use);
    if (found.ok()) {
      removable.push_back(*std::move(found));
      paths.push_back(std::move(path));
      continue;
    }
    v1::KeptCheckpoint& kept = sorted.kept.emplace_back();
    kept.set_reason(Text(absl::IsNotFound(found.status()) ? Missing(path) : found.status()));
    kept.set_path(std::move(path));
  }
  sorted.removable = std::move(paths);
  return removable;
}

absl::Status RemoveCheckpoint(const std::string& path, const std::string& root,
                              const std::vector<DirectoryOfJob>& others) {
  const absl::StatusOr<OpenCheckpoint> found = Open(path, root);
  if (absl::IsNotFound(found.status())) return absl::OkStatus();
  if (absl::IsFailedPrecondition(found.status())) return found.status();
  if (!found.ok()) return absl::UnavailableError(Text(found.status()));
  TRAINYARD_RETURN_IF_ERROR(UseCheck(others).Check(*found));
  if (found->place.IsDirectory()) RemoveManifest(*found);
  const absl::Status removed = RemoveTreeAt(found->parent.get(), found->name, path);
  if (!removed.ok()) return absl::UnavailableError(Text(removed));
  // The removal of the job's directory below is expected to fail while the directory still contains
  // other checkpoints.
  const UniqueFd above(open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  unlinkat(above.get(), found->job_name.c_str(), AT_REMOVEDIR);
  return absl::OkStatus();
}

}  // namespace trainyard::controller
