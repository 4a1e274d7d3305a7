// The store of code snapshots beside the controller: packs of blobs in files.
//
// A pack is written to a temporary name, synced and renamed, so a crash leaves no incomplete pack.
// Blobs are removed when no manifest in use names them, but not in the first hour after their
// upload: their job may not be submitted yet.
#ifndef TRAINYARD_PROTO_CODE_BLOB_STORE_H_
#define TRAINYARD_PROTO_CODE_BLOB_STORE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/code/blob_pack.h"
#include "proto/code/manifest.h"

namespace trainyard::code {

// Thread-safe.
class BlobStore {
 public:
  struct Options {
    std::string directory;
    int64_t max_bytes = int64_t{20} << 30;  // Limit on the size of all packs.
  };

  // Creates the directory if it is missing, removes unfinished files, and reads the lists of blobs
  // of all packs. Files that are not packs stay where they are, and are not read.
  static absl::StatusOr<std::unique_ptr<BlobStore>> Open(Options options, int64_t now_ms);

  // Stores the blobs of an untrusted pack that are missing. On success they are durable.
  // INVALID_ARGUMENT: see ReadPack. RESOURCE_EXHAUSTED: the store is full.
  absl::Status Add(absl::string_view pack, int64_t now_ms);

  // Returns the digests of the snapshot that are not in the store: only `id` if the manifest is
  // missing, otherwise those of the missing pieces. INVALID_ARGUMENT: the blob is not a manifest.
  // The call protects all blobs of the snapshot from removal for an hour.
  absl::StatusOr<std::vector<std::string>> Missing(const std::string& id, int64_t now_ms);

  // True if the store has the blob. The call protects the blob from removal for an hour.
  bool Has(const std::string& digest, int64_t now_ms);

  // Returns the manifest. NOT_FOUND: it is missing.
  absl::StatusOr<Manifest> ReadSnapshot(const std::string& id);

  // Returns one pack with the first of these blobs, as many as fit. NOT_FOUND: a blob is missing.
  // DATA_LOSS: a pack is damaged. The store then removes the pack, so that its blobs are uploaded
  // again with the next snapshot that contains them.
  absl::StatusOr<std::string> Fetch(const std::vector<std::string>& digests);

  // Returns one blob. Errors as of Fetch.
  absl::StatusOr<std::string> Read(const std::string& digest);

  // Removes packs without blobs in use, and rewrites packs whose blobs are mostly unused. `ids` are
  // the snapshots in use, and `blobs` further digests in use. Returns the number of bytes freed.
  absl::StatusOr<int64_t> RemoveUnused(const std::set<std::string>& ids,
                                       const std::set<std::string>& blobs, int64_t now_ms);

  int64_t bytes() const;

  // Milliseconds of a monotonic clock, for the parameters `now_ms`.
  static int64_t NowMs();

  static constexpr int64_t kUploadLeaseMs = 3'600'000;

 private:
  struct Pack {
    std::vector<PackEntry> entries;
    int64_t bytes = 0;     // Size of the file.
    int64_t added_ms = 0;  // Start of the controller for packs that it found.
  };

  explicit BlobStore(Options options) : options_(std::move(options)) {}

  absl::Status LoadPacks(int64_t now_ms);
  absl::Status WritePack(absl::string_view pack, int64_t now_ms);
  absl::Status RewritePack(const std::string& name, const std::set<std::string>& used);
  absl::StatusOr<std::vector<Blob>> ReadPackFile(const std::string& name);
  absl::StatusOr<std::string> ReadLocked(const std::string& digest);
  absl::StatusOr<Manifest> ReadSnapshotLocked(const std::string& id);
  absl::Status RemovePack(const std::string& name);
  void Index(const std::string& name, Pack pack);
  std::string PathOf(const std::string& name) const;
  absl::StatusOr<std::set<std::string>> UsedDigests(const std::set<std::string>& ids,
                                                    const std::set<std::string>& blobs,
                                                    int64_t now_ms);

  const Options options_;
  mutable std::mutex mutex_;
  std::map<std::string, Pack> packs_;                     // By file name.
  std::unordered_map<std::string, std::string> pack_of_;  // Name of the pack, by digest.
  // Time of the newest call of Missing or Has, by digest.
  std::map<std::string, int64_t> asked_ms_;
  // The pack that was read last. Blobs of a snapshot are mostly in the same packs.
  std::string cached_name_;
  std::unordered_map<std::string, std::string> cached_;
  // The digests of the snapshot that Missing has read last. One submission asks several times.
  std::string listed_id_;
  std::set<std::string> listed_;
  int64_t bytes_ = 0;
};

}  // namespace trainyard::code

#endif  // TRAINYARD_PROTO_CODE_BLOB_STORE_H_
