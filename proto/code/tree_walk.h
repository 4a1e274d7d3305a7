// Lists the files of a directory that belong to a code snapshot.
#ifndef TRAINYARD_PROTO_CODE_TREE_WALK_H_
#define TRAINYARD_PROTO_CODE_TREE_WALK_H_

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/code/manifest.h"

namespace trainyard::code {

// The ignore file of snapshots. If the root contains it, .gitignore files are not read.
inline constexpr char kIgnoreFile[] = ".trainyardignore";

struct WalkOptions {
  int64_t max_bytes = 100'000'000;
  int64_t max_files = 20'000;
  // Patterns that apply after those of the ignore files.
  std::vector<std::string> ignore;
};

// A file as found by a walk. The values other than the path show later whether it has changed.
struct FoundFile {
  std::string path;
  FileKind kind = FileKind::kFile;
  int64_t bytes = 0;
  int64_t modified_ns = 0;
  int64_t changed_ns = 0;  // ctime. Programs cannot set it.
  uint64_t inode = 0;
  std::string target;  // Empty unless the file is a link.
};

inline int64_t NanosecondsOf(const timespec& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// A file or directory that is not in the snapshot.
struct LeftOut {
  std::string path;  // With a trailing slash for a directory.
  int64_t files = 0;
  int64_t bytes = 0;
};

struct FoundTree {
  std::vector<FoundFile> files;   // Sorted by path.
  std::vector<LeftOut> left_out;  // The largest kMaxLeftOut, largest first. Without .git.
  int64_t left_out_files = 0;
  int64_t left_out_bytes = 0;
  // True if ignored directories have more files than were counted.
  bool left_out_more = false;
};

inline constexpr std::size_t kMaxLeftOut = 10;

// Lists regular files and links below `root`. Leaves out .git, ignored files, and other kinds of
// files. Follows no links. Errors are one line with the cause and the next step:
// RESOURCE_EXHAUSTED: the tree exceeds a limit; the message names the three largest files.
// INVALID_ARGUMENT: a link leads out of the tree, a name is not UTF-8, or an ignore file is not
// valid. NOT_FOUND: `root` is not a directory.
absl::StatusOr<FoundTree> WalkTree(const std::string& root, const WalkOptions& options);

}  // namespace trainyard::code

#endif  // TRAINYARD_PROTO_CODE_TREE_WALK_H_
