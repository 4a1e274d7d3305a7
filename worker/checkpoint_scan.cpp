#include "worker/checkpoint_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/support/durable_file.h"
#include "proto/support/remove_tree.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

using Parts = std::vector<std::string>;

int64_t ModifiedNs(const struct stat& info) {
  return info.st_mtim.tv_sec * int64_t{1'000'000'000} + info.st_mtim.tv_nsec;
}

bool Matches(const std::string& pattern, const std::string& name) {
  return fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0;
}

UniqueFd OpenDirectory(int parent, const std::string& name) {
  return UniqueFd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// One walk over a directory.
class Walk {
 public:
  Walk(const Parts& parts, const std::function<bool(const std::string&)>& is_recorded, dev_t device)
      : parts_(parts), is_recorded_(is_recorded), device_(device) {}

  absl::Status Find(const UniqueFd& directory, const std::string& prefix, std::size_t part) {
    const bool is_last = part + 1 == parts_.size();
    return ForEach(directory, [&](const std::string& name, const struct stat& info) {
      if (!Matches(parts_[part], name)) return absl::OkStatus();
      const std::string path = absl::StrCat(prefix, name);
      if (is_last) return Add(directory, name, path, info);
      if (!S_ISDIR(info.st_mode)) return absl::OkStatus();
      const UniqueFd below = OpenDirectory(directory.get(), name);
      // The program has just removed the directory.
      if (!below.valid()) return absl::OkStatus();
      return Find(below, absl::StrCat(path, "/"), part + 1);
    });
  }

  std::vector<WatchedEntry> TakeEntries() { return std::move(entries_); }

 private:
  using Visit = std::function<absl::Status(const std::string& name, const struct stat& info)>;

  absl::Status ForEach(const UniqueFd& directory, const Visit& visit) {
    UniqueFd copy = OpenDirectory(directory.get(), ".");
    const std::unique_ptr<DIR, int (*)(DIR*)> names(fdopendir(copy.get()), closedir);
    if (names == nullptr) return absl::UnavailableError(std::strerror(errno));
    copy.Release();
    errno = 0;
    while (const dirent* entry = readdir(names.get())) {
      const std::string name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (++names_ > CheckpointScan::kMostNames) {
        return absl::ResourceExhaustedError(
            absl::StrCat("more than ", CheckpointScan::kMostNames,
                         " files were read; write the checkpoints to a separate directory, or "
                         "remove old ones"));
      }
      struct stat info {};
      const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
      const bool is_here = fstatat(directory.get(), name.c_str(), &info, flags) == 0;
      if (is_here && info.st_dev == device_) TRAINYARD_RETURN_IF_ERROR(visit(name, info));
      errno = 0;
    }
    return errno == 0 ? absl::OkStatus() : absl::UnavailableError(std::strerror(errno));
  }

  absl::Status Add(const UniqueFd& parent, const std::string& name, const std::string& path,
                   const struct stat& info) {
    if (IsTemporaryName(name)) return absl::OkStatus();
    WatchedEntry entry;
    entry.path = path;
    entry.own_modified_ns = entry.modified_ns = ModifiedNs(info);
    if (S_ISREG(info.st_mode)) {
      entry.bytes = info.st_size;
    } else if (!S_ISDIR(info.st_mode)) {
      return absl::OkStatus();
    } else if (is_recorded_(path)) {
      entry.unmeasured = true;
    } else {
      TRAINYARD_RETURN_IF_ERROR(Measure(OpenDirectory(parent.get(), name), 0, entry));
    }
    entries_.push_back(std::move(entry));
    return absl::OkStatus();
  }

  absl::Status Measure(const UniqueFd& directory, int level, WatchedEntry& entry) {
    if (!directory.valid() || level >= CheckpointScan::kMostLevels) {
      entry.in_progress = true;
      return absl::OkStatus();
    }
    return ForEach(directory, [&](const std::string& name, const struct stat& info) {
      entry.in_progress |= IsTemporaryName(name);
      entry.modified_ns = std::max(entry.modified_ns, ModifiedNs(info));
      if (S_ISREG(info.st_mode)) entry.bytes += info.st_size;
      if (!S_ISDIR(info.st_mode)) return absl::OkStatus();
      return Measure(OpenDirectory(directory.get(), name), level + 1, entry);
    });
  }

  const Parts& parts_;
  const std::function<bool(const std::string&)>& is_recorded_;
  const dev_t device_;
  int64_t names_ = 0;
  std::vector<WatchedEntry> entries_;
};

}  // namespace

bool IsTemporaryName(const std::string& name) {
  static constexpr const char* kEndings[] = {".tmp",     ".temp",       ".part", ".partial",
                                             ".writing", ".incomplete", ".lock", "~"};
  static constexpr const char* kBeginnings[] = {"tmp-", "tmp_", "tmp."};
  const auto ends = [&](const char* ending) { return absl::EndsWith(name, ending); };
  const auto begins = [&](const char* beginning) { return absl::StartsWith(name, beginning); };
  // Names such as ".a.pt.x7Kq" of rsync and ".metadata" of PyTorch differ in the second dot.
  const bool is_hidden_copy = name[0] == '.' && name.find('.', 1) != std::string::npos;
  return is_hidden_copy || std::ranges::any_of(kEndings, ends) ||
         std::ranges::any_of(kBeginnings, begins) || absl::StrContains(name, ".tmp.");
}

void MarkWritten(const std::set<std::string>& written, std::vector<WatchedEntry>& entries) {
  for (WatchedEntry& entry : entries) {
    const std::string below = absl::StrCat(entry.path, "/");
    const auto first = written.lower_bound(below);
    const bool contains = first != written.end() && absl::StartsWith(*first, below);
    if (contains || written.contains(entry.path)) entry.in_progress = true;
  }
}

CheckpointScan::CheckpointScan(std::string directory, const std::string& pattern)
    : directory_(std::move(directory)), parts_(absl::StrSplit(pattern, '/')) {}

absl::StatusOr<UniqueFd> CheckpointScan::Open() const {
  UniqueFd fd(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, "cannot read", directory_);
  return fd;
}

absl::StatusOr<std::vector<WatchedEntry>> CheckpointScan::Find(
    const std::function<bool(const std::string& path)>& is_recorded) const {
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd root, Open());
  struct stat info {};
  if (fstat(root.get(), &info) != 0) return ErrnoStatus(errno, "cannot read", directory_);
  Walk walk(parts_, is_recorded, info.st_dev);
  const absl::Status status = walk.Find(root, "", 0);
  if (!status.ok()) {
    return absl::Status(status.code(),
                        absl::StrCat("cannot watch ", directory_, ": ", status.message()));
  }
  return walk.TakeEntries();
}

absl::Status CheckpointScan::Remove(const std::string& path) const {
  const Parts names = absl::StrSplit(path, '/');
  bool matches = names.size() == parts_.size();
  for (std::size_t i = 0; matches && i < names.size(); ++i) matches = Matches(parts_[i], names[i]);
  if (!matches) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, " does not match checkpoint.watch and is kept"));
  }
  TRAINYARD_ASSIGN_OR_RETURN(UniqueFd parent, Open());
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    parent = OpenDirectory(parent.get(), names[i]);
    if (!parent.valid()) return ErrnoStatus(errno, "cannot open the directory of", path);
  }
  return RemoveTreeAt(parent.get(), names.back(), absl::StrCat(directory_, "/", path));
}

std::string CheckpointScan::RealDirectory() const {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(directory_, error);
  return error ? "" : real.string();
}

}  // namespace trainyard::worker
