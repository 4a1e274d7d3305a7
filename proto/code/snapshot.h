// Takes a snapshot of a directory tree: its manifest, and its files as packs of blobs.
#ifndef TRAINYARD_PROTO_CODE_SNAPSHOT_H_
#define TRAINYARD_PROTO_CODE_SNAPSHOT_H_

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/code/manifest.h"
#include "proto/code/tree_walk.h"

namespace trainyard::code {

struct Snapshot {
  FoundTree tree;
  Manifest manifest;
  std::string manifest_text;
  std::string id;  // Digest of manifest_text.
};

// Walks the tree, and computes the digests of its files on several threads. Reads only files that
// have changed since the call that wrote the cache; `cache_path` may be empty. If a file changes
// while it is read, tries a second time. Errors are one line with the cause and the next step, as
// those of WalkTree. ABORTED: a file changed both times. FAILED_PRECONDITION: there are no files.
absl::StatusOr<Snapshot> TakeSnapshot(const std::string& root, const WalkOptions& options,
                                      const std::string& cache_path);

// Receives a pack. An error ends the transfer.
using PackSink = std::function<absl::Status(std::string pack)>;

// Reads the blobs in `wanted` from the tree and passes them to `sink` in packs. ABORTED: a file has
// changed since the snapshot was taken.
absl::Status PackFiles(const std::string& root, const Snapshot& snapshot,
                       const std::set<std::string>& wanted, const PackSink& sink);

}  // namespace trainyard::code

#endif  // TRAINYARD_PROTO_CODE_SNAPSHOT_H_
