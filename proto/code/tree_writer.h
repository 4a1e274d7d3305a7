// Writes the files of a code snapshot into a new directory.
#ifndef TRAINYARD_PROTO_CODE_TREE_WRITER_H_
#define TRAINYARD_PROTO_CODE_TREE_WRITER_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/code/manifest.h"

namespace trainyard::code {

// Writes one tree. Used by one thread.
class TreeWriter {
 public:
  // `directory` must not exist. `manifest` must come from ReadManifest, and outlive the writer.
  TreeWriter(std::string directory, const Manifest& manifest);

  // Creates all directories and the files without contents.
  absl::Status Begin();

  // Returns the digests of the blobs that are still needed.
  std::vector<std::string> Missing() const;

  // Writes a blob, whose digest the caller has checked, into all files that contain it.
  // INVALID_ARGUMENT: no file needs the blob, or it has another size.
  absl::Status Write(const std::string& digest, absl::string_view content);

  // Makes files and directories read-only. Call when Missing() is empty.
  absl::Status Finish();

 private:
  absl::Status WritePiece(const CodeFile& file, std::size_t piece, absl::string_view content);
  std::string PathOf(const CodeFile& file) const;

  const std::string directory_;
  const Manifest& manifest_;
  std::vector<std::string> directories_;  // Parents before children.
  // Index of the file and of the piece, by digest.
  std::multimap<std::string, std::pair<std::size_t, std::size_t>> wanted_;
};

}  // namespace trainyard::code

#endif  // TRAINYARD_PROTO_CODE_TREE_WRITER_H_
