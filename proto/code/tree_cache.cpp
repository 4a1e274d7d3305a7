#include "proto/code/tree_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/code/blob_pack.h"
#include "proto/code/directory_names.h"
#include "proto/code/tree_walk.h"
#include "proto/code/tree_writer.h"
#include "proto/support/durable_file.h"
#include "proto/support/remove_tree.h"
#include "proto/support/status_macros.h"

namespace trainyard::code {
namespace {

// DIRECTORY/ID contains these two entries.
constexpr char kManifest[] = "/manifest";
constexpr char kTree[] = "/tree";
// Unfinished trees, and modified trees that attempts may still use.
constexpr char kNewPrefix[] = ".new-";
constexpr char kOldPrefix[] = ".old-";
// Number of other trees in which blobs are searched. Snapshots of one project follow each other.
constexpr std::size_t kSearchedTrees = 8;

// A missing directory has no names.
std::vector<std::string> EntryNames(const std::string& directory) {
  return NamesIn(directory).value_or(std::vector<std::string>());
}

absl::StatusOr<Manifest> ReadManifestFile(const std::string& entry) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string text,
                             ReadSmallFile(entry + kManifest, kMaxBlobBytes));
  return ReadManifest(text);
}

// Writes everything that was written to the file system of `path` to its disk. Faster than a sync
// of each file.
absl::Status SyncFileSystem(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid() || syncfs(fd.get()) != 0) return ErrnoStatus(errno, "cannot sync", path);
  return absl::OkStatus();
}

absl::Status Rename(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) return ErrnoStatus(errno, "cannot rename", from);
  return absl::OkStatus();
}

absl::Status WriteReadOnlyFile(const std::string& path, const std::string& text) {
  return ToStatus(WriteFileDurably(path, {text}, {.mode = 0444}));
}

// Creates the directory and its missing parents.
absl::Status MakeDirectories(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    mkdir(path.substr(0, slash).c_str(), 0755);
  }
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, "cannot create", path);
  }
  return absl::OkStatus();
}

// Calls `fetch` until the writer has all blobs. Each call must bring at least one.
absl::Status FetchMissing(TreeWriter& writer, const FetchBlobs& fetch) {
  for (std::vector<std::string> missing = writer.Missing(); !missing.empty();
       missing = writer.Missing()) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::vector<Blob> blobs, fetch(missing));
    if (blobs.empty()) return absl::InvalidArgumentError("an empty pack of code was received");
    for (const Blob& blob : blobs) {
      TRAINYARD_RETURN_IF_ERROR(writer.Write(blob.digest, blob.content));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> FetchText(const std::string& id, const FetchBlobs& fetch) {
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<Blob> blobs, fetch({id}));
  if (blobs.size() != 1 || blobs[0].digest != id) {
    return absl::InvalidArgumentError(
        "the manifest of a code snapshot was requested, but another "
        "blob was received");
  }
  return std::move(blobs[0].content);
}

}  // namespace

std::string TreeCache::EntryOf(const std::string& id) const {
  return absl::StrCat(options_.directory, "/", id);
}

std::string TreeCache::PathOf(const std::string& id) const { return EntryOf(id) + kTree; }

absl::StatusOr<std::string> TreeCache::Prepare(const std::string& id, const FetchBlobs& fetch) {
  if (!IsDigest(id)) return absl::InvalidArgumentError("the id of the code snapshot is not valid");
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return !busy_.contains(id); });
    busy_.insert(id);
  }
  const absl::Status status = PrepareAlone(id, fetch);
  {
    const std::lock_guard lock(mutex_);
    busy_.erase(id);
  }
  done_.notify_all();
  if (!status.ok()) return status;
  return PathOf(id);
}

absl::Status TreeCache::PrepareAlone(const std::string& id, const FetchBlobs& fetch) {
  const std::string entry = EntryOf(id);
  TRAINYARD_RETURN_IF_ERROR(MakeDirectories(options_.directory));
  if (IsIntact(id)) {
    utimensat(AT_FDCWD, entry.c_str(), nullptr, 0);
    return absl::OkStatus();
  }
  const std::string unfinished = absl::StrCat(options_.directory, "/", kNewPrefix, id);
  TRAINYARD_RETURN_IF_ERROR(RemoveTree(unfinished));
  const absl::Status unpacked = Unpack(id, fetch, unfinished);
  if (!unpacked.ok()) {
    RemoveTree(unfinished).IgnoreError();
    return unpacked;
  }
  // Attempts that run in a modified tree keep its files until Trim.
  struct stat info {};
  if (lstat(entry.c_str(), &info) == 0) {
    const std::string old = absl::StrCat(options_.directory, "/", kOldPrefix, id, "-", info.st_ino);
    TRAINYARD_RETURN_IF_ERROR(Rename(entry, old));
  }
  TRAINYARD_RETURN_IF_ERROR(Rename(unfinished, entry));
  return SyncDirectoryOf(entry);
}

absl::Status TreeCache::Unpack(const std::string& id, const FetchBlobs& fetch,
                               const std::string& entry) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::string text, FetchText(id, fetch));
  TRAINYARD_ASSIGN_OR_RETURN(const Manifest manifest, ReadManifest(text));
  if (mkdir(entry.c_str(), 0755) != 0) return ErrnoStatus(errno, "cannot create", entry);
  TreeWriter writer(entry + kTree, manifest);
  TRAINYARD_RETURN_IF_ERROR(writer.Begin());
  const Places places = PlacesOfOthers(id);
  for (const std::string& digest : writer.Missing()) {
    const auto place = places.find(digest);
    if (place == places.end()) continue;
    const std::optional<std::string> content = ReadPlace(place->second);
    if (content.has_value() && DigestOf(*content) == digest) {
      TRAINYARD_RETURN_IF_ERROR(writer.Write(digest, *content));
    }
  }
  TRAINYARD_RETURN_IF_ERROR(FetchMissing(writer, fetch));
  TRAINYARD_RETURN_IF_ERROR(writer.Finish());
  TRAINYARD_RETURN_IF_ERROR(SyncFileSystem(entry));
  // The manifest is the newest file. IsIntact relies on this.
  return WriteReadOnlyFile(entry + kManifest, text);
}

bool TreeCache::IsIntact(const std::string& id) const {
  const std::string entry = EntryOf(id);
  struct stat marker {};
  if (lstat((entry + kManifest).c_str(), &marker) != 0) return false;
  const absl::StatusOr<std::string> text = ReadSmallFile(entry + kManifest, kMaxBlobBytes);
  if (!text.ok() || DigestOf(*text) != id) return false;
  const absl::StatusOr<Manifest> manifest = ReadManifest(*text);
  if (!manifest.ok()) return false;
  // ctime changes with the contents, the mode and the number of links of a file, and with the
  // entries of a directory. Programs cannot set it.
  std::set<std::string> paths = {PathOf(id)};
  const auto is_unchanged = [&](const std::string& path, int64_t bytes) {
    struct stat info {};
    return lstat(path.c_str(), &info) == 0 &&
           NanosecondsOf(info.st_ctim) <= NanosecondsOf(marker.st_ctim) &&
           (bytes < 0 || info.st_size == bytes);
  };
  for (const CodeFile& file : manifest->files) {
    if (!is_unchanged(absl::StrCat(PathOf(id), "/", file.path), file.bytes)) return false;
    for (std::size_t slash = file.path.find('/'); slash != std::string::npos;
         slash = file.path.find('/', slash + 1)) {
      paths.insert(absl::StrCat(PathOf(id), "/", file.path.substr(0, slash)));
    }
  }
  return std::all_of(paths.begin(), paths.end(),
                     [&](const std::string& path) { return is_unchanged(path, -1); });
}

void TreeCache::AddPlaces(const std::string& id, Places& places) const {
  const absl::StatusOr<Manifest> manifest = ReadManifestFile(EntryOf(id));
  if (!manifest.ok()) return;
  for (const CodeFile& file : manifest->files) {
    for (std::size_t piece = 0; piece < file.pieces.size(); ++piece) {
      const auto offset = static_cast<int64_t>(piece * kPieceBytes);
      places.try_emplace(file.pieces[piece],
                         Place{.file = absl::StrCat(PathOf(id), "/", file.path),
                               .offset = offset,
                               .bytes = std::min<int64_t>(kPieceBytes, file.bytes - offset),
                               .is_link = file.kind == FileKind::kLink});
    }
  }
}

TreeCache::Places TreeCache::PlacesOfOthers(const std::string& id) const {
  Places places;
  std::vector<std::string> ids = IdsByUse();
  std::erase(ids, id);
  std::reverse(ids.begin(), ids.end());
  if (ids.size() > kSearchedTrees) ids.resize(kSearchedTrees);
  for (const std::string& other : ids) AddPlaces(other, places);
  return places;
}

std::optional<std::string> TreeCache::ReadPlace(const Place& place) {
  std::string content(static_cast<std::size_t>(place.bytes), '\0');
  ssize_t got = 0;
  if (place.is_link) {
    got = readlink(place.file.c_str(), content.data(), content.size());
  } else {
    const UniqueFd fd(open(place.file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!fd.valid()) return std::nullopt;
    got = pread(fd.get(), content.data(), content.size(), place.offset);
  }
  if (got != static_cast<ssize_t>(content.size()) || content.empty()) return std::nullopt;
  return content;
}

absl::StatusOr<std::string> TreeCache::Fetch(const std::string& id,
                                             const std::vector<std::string>& digests) {
  if (!IsDigest(id)) return absl::InvalidArgumentError("the id of the code snapshot is not valid");
  PackBuilder builder;
  Places places;
  AddPlaces(id, places);
  std::set<absl::string_view> added;
  for (const std::string& digest : digests) {
    std::optional<std::string> content;
    if (digest == id) {
      const auto text = ReadSmallFile(EntryOf(id) + kManifest, kMaxBlobBytes);
      if (text.ok() && DigestOf(*text) == id) content = *text;
    } else if (const auto place = places.find(digest); place != places.end()) {
      content = ReadPlace(place->second);
    }
    if (!content.has_value() || !added.insert(digest).second) break;
    if (!builder.Add(digest, *content)) break;
  }
  if (builder.empty()) {
    return absl::NotFoundError(absl::StrCat("this node does not have the requested code (snapshot ",
                                            id.substr(0, 12), ")"));
  }
  return builder.Finish();
}

std::vector<std::string> TreeCache::IdsByUse() const {
  std::vector<std::pair<int64_t, std::string>> used;
  for (const std::string& name : EntryNames(options_.directory)) {
    struct stat info {};
    if (!IsDigest(name) || lstat(EntryOf(name).c_str(), &info) != 0) continue;
    used.emplace_back(NanosecondsOf(info.st_mtim), name);
  }
  std::sort(used.begin(), used.end());
  std::vector<std::string> ids;
  for (auto& [time, id] : used) ids.push_back(std::move(id));
  return ids;
}

absl::Status TreeCache::RemoveLeftovers(const std::set<std::string>& in_use) {
  for (const std::string& name : EntryNames(options_.directory)) {
    const bool is_new = absl::StartsWith(name, kNewPrefix);
    if (!is_new && !absl::StartsWith(name, kOldPrefix)) continue;
    const std::string id = name.substr(sizeof(kNewPrefix) - 1, 64);
    if (is_new ? busy_.contains(id) : in_use.contains(id)) continue;
    TRAINYARD_RETURN_IF_ERROR(RemoveTree(absl::StrCat(options_.directory, "/", name)));
  }
  return absl::OkStatus();
}

absl::Status TreeCache::Trim(const std::set<std::string>& in_use) {
  const std::lock_guard lock(mutex_);
  TRAINYARD_RETURN_IF_ERROR(RemoveLeftovers(in_use));
  std::vector<std::pair<std::string, int64_t>> trees;
  int64_t total = 0;
  for (const std::string& id : IdsByUse()) {
    const absl::StatusOr<Manifest> manifest = ReadManifestFile(EntryOf(id));
    trees.emplace_back(id, manifest.ok() ? manifest->Bytes() : 0);
    total += trees.back().second;
  }
  for (const auto& [id, bytes] : trees) {
    if (total <= options_.max_bytes) break;
    if (in_use.contains(id) || busy_.contains(id)) continue;
    // The entry disappears at once, so a crash leaves no tree that lacks files.
    const std::string removed = absl::StrCat(options_.directory, "/", kOldPrefix, id);
    TRAINYARD_RETURN_IF_ERROR(RemoveTree(removed));
    TRAINYARD_RETURN_IF_ERROR(Rename(EntryOf(id), removed));
    TRAINYARD_RETURN_IF_ERROR(RemoveTree(removed));
    total -= bytes;
  }
  return absl::OkStatus();
}

}  // namespace trainyard::code
