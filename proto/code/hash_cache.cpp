#include "proto/code/hash_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/code/blob_pack.h"
#include "proto/code/directory_names.h"
#include "proto/support/durable_file.h"

namespace trainyard::code {
namespace {

// Each record ends with a NUL byte. The first record is this text with the root. A record of a file
// is "BYTES MTIME CTIME INODE DIGEST,DIGEST PATH".
constexpr absl::string_view kHashesStart = "trainyard-hashes 1 ";
constexpr std::size_t kFields = 6;
constexpr std::size_t kMaxCacheBytes = 32 << 20;

}  // namespace

bool HashCache::ReadRecord(absl::string_view record, std::string& path, Entry& entry) {
  const std::vector<absl::string_view> fields =
      absl::StrSplit(record, absl::MaxSplits(' ', kFields - 1));
  if (fields.size() != kFields) return false;
  const bool numbers = absl::SimpleAtoi(fields[0], &entry.bytes) &&
                       absl::SimpleAtoi(fields[1], &entry.modified_ns) &&
                       absl::SimpleAtoi(fields[2], &entry.changed_ns) &&
                       absl::SimpleAtoi(fields[3], &entry.inode);
  if (!numbers || entry.bytes < 0 || entry.bytes > kMaxSnapshotBytes) return false;
  entry.digests = absl::StrSplit(fields[4], ',', absl::SkipEmpty());
  path = std::string(fields[5]);
  return entry.digests.size() == PiecesOf(entry.bytes) &&
         std::all_of(entry.digests.begin(), entry.digests.end(), IsDigest);
}

HashCache HashCache::Load(const std::string& path, absl::string_view root) {
  HashCache cache;
  const absl::StatusOr<std::string> text = ReadSmallFile(path, kMaxCacheBytes);
  if (!text.ok()) return cache;
  bool first = true;
  for (const absl::string_view record : absl::StrSplit(*text, '\0', absl::SkipEmpty())) {
    if (std::exchange(first, false)) {
      if (record != absl::StrCat(kHashesStart, root)) return cache;
      continue;
    }
    std::string file;
    Entry entry;
    if (!ReadRecord(record, file, entry)) return HashCache();
    cache.entries_[std::move(file)] = std::move(entry);
  }
  return cache;
}

const std::vector<std::string>* HashCache::Find(const FoundFile& file) const {
  const auto found = entries_.find(file.path);
  if (found == entries_.end()) return nullptr;
  const Entry& entry = found->second;
  const bool unchanged = entry.bytes == file.bytes && entry.modified_ns == file.modified_ns &&
                         entry.changed_ns == file.changed_ns && entry.inode == file.inode;
  return unchanged ? &entry.digests : nullptr;
}

void HashCache::Put(const FoundFile& file, std::vector<std::string> digests) {
  entries_[file.path] = {.bytes = file.bytes,
                         .modified_ns = file.modified_ns,
                         .changed_ns = file.changed_ns,
                         .inode = file.inode,
                         .digests = std::move(digests)};
}

absl::Status HashCache::Save(const std::string& path, absl::string_view root,
                             int64_t now_ns) const {
  std::string text = absl::StrCat(kHashesStart, root);
  text.push_back('\0');
  for (const auto& [file, entry] : entries_) {
    if (std::max(entry.modified_ns, entry.changed_ns) > now_ns - kSettledNs) continue;
    absl::StrAppend(&text, entry.bytes, " ", entry.modified_ns, " ", entry.changed_ns, " ",
                    entry.inode, " ", absl::StrJoin(entry.digests, ","), " ", file);
    text.push_back('\0');
  }
  return WriteFileAtomically(path, text);
}

void HashCache::RemoveOldCaches(const std::string& directory) {
  std::vector<std::pair<int64_t, std::string>> caches;
  for (const std::string& name : NamesIn(directory).value_or(std::vector<std::string>())) {
    struct stat info {};
    const std::string path = absl::StrCat(directory, "/", name);
    if (lstat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    caches.emplace_back(NanosecondsOf(info.st_mtim), path);
  }
  if (caches.size() <= kMaxCaches) return;
  std::sort(caches.begin(), caches.end());
  for (std::size_t index = 0; index < caches.size() - kMaxCaches; ++index) {
    unlink(caches[index].second.c_str());
  }
}

}  // namespace trainyard::code
