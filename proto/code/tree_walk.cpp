#include "proto/code/tree_walk.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/code/directory_names.h"
#include "proto/code/ignore_rules.h"
#include "proto/code/size_text.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::code {
namespace {

// Limits of a walk, so that it ends soon in a large directory.
constexpr int kMaxDepth = 100;
constexpr std::size_t kMaxFound = 200'000;
constexpr int64_t kMaxCountedLeftOut = 20'000;
constexpr std::size_t kMaxIgnoreFileBytes = 1 << 20;
constexpr std::size_t kNamedFiles = 3;

// Opens a directory without following a link in the last component. nullptr on failure.
OpenedDirectory OpenDirectory(int parent, const std::string& name) {
  UniqueFd fd(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) return nullptr;
  OpenedDirectory directory(fdopendir(fd.get()));
  if (directory != nullptr) fd.Release();
  return directory;
}

std::string Joined(const std::string& directory, const std::string& name) {
  return directory.empty() ? name : absl::StrCat(directory, "/", name);
}

class Walk {
 public:
  Walk(const std::string& root, const WalkOptions& options) : root_(root), options_(options) {}

  absl::StatusOr<FoundTree> Run();

 private:
  absl::Status WalkRoot(DIR* root);
  absl::Status WalkDirectory(DIR* directory, const std::string& path, int depth);
  absl::Status WalkEntry(DIR* parent, const std::string& path, const std::string& name, int depth);
  absl::Status Enter(DIR* parent, const std::string& path, const std::string& name, int depth);
  absl::Status AppendIgnoreFile(DIR* directory, const std::string& path, const char* name);
  bool Ignores(const std::string& path, bool is_directory) const;
  absl::Status AddFile(const std::string& path, const struct stat& info);
  absl::Status AddLink(DIR* parent, const std::string& path, const std::string& name,
                       const struct stat& info);
  void LeaveOut(DIR* parent, const std::string& path, const std::string& name,
                const struct stat& info);
  void CountLeftOut(DIR* parent, const std::string& name, int depth, LeftOut& left_out);
  absl::Status CheckLimits() const;

  const std::string root_;
  const WalkOptions& options_;
  IgnoreRules rules_;
  // Rules of the user's list, which apply after those of all files.
  IgnoreRules last_rules_;
  bool reads_gitignore_ = true;
  bool full_ = false;  // True if kMaxFound was reached.
  int64_t bytes_ = 0;
  int64_t counted_ = 0;
  FoundTree found_;
};

absl::StatusOr<FoundTree> Walk::Run() {
  UniqueFd fd(open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  OpenedDirectory directory(fd.valid() ? fdopendir(fd.get()) : nullptr);
  if (directory == nullptr) return ErrnoStatus(errno, "cannot read the code directory", root_);
  fd.Release();
  TRAINYARD_RETURN_IF_ERROR(WalkRoot(directory.get()));
  TRAINYARD_RETURN_IF_ERROR(CheckLimits());
  std::sort(found_.files.begin(), found_.files.end(),
            [](const FoundFile& one, const FoundFile& other) { return one.path < other.path; });
  std::sort(found_.left_out.begin(), found_.left_out.end(),
            [](const LeftOut& one, const LeftOut& other) { return one.bytes > other.bytes; });
  if (found_.left_out.size() > kMaxLeftOut) found_.left_out.resize(kMaxLeftOut);
  return std::move(found_);
}

absl::Status Walk::WalkRoot(DIR* root) {
  // Bytecode changes with each run of a program, although the program is the same.
  TRAINYARD_RETURN_IF_ERROR(rules_.Append("__pycache__/", "", ""));
  TRAINYARD_RETURN_IF_ERROR(
      last_rules_.Append(absl::StrJoin(options_.ignore, "\n"), "", "code.ignore"));
  const std::size_t count = rules_.size();
  struct stat info {};
  if (fstatat(dirfd(root), kIgnoreFile, &info, 0) == 0) {
    reads_gitignore_ = false;
    TRAINYARD_RETURN_IF_ERROR(AppendIgnoreFile(root, "", kIgnoreFile));
  }
  TRAINYARD_RETURN_IF_ERROR(WalkDirectory(root, "", 0));
  rules_.Truncate(count);
  return absl::OkStatus();
}

absl::Status Walk::AppendIgnoreFile(DIR* directory, const std::string& path, const char* name) {
  const std::string file = Joined(path, name);
  UniqueFd fd(openat(dirfd(directory), name, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid() && errno == ENOENT) return absl::OkStatus();
  if (!fd.valid()) return ErrnoStatus(errno, "cannot read", file);
  TRAINYARD_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(fd, file, kMaxIgnoreFileBytes));
  return rules_.Append(text, path, file);
}

absl::Status Walk::WalkDirectory(DIR* directory, const std::string& path, int depth) {
  const std::size_t rules = rules_.size();
  if (reads_gitignore_) {
    TRAINYARD_RETURN_IF_ERROR(AppendIgnoreFile(directory, path, ".gitignore"));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                             NamesIn(directory, Joined(root_, path)));
  for (const std::string& name : names) {
    if (name == ".git") continue;
    if (found_.files.size() >= kMaxFound) full_ = true;
    if (full_) break;
    TRAINYARD_RETURN_IF_ERROR(WalkEntry(directory, path, name, depth));
  }
  rules_.Truncate(rules);
  return absl::OkStatus();
}

bool Walk::Ignores(const std::string& path, bool is_directory) const {
  const std::optional<bool> last = last_rules_.Decide(path, is_directory);
  return last.value_or(rules_.Decide(path, is_directory).value_or(false));
}

absl::Status Walk::WalkEntry(DIR* parent, const std::string& directory, const std::string& name,
                             int depth) {
  const std::string path = Joined(directory, name);
  struct stat info {};
  if (fstatat(dirfd(parent), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return absl::OkStatus();  // Removed since it was listed.
    return ErrnoStatus(errno, "cannot read", Joined(root_, path));
  }
  const bool is_directory = S_ISDIR(info.st_mode);
  const bool is_code = is_directory || S_ISREG(info.st_mode) || S_ISLNK(info.st_mode);
  if (!is_code || Ignores(path, is_directory)) {
    LeaveOut(parent, path, name, info);
    return absl::OkStatus();
  }
  if (const auto problem = PathProblem(path)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot put ", absl::CHexEscape(path), " into the code snapshot: ", *problem,
                     "; rename it, or exclude it with ", kIgnoreFile));
  }
  if (is_directory) return Enter(parent, path, name, depth);
  if (S_ISLNK(info.st_mode)) return AddLink(parent, path, name, info);
  return AddFile(path, info);
}

absl::Status Walk::Enter(DIR* parent, const std::string& path, const std::string& name, int depth) {
  if (depth >= kMaxDepth) {
    return absl::InvalidArgumentError(absl::StrCat("the code directory has more than ", kMaxDepth,
                                                   " levels at ", path, "; exclude it with ",
                                                   kIgnoreFile));
  }
  const OpenedDirectory directory = OpenDirectory(dirfd(parent), name);
  if (directory != nullptr) return WalkDirectory(directory.get(), path, depth + 1);
  const int error = errno;
  return ErrnoStatus(error, absl::StrCat("cannot read (exclude it with ", kIgnoreFile, ")"),
                     Joined(root_, path));
}

absl::Status Walk::AddFile(const std::string& path, const struct stat& info) {
  found_.files.push_back({
      .path = path,
      .kind = (info.st_mode & S_IXUSR) != 0 ? FileKind::kExecutable : FileKind::kFile,
      .bytes = info.st_size,
      .modified_ns = NanosecondsOf(info.st_mtim),
      .changed_ns = NanosecondsOf(info.st_ctim),
      .inode = info.st_ino,
  });
  bytes_ += info.st_size;
  return absl::OkStatus();
}

absl::Status Walk::AddLink(DIR* parent, const std::string& path, const std::string& name,
                           const struct stat& info) {
  std::string target(kMaxTargetBytes + 1, '\0');
  const ssize_t bytes = readlinkat(dirfd(parent), name.c_str(), target.data(), target.size());
  if (bytes < 0) return ErrnoStatus(errno, "cannot read the link", Joined(root_, path));
  target.resize(static_cast<std::size_t>(bytes));
  if (!StaysInTree(path, target)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the link ", path, " leads out of the code directory, to ",
                     absl::CHexEscape(target.substr(0, 200)),
                     "; replace it with a file, or exclude it with ", kIgnoreFile));
  }
  found_.files.push_back({.path = path,
                          .kind = FileKind::kLink,
                          .bytes = bytes,
                          .modified_ns = NanosecondsOf(info.st_mtim),
                          .changed_ns = NanosecondsOf(info.st_ctim),
                          .inode = info.st_ino,
                          .target = std::move(target)});
  bytes_ += bytes;
  return absl::OkStatus();
}

void Walk::LeaveOut(DIR* parent, const std::string& path, const std::string& name,
                    const struct stat& info) {
  LeftOut left_out{.path = path};
  if (S_ISDIR(info.st_mode)) {
    left_out.path += "/";
    CountLeftOut(parent, name, 0, left_out);
  } else {
    left_out.files = 1;
    left_out.bytes = S_ISREG(info.st_mode) ? info.st_size : 0;
  }
  found_.left_out_files += left_out.files;
  found_.left_out_bytes += left_out.bytes;
  found_.left_out.push_back(std::move(left_out));
}

// Adds the files of an ignored directory to `left_out`. Skips directories that cannot be read.
void Walk::CountLeftOut(DIR* parent, const std::string& name, int depth, LeftOut& left_out) {
  const OpenedDirectory directory = OpenDirectory(dirfd(parent), name);
  if (directory == nullptr || depth >= kMaxDepth) {
    found_.left_out_more = true;
    return;
  }
  while (const dirent* entry = readdir(directory.get())) {
    const std::string child = entry->d_name;
    struct stat info {};
    if (child == "." || child == "..") continue;
    if (++counted_ > kMaxCountedLeftOut) {
      found_.left_out_more = true;
      return;
    }
    if (fstatat(dirfd(directory.get()), child.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (S_ISDIR(info.st_mode)) {
      CountLeftOut(directory.get(), child, depth + 1, left_out);
    } else {
      ++left_out.files;
      left_out.bytes += S_ISREG(info.st_mode) ? info.st_size : 0;
    }
  }
}

absl::Status Walk::CheckLimits() const {
  std::string problem;
  if (full_ || static_cast<int64_t>(found_.files.size()) > options_.max_files) {
    problem = absl::StrCat(full_ ? "more than " : "", GroupedNumber(found_.files.size()),
                           " files, more than the ", GroupedNumber(options_.max_files),
                           " of code.max_files");
  } else if (bytes_ > options_.max_bytes) {
    problem = absl::StrCat(DecimalSize(bytes_), ", more than the ", DecimalSize(options_.max_bytes),
                           " of code.max_size");
  }
  if (problem.empty()) return absl::OkStatus();
  std::vector<FoundFile> largest(std::min(kNamedFiles, found_.files.size()));
  std::partial_sort_copy(
      found_.files.begin(), found_.files.end(), largest.begin(), largest.end(),
      [](const FoundFile& one, const FoundFile& other) { return one.bytes > other.bytes; });
  const std::string names =
      absl::StrJoin(largest, ", ", [](std::string* out, const FoundFile& file) {
        absl::StrAppend(out, file.path, " ", DecimalSize(file.bytes));
      });
  return absl::ResourceExhaustedError(
      absl::StrCat("the code directory ", root_, " has ", problem, "; the largest files are ",
                   names, ". Exclude data with ", kIgnoreFile, ", or raise the limit"));
}

}  // namespace

absl::StatusOr<FoundTree> WalkTree(const std::string& root, const WalkOptions& options) {
  return Walk(root, options).Run();
}

}  // namespace trainyard::code
