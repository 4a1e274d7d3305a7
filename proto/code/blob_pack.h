// Packs of blobs. A blob is a piece of content that is identified by its SHA-256. Packs carry blobs
// between command line, controller and workers, and are the files of the controller's store.
#ifndef TRAINYARD_PROTO_CODE_BLOB_PACK_H_
#define TRAINYARD_PROTO_CODE_BLOB_PACK_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace trainyard::code {

// Files are divided into pieces of this size. Each piece is a blob.
inline constexpr std::size_t kPieceBytes = 2 << 20;
// Maximum size of a blob. Only manifests are larger than kPieceBytes.
inline constexpr std::size_t kMaxBlobBytes = 7 << 20;
// Maximum size of a pack: the sum of its blobs before compression, and the compressed blobs.
inline constexpr std::size_t kMaxPackBytes = 8 << 20;
inline constexpr std::size_t kMaxPackBlobs = 20'000;

// Digest of a blob: SHA-256 as 64 lower-case hexadecimal digits. The content is not empty.
std::string DigestOf(absl::string_view content);

bool IsDigest(absl::string_view text);

struct Blob {
  std::string digest;
  std::string content;
};

// A blob as listed at the beginning of a pack.
struct PackEntry {
  std::string digest;
  uint32_t bytes = 0;
};

// Collects blobs for a pack. Used by one thread.
class PackBuilder {
 public:
  // Returns false if the pack is full. Then the blob is not added. The blob has at most
  // kMaxBlobBytes and is not in the pack yet.
  bool Add(absl::string_view digest, absl::string_view content);
  bool empty() const { return entries_.empty(); }
  // Returns the pack, and empties the builder.
  std::string Finish();

 private:
  std::vector<PackEntry> entries_;
  std::string contents_;
};

// Returns the blobs of an untrusted pack. INVALID_ARGUMENT: the pack is damaged, exceeds a limit,
// contains a digest twice, or contains a blob that does not have its digest.
absl::StatusOr<std::vector<Blob>> ReadPack(absl::string_view pack);

// Checks a pack like ReadPack, but copies no blobs. Returns its index.
absl::StatusOr<std::vector<PackEntry>> CheckPack(absl::string_view pack);

// Returns the list of blobs at the beginning of a pack, without reading the blobs. `start` is the
// beginning of a pack of `pack_bytes` bytes. kMaxIndexBytes are always enough.
inline constexpr std::size_t kMaxIndexBytes = 8 + kMaxPackBlobs * 36;
absl::StatusOr<std::vector<PackEntry>> ReadPackIndex(absl::string_view start);

}  // namespace trainyard::code

#endif  // TRAINYARD_PROTO_CODE_BLOB_PACK_H_
