// The manifest of a code snapshot: the files of a directory tree with their contents by digest. The
// digest of the manifest's text is the id of the snapshot, so equal trees have equal ids.
#ifndef TRAINYARD_PROTO_CODE_MANIFEST_H_
#define TRAINYARD_PROTO_CODE_MANIFEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainyard::code {

// Limits that no setting can exceed.
inline constexpr int64_t kMaxSnapshotFiles = 50'000;
inline constexpr int64_t kMaxSnapshotBytes = int64_t{1} << 30;
inline constexpr std::size_t kMaxPathBytes = 1024;
inline constexpr std::size_t kMaxTargetBytes = 1024;

enum class FileKind { kFile, kExecutable, kLink };

struct CodeFile {
  std::string path;  // Relative to the root, without "." and "..".
  FileKind kind = FileKind::kFile;
  int64_t bytes = 0;  // A link has the length of its target.
  // Digests of the pieces (kPieceBytes) in order. A link has the digest of its target.
  std::vector<std::string> pieces;

  friend bool operator==(const CodeFile&, const CodeFile&) = default;
};

struct Manifest {
  std::vector<CodeFile> files;  // Sorted by path.

  int64_t Bytes() const;
  // Digests of all pieces.
  std::set<std::string> Digests() const;
};

// Returns why `path` cannot be a path in a snapshot; nullopt if it can: relative, UTF-8, no ".",
// ".." or empty component, no control character, at most kMaxPathBytes.
std::optional<std::string> PathProblem(absl::string_view path);

// True if the link `path` to `target` cannot lead out of the tree. Other links of the tree could
// change the meaning of a later "..", so the target may contain ".." only at its beginning.
bool StaysInTree(absl::string_view path, absl::string_view target);

// Number of pieces of a file.
std::size_t PiecesOf(int64_t bytes);

// Returns the text of the manifest with the files sorted by path. RESOURCE_EXHAUSTED: the text
// exceeds kMaxBlobBytes.
absl::StatusOr<std::string> WriteManifest(const Manifest& manifest);

// Reads an untrusted manifest. INVALID_ARGUMENT: the text is not exactly what WriteManifest writes,
// exceeds a limit, or contains a bad path, a path twice, or a path below a file or link.
absl::StatusOr<Manifest> ReadManifest(absl::string_view text);

}  // namespace trainyard::code

#endif  // TRAINYARD_PROTO_CODE_MANIFEST_H_
