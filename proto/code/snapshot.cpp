#include "proto/code/snapshot.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/code/blob_pack.h"
#include "proto/code/hash_cache.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::code {
namespace {

constexpr unsigned kMaxThreads = 8;
constexpr int kTries = 2;

absl::Status Changed(const std::string& path) {
  return absl::AbortedError(absl::StrCat(
      path,
      " changed while it was read; submit again when no program writes it, or exclude it with ",
      kIgnoreFile));
}

bool IsUnchanged(int fd, const FoundFile& file) {
  struct stat info {};
  return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == file.bytes &&
         info.st_ino == file.inode && NanosecondsOf(info.st_mtim) == file.modified_ns &&
         NanosecondsOf(info.st_ctim) == file.changed_ns;
}

// Reads up to `bytes` bytes at `offset`. Returns fewer only at the end of the file.
absl::StatusOr<std::string> ReadPiece(int fd, const std::string& path, int64_t offset,
                                      std::size_t bytes) {
  std::string piece(bytes, '\0');
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        pread(fd, piece.data() + done, bytes - done, offset + static_cast<int64_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoStatus(errno, "cannot read", path);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  piece.resize(done);
  return piece;
}

// Passes each piece of the file to `use`. ABORTED: the file is not as it was found.
absl::Status ReadPieces(int root, const FoundFile& file,
                        const std::function<absl::Status(std::size_t, std::string)>& use) {
  if (file.kind == FileKind::kLink) return use(0, file.target);
  const UniqueFd fd(
      openat(root, file.path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd.valid() && (errno == ENOENT || errno == ELOOP)) return Changed(file.path);
  if (!fd.valid()) {
    const int error = errno;
    return ErrnoStatus(error, absl::StrCat("cannot read (exclude it with ", kIgnoreFile, ")"),
                       file.path);
  }
  if (!IsUnchanged(fd.get(), file)) return Changed(file.path);
  for (std::size_t piece = 0; piece < PiecesOf(file.bytes); ++piece) {
    const int64_t offset = static_cast<int64_t>(piece * kPieceBytes);
    const auto bytes = std::min<std::size_t>(kPieceBytes, file.bytes - offset);
    TRAINYARD_ASSIGN_OR_RETURN(std::string content, ReadPiece(fd.get(), file.path, offset, bytes));
    if (content.size() != bytes) return Changed(file.path);
    TRAINYARD_RETURN_IF_ERROR(use(piece, std::move(content)));
  }
  return IsUnchanged(fd.get(), file) ? absl::OkStatus() : Changed(file.path);
}

absl::StatusOr<UniqueFd> OpenRoot(const std::string& root) {
  UniqueFd fd(open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoStatus(errno, "cannot read the code directory", root);
  return fd;
}

// Computes the digests of files on several threads.
class Hashing {
 public:
  Hashing(int root, const std::vector<FoundFile>& files, const HashCache& cache)
      : root_(root), files_(files), cache_(cache), results_(files.size()) {}

  absl::StatusOr<std::vector<CodeFile>> Run() {
    const unsigned count = std::clamp(std::thread::hardware_concurrency(), 1U, kMaxThreads);
    std::vector<std::thread> threads;
    for (unsigned thread = 1; thread < count; ++thread) {
      threads.emplace_back([this] { HashFiles(); });
    }
    HashFiles();
    for (std::thread& thread : threads) thread.join();
    if (!status_.ok()) return status_;
    return std::move(results_);
  }

 private:
  void HashFiles() {
    while (!failed_) {
      const std::size_t index = next_++;
      if (index >= files_.size()) return;
      const absl::Status status = HashFile(files_[index], results_[index]);
      if (status.ok()) continue;
      const std::lock_guard lock(mutex_);
      if (!failed_.exchange(true)) status_ = status;
    }
  }

  absl::Status HashFile(const FoundFile& file, CodeFile& result) const {
    result = {.path = file.path, .kind = file.kind, .bytes = file.bytes};
    if (const std::vector<std::string>* known = cache_.Find(file)) {
      result.pieces = *known;
      return absl::OkStatus();
    }
    return ReadPieces(root_, file, [&](std::size_t, const std::string& content) {
      result.pieces.push_back(DigestOf(content));
      return absl::OkStatus();
    });
  }

  const int root_;
  const std::vector<FoundFile>& files_;
  const HashCache& cache_;
  std::vector<CodeFile> results_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  absl::Status status_;
};

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

struct SavedHashes {
  const std::string& path;
  const std::string& root;
  int64_t start_ns = 0;  // Start of the snapshot.
};

// Saves the digests if a file has changed since `cache` was saved.
void SaveHashes(const Snapshot& snapshot, const HashCache& cache, const SavedHashes& saved) {
  const auto is_new = [&](const FoundFile& file) {
    return file.kind != FileKind::kLink && cache.Find(file) == nullptr;
  };
  if (std::ranges::none_of(snapshot.tree.files, is_new)) return;
  HashCache next;
  for (std::size_t index = 0; index < snapshot.tree.files.size(); ++index) {
    const FoundFile& file = snapshot.tree.files[index];
    if (file.kind != FileKind::kLink) next.Put(file, snapshot.manifest.files[index].pieces);
  }
  // Without the cache the next snapshot takes longer, but is the same.
  next.Save(saved.path, saved.root, saved.start_ns).IgnoreError();
}

absl::StatusOr<Snapshot> TryTakeSnapshot(const std::string& root, const WalkOptions& options,
                                         const std::string& cache_path) {
  const int64_t start_ns = NowNs();
  std::future<HashCache> loading = std::async(std::launch::async, [&] {
    return cache_path.empty() ? HashCache() : HashCache::Load(cache_path, root);
  });
  Snapshot snapshot;
  TRAINYARD_ASSIGN_OR_RETURN(snapshot.tree, WalkTree(root, options));
  if (snapshot.tree.files.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the code directory ", root,
                     " has no files, or all of them are ignored; set "
                     "code.path to the directory of the program"));
  }
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRoot(root));
  const HashCache cache = loading.get();
  TRAINYARD_ASSIGN_OR_RETURN(snapshot.manifest.files,
                             Hashing(fd.get(), snapshot.tree.files, cache).Run());
  TRAINYARD_ASSIGN_OR_RETURN(snapshot.manifest_text, WriteManifest(snapshot.manifest));
  snapshot.id = DigestOf(snapshot.manifest_text);
  if (!cache_path.empty()) SaveHashes(snapshot, cache, {cache_path, root, start_ns});
  return snapshot;
}

}  // namespace

absl::StatusOr<Snapshot> TakeSnapshot(const std::string& root, const WalkOptions& options,
                                      const std::string& cache_path) {
  absl::StatusOr<Snapshot> snapshot = TryTakeSnapshot(root, options, cache_path);
  for (int tries = 1; tries < kTries && absl::IsAborted(snapshot.status()); ++tries) {
    snapshot = TryTakeSnapshot(root, options, cache_path);
  }
  return snapshot;
}

absl::Status PackFiles(const std::string& root, const Snapshot& snapshot,
                       const std::set<std::string>& wanted, const PackSink& sink) {
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRoot(root));
  std::set<std::string> left = wanted;
  PackBuilder builder;
  for (std::size_t index = 0; index < snapshot.tree.files.size() && !left.empty(); ++index) {
    const std::vector<std::string>& pieces = snapshot.manifest.files[index].pieces;
    const bool needed = std::any_of(pieces.begin(), pieces.end(), [&](const std::string& digest) {
      return left.contains(digest);
    });
    if (!needed) continue;
    const FoundFile& file = snapshot.tree.files[index];
    const auto add = [&](std::size_t piece, const std::string& content) -> absl::Status {
      if (DigestOf(content) != pieces[piece]) return Changed(file.path);
      if (left.erase(pieces[piece]) == 0) return absl::OkStatus();
      if (builder.Add(pieces[piece], content)) return absl::OkStatus();
      TRAINYARD_RETURN_IF_ERROR(sink(builder.Finish()));
      builder.Add(pieces[piece], content);
      return absl::OkStatus();
    };
    TRAINYARD_RETURN_IF_ERROR(ReadPieces(fd.get(), file, add));
  }
  return builder.empty() ? absl::OkStatus() : sink(builder.Finish());
}

}  // namespace trainyard::code
