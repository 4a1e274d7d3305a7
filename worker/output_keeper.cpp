#include "worker/output_keeper.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
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

int64_t OutputKeeper::BytesToFree(const std::vector<StreamPosition>& streams) const {
  int64_t used = 0;
  std::set<std::string> counted;
  for (const StreamPosition& stream : streams) {
    const std::string path = path_of_(stream.id);
    if (counted.insert(path).second) used += BytesOnDisk(path);
  }
  int64_t wanted = used - limits_.bytes_max;
  struct statvfs disk {};
  if (statvfs(directory_.c_str(), &disk) == 0) {
    const auto block = static_cast<int64_t>(disk.f_frsize);
    const int64_t least =
        std::min(limits_.free_min, static_cast<int64_t>(disk.f_blocks) / 20 * block);
    wanted = std::max(wanted, least - static_cast<int64_t>(disk.f_bavail) * block);
  }
  return std::min(wanted, used);
}

std::vector<OutputFile> OutputKeeper::FilesOf(const std::vector<StreamPosition>& streams) const {
  std::vector<OutputFile> files;
  for (const StreamPosition& stream : streams) {
    if (stream.id.kind() != v1::STREAM_KIND_LOG) continue;
    OutputFile file{.path = path_of_(stream.id), .stored = stream.acknowledged};
    struct stat info {};
    if (stat(file.path.c_str(), &info) != 0) continue;
    file.size = info.st_size;
    file.first_byte = FirstKeptByte(file.path);
    file.keep_from = file.size;
    for (const StreamPosition& other : streams) {
      const bool parsed =
          other.id.kind() == v1::STREAM_KIND_PARSED_LOG && SameRank(other.id, stream.id);
      if (parsed) file.keep_from = other.acknowledged;
    }
    files.push_back(std::move(file));
  }
  return files;
}

void OutputKeeper::FreeSpace(const std::vector<StreamPosition>& streams) {
  const int64_t wanted = BytesToFree(streams);
  if (wanted <= 0) return;
  for (const Release& release : PlanRelease(FilesOf(streams), wanted)) {
    const absl::Status status = DropOutput(release);
    if (!status.ok()) {
      // Logged once for each cause: the drop is retried every second.
      if (std::exchange(last_complaint_, Text(status)) != Text(status)) {
        spdlog::error("{}", Text(status));
      }
      continue;
    }
    lost_bytes_ += release.lost;
    if (release.lost > 0) {
      spdlog::warn(
          "no disk space: {} bytes of {} up to byte {} are dropped before the controller has "
          "stored them",
          release.lost, release.path, release.end);
    }
  }
}

}  // namespace trainyard::worker
