#include "worker/output_keeper.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"

namespace trainyard::worker {
namespace {

bool SameRank(const v1::StreamId& a, const v1::StreamId& b) {
  return a.job_id() == b.job_id() && a.attempt() == b.attempt() && a.rank() == b.rank();
}

}  // namespace

// Returns how many bytes must be freed so that the streams' files use at most bytes_max and the
// disk keeps its minimum free space. The result is at most the size of the files, and 0 or less if
// nothing must be freed.
int64_t OutputKeeper::BytesToFree(const std::vector<StreamPosition>& streams) const {
  int64_t used = 0;
  // Count each file once: the log and the parsed log of a rank are two streams of the same file.
  std::set<std::string> counted;
  for (const StreamPosition& stream : streams) {
    const GuardedPath path = path_of_(stream.id);
    if (counted.insert(path.text()).second) used += BytesOnDisk(path);
  }
  int64_t wanted = used - limits_.bytes_max;
  struct statvfs disk {};
  if (statvfs(directory_.c_str(), &disk) == 0) {
    const auto block = static_cast<int64_t>(disk.f_frsize);
    // On a small disk, only a twentieth is kept free.
    const int64_t least =
        std::min(limits_.free_min, static_cast<int64_t>(disk.f_blocks) / 20 * block);
    wanted = std::max(wanted, least - static_cast<int64_t>(disk.f_bavail) * block);
  }
  return std::min(wanted, used);
}

// Returns the files of the ranks. Telemetry may be dropped only after the controller has stored it.
std::vector<OutputFile> OutputKeeper::FilesOf(const std::vector<StreamPosition>& streams) const {
  std::vector<OutputFile> files;
  for (const StreamPosition& stream : streams) {
    const bool is_telemetry = stream.id.kind() == v1::STREAM_KIND_TELEMETRY;
    if (!is_telemetry && stream.id.kind() != v1::STREAM_KIND_LOG) continue;
    OutputFile file{.path = path_of_(stream.id), .stored = stream.acknowledged};
    const std::optional<struct stat> info = StatGuardedFile(file.path);
    if (!info.has_value()) continue;
    file.size = info->st_size;
    file.first_byte = FirstKeptByte(file.path);
    // Keep one byte before the stored offset: this byte shows the reader that a line begins at the
    // offset.
    file.keep_from = is_telemetry ? std::max<int64_t>(0, stream.acknowledged - 1) : file.size;
    // Keep the output that the log parser still needs: all bytes from the acknowledged offset of
    // the parsed stream.
    for (const StreamPosition& other : streams) {
      const bool parsed = !is_telemetry && other.id.kind() == v1::STREAM_KIND_PARSED_LOG &&
                          SameRank(other.id, stream.id);
      if (parsed) file.keep_from = other.acknowledged;
    }
    files.push_back(std::move(file));
  }
  return files;
}

// Logs each cause only once per file, because the drop is retried several times a second.
void OutputKeeper::LogError(const std::string& path, const std::string& text) {
  if (std::exchange(logged_errors_[path], text) != text) spdlog::error("{}", text);
}

void OutputKeeper::FreeSpace(const std::vector<StreamPosition>& streams) {
  const int64_t wanted = BytesToFree(streams);
  if (wanted <= 0) return;
  const std::vector<OutputFile> files = FilesOf(streams);
  std::erase_if(logged_errors_, [&](const auto& logged) {
    return std::ranges::none_of(
        files, [&](const OutputFile& file) { return file.path.text() == logged.first; });
  });
  for (const Release& release : PlanRelease(files, wanted)) {
    const absl::Status status = DropOutput(release);
    if (!status.ok()) {
      LogError(release.path.text(), Text(status));
      continue;
    }
    logged_errors_.erase(release.path.text());
    lost_bytes_ += release.lost;
    if (release.lost > 0) {
      spdlog::warn(
          "for lack of disk space, {} bytes of {}, up to byte {}, were dropped before the "
          "controller had stored them",
          release.lost, release.path.text(), release.end);
    }
  }
}

}  // namespace trainyard::worker
