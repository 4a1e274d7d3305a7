// Remembers the digests of files, so that an unchanged file is not read again.
#ifndef TRAINYARD_PROTO_CODE_HASH_CACHE_H_
#define TRAINYARD_PROTO_CODE_HASH_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/code/tree_walk.h"

namespace trainyard::code {

class HashCache {
 public:
  // Reads the cache of the tree `root` from the file at `path`. A missing or damaged file, or the
  // cache of another tree, is an empty cache.
  static HashCache Load(const std::string& path, absl::string_view root);

  // Returns the digests of the file's pieces if size, times and inode are unchanged; otherwise
  // nullptr.
  const std::vector<std::string>* Find(const FoundFile& file) const;

  // `digests` must match the contents of the file.
  void Put(const FoundFile& file, std::vector<std::string> digests);

  // Replaces the file at `path`. Leaves out files that were modified less than kSettledNs before
  // `now_ns`: they may have been written again within the resolution of the file system's clock.
  absl::Status Save(const std::string& path, absl::string_view root, int64_t now_ns) const;

  // Removes the oldest caches in `directory`. The newest kMaxCaches remain.
  static void RemoveOldCaches(const std::string& directory);

  static constexpr std::size_t kMaxCaches = 100;
  static constexpr int64_t kSettledNs = 2'000'000'000;

 private:
  struct Entry {
    int64_t bytes = 0;
    int64_t modified_ns = 0;
    int64_t changed_ns = 0;
    uint64_t inode = 0;
    std::vector<std::string> digests;
  };

  static bool ReadRecord(absl::string_view record, std::string& path, Entry& entry);

  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace trainyard::code

#endif  // TRAINYARD_PROTO_CODE_HASH_CACHE_H_
