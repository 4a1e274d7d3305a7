#include "proto/code/blob_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/code/directory_names.h"
#include "proto/code/size_text.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::code {
namespace {

constexpr char kSuffix[] = ".pack";
constexpr char kUnfinishedSuffix[] = ".tmp";
// A pack is rewritten when less than this part of its blobs, by size, is in use.
constexpr int64_t kUsedPart = 2;
constexpr std::size_t kMaxLeases = 10'000;

// Reads the beginning of a file, and sets `bytes` to its size.
absl::StatusOr<std::string> ReadStart(const std::string& path, int64_t& bytes) {
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegularFile(path, O_RDONLY));
  struct stat info {};
  if (fstat(fd.get(), &info) != 0) return ErrnoStatus(errno, "cannot read", path);
  bytes = info.st_size;
  std::string start(kMaxIndexBytes, '\0');
  const ssize_t got = pread(fd.get(), start.data(), start.size(), 0);
  if (got < 0) return ErrnoStatus(errno, "cannot read", path);
  start.resize(static_cast<std::size_t>(got));
  return start;
}

}  // namespace

std::string BlobStore::PathOf(const std::string& name) const {
  return absl::StrCat(options_.directory, "/", name);
}

absl::StatusOr<std::unique_ptr<BlobStore>> BlobStore::Open(Options options, int64_t now_ms) {
  if (mkdir(options.directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, "cannot create the directory of code snapshots", options.directory);
  }
  std::unique_ptr<BlobStore> store(new BlobStore(std::move(options)));
  TRAINYARD_RETURN_IF_ERROR(store->LoadPacks(now_ms));
  return store;
}

absl::Status BlobStore::LoadPacks(int64_t now_ms) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(options_.directory));
  for (const std::string& name : names) {
    if (absl::EndsWith(name, kUnfinishedSuffix)) unlink(PathOf(name).c_str());
    if (!absl::EndsWith(name, kSuffix)) continue;
    Pack pack{.added_ms = now_ms};
    TRAINYARD_ASSIGN_OR_RETURN(const std::string start, ReadStart(PathOf(name), pack.bytes));
    absl::StatusOr<std::vector<PackEntry>> entries = ReadPackIndex(start);
    if (!entries.ok()) continue;
    pack.entries = *std::move(entries);
    Index(name, std::move(pack));
  }
  return absl::OkStatus();
}

void BlobStore::Index(const std::string& name, Pack pack) {
  bytes_ += pack.bytes;
  for (const PackEntry& entry : pack.entries) pack_of_.try_emplace(entry.digest, name);
  packs_[name] = std::move(pack);
}

absl::Status BlobStore::WritePack(absl::string_view pack, int64_t now_ms) {
  if (bytes_ + static_cast<int64_t>(pack.size()) > options_.max_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the store of code snapshots is full (", DecimalSize(bytes_), " of ",
        DecimalSize(options_.max_bytes), "); delete ended jobs that no longer need their code"));
  }
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<PackEntry> entries, ReadPackIndex(pack));
  const std::string name = absl::StrCat(DigestOf(pack), kSuffix);
  if (packs_.contains(name)) return absl::OkStatus();
  TRAINYARD_RETURN_IF_ERROR(
      WriteFileAtomically(PathOf(name), std::string_view(pack.data(), pack.size())));
  Index(name, {.entries = std::move(entries),
               .bytes = static_cast<int64_t>(pack.size()),
               .added_ms = now_ms});
  return absl::OkStatus();
}

absl::Status BlobStore::Add(absl::string_view pack, int64_t now_ms) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<PackEntry> entries, CheckPack(pack));
  const std::lock_guard lock(mutex_);
  const auto is_new = [this](const auto& one) { return !pack_of_.contains(one.digest); };
  if (std::ranges::none_of(entries, is_new)) return absl::OkStatus();
  // Most packs contain new blobs only, and are stored as they are. Copying a pack would take as
  // long as hashing its blobs.
  if (std::ranges::all_of(entries, is_new)) return WritePack(pack, now_ms);
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<Blob> blobs, ReadPack(pack));
  PackBuilder builder;
  for (const Blob& blob : blobs) {
    if (is_new(blob) && !builder.Add(blob.digest, blob.content)) {
      return absl::InvalidArgumentError("the pack of code is too large; upgrade the client");
    }
  }
  return WritePack(builder.Finish(), now_ms);
}

absl::StatusOr<std::vector<Blob>> BlobStore::ReadPackFile(const std::string& name) {
  const std::string path = PathOf(name);
  const absl::StatusOr<std::string> text = ReadSmallFile(path, kMaxPackBytes + kMaxIndexBytes);
  absl::StatusOr<std::vector<Blob>> blobs =
      text.ok() ? ReadPack(*text) : absl::StatusOr<std::vector<Blob>>(text.status());
  if (blobs.ok()) return blobs;
  // Errors of the disk may pass; a missing or damaged file stays so.
  const bool damaged = absl::IsInvalidArgument(blobs.status()) || absl::IsNotFound(blobs.status());
  if (!damaged) return blobs;
  RemovePack(name).IgnoreError();
  return absl::DataLossError(absl::StrCat("the file of code snapshots ", path,
                                          " is damaged and was removed; submit the job again from "
                                          "its code directory"));
}

absl::StatusOr<std::string> BlobStore::ReadLocked(const std::string& digest) {
  const auto found = pack_of_.find(digest);
  if (found == pack_of_.end()) {
    return absl::NotFoundError(absl::StrCat("the code store has no blob ", digest.substr(0, 12),
                                            "; submit the job again from its code directory"));
  }
  if (cached_name_ != found->second) {
    const std::string name = found->second;
    TRAINYARD_ASSIGN_OR_RETURN(std::vector<Blob> blobs, ReadPackFile(name));
    cached_.clear();
    for (Blob& blob : blobs) cached_[blob.digest] = std::move(blob.content);
    cached_name_ = name;
  }
  return cached_.at(digest);
}

absl::StatusOr<std::string> BlobStore::Read(const std::string& digest) {
  const std::lock_guard lock(mutex_);
  return ReadLocked(digest);
}

absl::StatusOr<std::string> BlobStore::Fetch(const std::vector<std::string>& digests) {
  const std::lock_guard lock(mutex_);
  PackBuilder builder;
  std::set<absl::string_view> added;
  for (const std::string& digest : digests) {
    if (!added.insert(digest).second) continue;
    TRAINYARD_ASSIGN_OR_RETURN(const std::string content, ReadLocked(digest));
    if (!builder.Add(digest, content)) break;
  }
  if (builder.empty()) return absl::InvalidArgumentError("no blobs were requested");
  return builder.Finish();
}

absl::StatusOr<Manifest> BlobStore::ReadSnapshotLocked(const std::string& id) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string text, ReadLocked(id));
  return ReadManifest(text);
}

absl::StatusOr<Manifest> BlobStore::ReadSnapshot(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return ReadSnapshotLocked(id);
}

absl::StatusOr<std::vector<std::string>> BlobStore::Missing(const std::string& id, int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  std::erase_if(asked_ms_,
                [&](const auto& asked) { return now_ms - asked.second > kUploadLeaseMs; });
  if (asked_ms_.size() >= kMaxLeases && !asked_ms_.contains(id)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "more than ", kMaxLeases, " code snapshots were submitted in an hour; try again later"));
  }
  if (!pack_of_.contains(id)) return std::vector<std::string>{id};
  if (listed_id_ != id) {
    TRAINYARD_ASSIGN_OR_RETURN(const Manifest manifest, ReadSnapshotLocked(id));
    listed_ = manifest.Digests();
    listed_id_ = id;
  }
  asked_ms_[id] = now_ms;
  std::vector<std::string> missing;
  for (const std::string& digest : listed_) {
    if (!pack_of_.contains(digest)) missing.push_back(digest);
  }
  return missing;
}

absl::StatusOr<std::set<std::string>> BlobStore::UsedDigests(const std::set<std::string>& ids,
                                                             const std::set<std::string>& blobs,
                                                             int64_t now_ms) {
  std::set<std::string> all = ids;
  for (const auto& [id, asked_ms] : asked_ms_) {
    if (now_ms - asked_ms <= kUploadLeaseMs) all.insert(id);
  }
  std::set<std::string> used = blobs;
  // A protected blob need not be a manifest.
  used.insert(all.begin(), all.end());
  for (const std::string& id : all) {
    const absl::StatusOr<Manifest> manifest = ReadSnapshotLocked(id);
    // A lost manifest uses no blobs. After another error, such as one of the disk, it may be read
    // later.
    const bool lost = absl::IsNotFound(manifest.status()) || absl::IsDataLoss(manifest.status()) ||
                      absl::IsInvalidArgument(manifest.status());
    if (lost) continue;
    if (!manifest.ok()) return manifest.status();
    used.merge(manifest->Digests());
  }
  return used;
}

absl::Status BlobStore::RemovePack(const std::string& name) {
  const auto found = packs_.find(name);
  if (found == packs_.end()) return absl::OkStatus();
  if (unlink(PathOf(name).c_str()) != 0 && errno != ENOENT) {
    return ErrnoStatus(errno, "cannot remove", PathOf(name));
  }
  for (const PackEntry& entry : found->second.entries) {
    const auto place = pack_of_.find(entry.digest);
    if (place != pack_of_.end() && place->second == name) pack_of_.erase(place);
  }
  if (cached_name_ == name) cached_name_.clear();
  bytes_ -= found->second.bytes;
  packs_.erase(found);
  return absl::OkStatus();
}

absl::Status BlobStore::RewritePack(const std::string& name, const std::set<std::string>& used) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<Blob> blobs, ReadPackFile(name));
  PackBuilder builder;
  for (const Blob& blob : blobs) {
    const bool is_used = used.contains(blob.digest) && pack_of_.at(blob.digest) == name;
    if (is_used) builder.Add(blob.digest, blob.content);
  }
  const int64_t added_ms = packs_.at(name).added_ms;
  const std::string pack = builder.Finish();
  // The index keeps the old place of a blob until the old pack is removed.
  TRAINYARD_RETURN_IF_ERROR(WritePack(pack, added_ms));
  const std::string new_name = absl::StrCat(DigestOf(pack), kSuffix);
  for (const PackEntry& entry : packs_.at(new_name).entries) pack_of_[entry.digest] = new_name;
  return RemovePack(name);
}

absl::StatusOr<int64_t> BlobStore::RemoveUnused(const std::set<std::string>& ids,
                                                const std::set<std::string>& blobs,
                                                int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  const int64_t before = bytes_;
  TRAINYARD_ASSIGN_OR_RETURN(const std::set<std::string> used, UsedDigests(ids, blobs, now_ms));
  std::vector<std::string> names;
  for (const auto& [name, pack] : packs_) {
    if (now_ms - pack.added_ms > kUploadLeaseMs) names.push_back(name);
  }
  for (const std::string& name : names) {
    int64_t all_bytes = 0;
    int64_t used_bytes = 0;
    for (const PackEntry& entry : packs_.at(name).entries) {
      // A blob that another pack has, too, is not used here.
      const bool is_used = used.contains(entry.digest) && pack_of_.at(entry.digest) == name;
      all_bytes += entry.bytes;
      used_bytes += is_used ? entry.bytes : 0;
    }
    if (used_bytes == 0) {
      TRAINYARD_RETURN_IF_ERROR(RemovePack(name));
    } else if (used_bytes * kUsedPart < all_bytes) {
      TRAINYARD_RETURN_IF_ERROR(RewritePack(name, used));
    }
  }
  return before - bytes_;
}

bool BlobStore::Has(const std::string& digest, int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  if (!pack_of_.contains(digest)) return false;
  if (asked_ms_.size() < kMaxLeases) asked_ms_[digest] = now_ms;
  return true;
}

int64_t BlobStore::NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int64_t BlobStore::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace trainyard::code
