#include "controller/api/checkpoint_files.h"

#include <filesystem>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "proto/support/remove_tree.h"
#include "proto/support/status_text.h"

namespace trainyard::controller {
namespace fs = std::filesystem;

void KeepUnseen(CheckpointsOfDeletion& sorted) {
  std::vector<std::string> seen;
  for (std::string& path : sorted.removable) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
      seen.push_back(std::move(path));
      continue;
    }
    v1::KeptCheckpoint& kept = sorted.kept.emplace_back();
    kept.set_path(std::move(path));
    kept.set_reason("the controller's machine does not see it; remove it on a node if it is there");
  }
  sorted.removable = std::move(seen);
}

absl::Status RemoveCheckpoint(const std::string& path, const std::string& root) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) return absl::OkStatus();
  const fs::path real_root = fs::canonical(root, error);
  if (error) return absl::UnavailableError(absl::StrCat(root, ": ", error.message()));
  const fs::path real_path = fs::canonical(path, error);
  if (error) return absl::UnavailableError(absl::StrCat(path, ": ", error.message()));
  if (!absl::StartsWith(real_path.string(), absl::StrCat(real_root.string(), "/"))) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " leads to ", real_path.string(), ", outside ", root, "; it stays"));
  }
  fs::remove(real_path / "manifest.json", error);
  if (error) return absl::UnavailableError(absl::StrCat(path, ": ", error.message()));
  const absl::Status removed = RemoveTree(real_path.string());
  if (!removed.ok()) return absl::UnavailableError(Text(removed));
  // Fails while other checkpoints are there, as it should.
  fs::remove(fs::path(path).parent_path(), error);
  return absl::OkStatus();
}

}  // namespace trainyard::controller
