// Unpacked code snapshots on a node.
//
// A tree is written to a temporary name, made read-only, synced and renamed, so a crash leaves no
// incomplete tree. Trees that no attempt uses are removed, least recently used first, when all
// trees together exceed a limit.
#ifndef TRAINYARD_PROTO_CODE_TREE_CACHE_H_
#define TRAINYARD_PROTO_CODE_TREE_CACHE_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/code/blob_pack.h"
#include "proto/code/manifest.h"

namespace trainyard::code {

// Returns the first of these blobs, at least one, as ReadPack does: each blob has its digest.
using FetchBlobs =
    std::function<absl::StatusOr<std::vector<Blob>>(const std::vector<std::string>& digests)>;

// Thread-safe. Only one TreeCache at a time may use a directory.
class TreeCache {
 public:
  struct Options {
    std::string directory;
    int64_t max_bytes = int64_t{20} << 30;  // Limit on all trees. Attempts may use more.
  };

  explicit TreeCache(Options options) : options_(std::move(options)) {}

  // Returns the directory of the snapshot, unpacking it first if necessary. Takes blobs from other
  // trees of this node if they have them, and the rest from `fetch`. Checks each blob. A tree whose
  // files were modified, although they are read-only, is unpacked again. The tree remains at least
  // until the next call of Trim without its id.
  absl::StatusOr<std::string> Prepare(const std::string& id, const FetchBlobs& fetch);

  // Removes the least recently used trees until the limit is met, except those in `in_use`.
  // Removes unfinished trees that a crash has left, as well.
  absl::Status Trim(const std::set<std::string>& in_use);

  // Returns a pack with the first of these blobs, as many as fit, from the tree of this node.
  // NOT_FOUND: the tree does not have the first blob. The blobs of a modified tree may not have
  // their digests; the receiver must check them (ReadPack).
  absl::StatusOr<std::string> Fetch(const std::string& id, const std::vector<std::string>& digests);

  // Directory of the files of a snapshot; it need not exist.
  std::string PathOf(const std::string& id) const;

 private:
  // A place of a blob in a file of a tree.
  struct Place {
    std::string file;
    int64_t offset = 0;
    int64_t bytes = 0;
    bool is_link = false;
  };

  using Places = std::map<std::string, Place, std::less<>>;

  absl::Status PrepareAlone(const std::string& id, const FetchBlobs& fetch);
  absl::Status Unpack(const std::string& id, const FetchBlobs& fetch, const std::string& entry);
  // True if the tree has exactly the files that were unpacked, none of which was modified since.
  bool IsIntact(const std::string& id) const;
  void AddPlaces(const std::string& id, Places& places) const;
  // Returns the bytes at this place, or nullopt if the file is shorter. They need not be the blob:
  // jobs can modify a tree.
  static std::optional<std::string> ReadPlace(const Place& place);
  // Blobs of the trees that were used most recently, other than `id`.
  Places PlacesOfOthers(const std::string& id) const;
  std::string EntryOf(const std::string& id) const;
  // Ids of the trees, least recently used first.
  std::vector<std::string> IdsByUse() const;
  absl::Status RemoveLeftovers(const std::set<std::string>& in_use);

  const Options options_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::set<std::string> busy_;  // Ids that a call of Prepare works on.
};

}  // namespace trainyard::code

#endif  // TRAINYARD_PROTO_CODE_TREE_CACHE_H_
