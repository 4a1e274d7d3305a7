#include "worker/spool/output_space.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <optional>

#include "absl/strings/str_cat.h"
#include "proto/files/unique_fd.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

// Holes consist of complete blocks of this size. No common file system has larger blocks.
constexpr int64_t kBlockBytes = 64 << 10;

int64_t AlignDown(int64_t offset) { return offset / kBlockBytes * kBlockBytes; }

// Returns the highest offset up to which bytes of the file may be dropped. If `lose` is true, bytes
// that the controller has not stored may be dropped too.
int64_t ReleaseLimit(const OutputFile& file, bool lose) {
  const int64_t limit = std::min(file.keep_from, file.size - kOutputKeptAtEnd);
  return AlignDown(lose ? limit : std::min(limit, file.stored));
}

// Sorts the files by the number of bytes that are not yet stored, largest first. A rank that fills
// the disk thus loses its own output, not other ranks' output. Files with equal numbers keep their
// order: oldest attempt first.
void LargestFirst(const std::vector<OutputFile>& files, std::vector<std::size_t>& order) {
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const auto waiting = [&](std::size_t i) {
      return files[i].size - std::max(files[i].first_byte, files[i].stored);
    };
    return waiting(a) > waiting(b);
  });
}

}  // namespace

std::vector<Release> PlanRelease(const std::vector<OutputFile>& files, int64_t bytes_to_free) {
  std::vector<Release> releases;
  for (const OutputFile& file : files) {
    releases.push_back({file.path, file.first_byte, file.first_byte, 0});
  }
  std::vector<std::size_t> order(files.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (const bool lose : {false, true}) {
    if (lose) LargestFirst(files, order);
    for (auto next = order.begin(); next != order.end() && bytes_to_free > 0; ++next) {
      const std::size_t i = *next;
      Release& release = releases[i];
      // Only complete blocks are freed, so up to one block more than requested may be freed.
      const int64_t wanted = AlignDown(release.end + bytes_to_free + kBlockBytes - 1);
      const int64_t end = std::min(wanted, ReleaseLimit(files[i], lose));
      if (end <= release.end) continue;
      bytes_to_free -= end - release.end;
      release.end = end;
      release.lost = std::max<int64_t>(0, end - std::max(release.begin, files[i].stored));
    }
  }
  std::erase_if(releases, [](const Release& release) { return release.begin == release.end; });
  return releases;
}

int64_t BytesOnDisk(const GuardedPath& path) {
  const std::optional<struct stat> info = StatGuardedFile(path);
  return info.has_value() ? info->st_blocks * kStatBlockBytes : 0;
}

int64_t FirstKeptByte(const GuardedPath& path) {
  const absl::StatusOr<UniqueFd> fd = OpenGuarded(path, O_RDONLY);
  if (!fd.ok()) return 0;
  const off_t first = lseek(fd->get(), 0, SEEK_DATA);
  if (first >= 0) return first;
  struct stat info {};
  // ENXIO means that the file has only a hole and no data.
  return errno == ENXIO && fstat(fd->get(), &info) == 0 ? info.st_size : 0;
}

absl::Status DropOutput(const Release& release) {
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd fd, OpenGuarded(release.path, O_WRONLY));
  // The hole starts at 0, so that blocks that were not freed before a crash are freed now.
  if (fallocate(fd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, release.end) == 0) {
    return absl::OkStatus();
  }
  if (errno == EOPNOTSUPP) {
    return absl::UnimplementedError(
        absl::StrCat("the file system of ", release.path.text(),
                     " cannot free parts of a file (no hole punching); set the worker's "
                     "--data-dir to another file system (ext4, xfs)"));
  }
  return ErrnoStatus(errno, "cannot free a part of", release.path.text());
}

}  // namespace trainyard::worker
