#include "worker/core/rank_limits.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace trainyard::worker {
namespace {

constexpr int64_t kWindowSeconds = RankUsage::kWindowMs / 1000;
constexpr Timestamp kSampleEveryMs = 500;

std::string MebibytesText(int64_t bytes) {
  return absl::StrFormat("%.1f MiB", static_cast<double>(bytes) / (1 << 20));
}

// Returns the smaller of two limits; 0 means no limit.
int64_t Smaller(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

std::string TooFast(const char* what, int64_t bytes, int64_t rate, const char* flag) {
  return absl::StrCat("the rank wrote ", MebibytesText(bytes), " of ", what, " within ",
                      kWindowSeconds, " s, but the node allows ",
                      MebibytesText(rate * kWindowSeconds),
                      "; reduce what the rank writes, or raise ", flag, " of the node's worker");
}

std::string TooMuch(const std::string& what, int64_t bytes, int64_t limit, const char* flag) {
  return absl::StrCat("the rank had ", MebibytesText(bytes), " of ", what, ", but the node allows ",
                      MebibytesText(limit), "; reduce what the rank writes, or raise ", flag,
                      " of the node's worker");
}

}  // namespace

RankLimits LimitsOnDisk(RankLimits limits, const DiskSize& disk) {
  // A rank that exceeds the rate is ended only after the window, and the bytes written by then stay
  // on the disk. These bytes may use at most a sixteenth of the disk.
  const int64_t rate_on_disk = disk.bytes / 16 / kWindowSeconds;
  if (limits.telemetry_bytes > 0) {
    limits.telemetry_bytes = Smaller(limits.telemetry_bytes, disk.bytes / 8);
  }
  if (limits.telemetry_rate > 0) {
    limits.telemetry_rate = Smaller(limits.telemetry_rate, rate_on_disk);
  }
  if (limits.run_dir_bytes == 0) limits.run_dir_bytes = disk.bytes / 4;
  if (limits.run_dir_files == 0) limits.run_dir_files = disk.files / 4;
  limits.run_dir_files = Smaller(limits.run_dir_files, kMostFiles - 1);
  return limits;
}

RankLimits LimitsOnMachine(RankLimits limits, int64_t processes) {
  if (limits.processes > 0) limits.processes = std::min(limits.processes, processes / 2);
  return limits;
}

std::string JudgeProcesses(const RankLimits& limits, int64_t processes) {
  if (limits.processes == 0 || processes <= limits.processes) return "";
  return absl::StrCat(
      "the rank had ", processes, " processes and threads, but the node allows ", limits.processes,
      "; reduce the processes of the rank, or raise --processes-limit of the node's worker");
}

std::string RankUsage::Judge(const RankLimits& limits, const RankFileSizes& sizes, Timestamp now) {
  if (samples_.empty() || now - samples_.back().time_ms >= kSampleEveryMs) {
    samples_.push_back({now, sizes.telemetry, sizes.log});
  }
  while (samples_.size() > 1 && now - samples_[1].time_ms >= kWindowMs) samples_.pop_front();
  const Sample& begin = samples_.front();
  const int64_t telemetry = sizes.telemetry - begin.telemetry, log = sizes.log - begin.log;
  if (limits.telemetry_rate > 0 && telemetry > limits.telemetry_rate * kWindowSeconds) {
    return TooFast("telemetry", telemetry, limits.telemetry_rate, "--telemetry-rate-limit");
  }
  if (limits.log_rate > 0 && log > limits.log_rate * kWindowSeconds) {
    return TooFast("output", log, limits.log_rate, "--log-rate-limit");
  }
  const int64_t unsent = sizes.telemetry - sizes.telemetry_stored;
  if (limits.telemetry_bytes > 0 && unsent > limits.telemetry_bytes) {
    return TooMuch("telemetry that the controller has not stored", unsent, limits.telemetry_bytes,
                   "--telemetry-limit");
  }
  if (limits.run_dir_bytes > 0 && sizes.run_dir > limits.run_dir_bytes) {
    return TooMuch("files in TRAINYARD_RUN_DIR", sizes.run_dir, limits.run_dir_bytes,
                   "--run-dir-limit");
  }
  if (limits.run_dir_files > 0 && sizes.run_dir_files > limits.run_dir_files) {
    return absl::StrCat(
        "the rank had ",
        sizes.run_dir_files < kMostFiles ? absl::StrCat(sizes.run_dir_files)
                                         : absl::StrCat(kMostFiles, " or more"),
        " files and directories in TRAINYARD_RUN_DIR, but the node allows ", limits.run_dir_files,
        "; reduce the files of the rank, or raise --run-dir-files-limit of the node's worker");
  }
  return "";
}

}  // namespace trainyard::worker
