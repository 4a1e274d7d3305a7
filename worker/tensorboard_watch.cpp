#include "worker/tensorboard_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/parsers/tensorboard_metrics.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"
#include "worker/checkpoint_scan.h"
#include "worker/tail/checkpoint_lines.h"

namespace trainyard::worker {
namespace {

using std::chrono::steady_clock;

constexpr char kTensorboardAlert[] = "tensorboard";
constexpr std::size_t kMaxTensorboardStateBytes = 1 << 20;
// Programs write files beside each other, or one directory per run and group of metrics.
constexpr const char* kEventFiles[] = {"*tfevents.*", "*/*tfevents.*", "*/*/*tfevents.*",
                                       "*/*/*/*tfevents.*"};

absl::StatusOr<std::string> ReadFrom(const std::string& path, int64_t offset, std::size_t bytes) {
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd fd, OpenRegularFile(path, O_RDONLY));
  std::string text(bytes, '\0');
  const ssize_t got = pread(fd.get(), text.data(), text.size(), offset);
  if (got < 0) return ErrnoStatus(errno, "cannot read", path);
  text.resize(static_cast<std::size_t>(got));
  return text;
}

}  // namespace

TensorboardWatch::TensorboardWatch(Options options)
    : options_(std::move(options)),
      reports_(options_.name, kTensorboardAlert, options_.telemetry) {}

void TensorboardWatch::Begin() { Load(); }

void TensorboardWatch::Load() {
  if (std::exchange(is_loaded_, true)) return;
  v1::TensorboardState state;
  const auto stored = ReadSmallFile(options_.state_path, kMaxTensorboardStateBytes);
  if (stored.ok() && state.ParseFromString(*stored)) {
    for (const v1::TensorboardFile& file : state.files()) files_[file.path()] = file;
    return;
  }
  // A directory that cannot be read now has no files of earlier attempts, as far as is known.
  const auto sizes = Sizes();
  if (!sizes.ok()) return StoreState();
  for (const auto& [path, bytes] : *sizes) {
    files_[path].set_path(path);
    files_[path].set_offset(bytes);
  }
  StoreState();
}

absl::StatusOr<std::map<std::string, int64_t>> TensorboardWatch::Sizes() const {
  std::map<std::string, int64_t> sizes;
  for (const char* pattern : kEventFiles) {
    TRAINYARD_ASSIGN_OR_RETURN(
        const std::vector<WatchedEntry> entries,
        CheckpointScan(options_.directory, pattern).Find([](const std::string&) { return true; }));
    for (const WatchedEntry& entry : entries) {
      if (!entry.unmeasured) sizes[entry.path] = entry.bytes;
    }
  }
  return sizes;
}

bool TensorboardWatch::IsIdle(const std::string& path, int64_t bytes) {
  Growth& growth = growth_[path];
  const auto now = steady_clock::now();
  if (growth.bytes != bytes) growth = {.bytes = bytes, .since = now};
  return now - growth.since >= kIdleAfter;
}

absl::StatusOr<bool> TensorboardWatch::ReadFile(int64_t bytes, bool idle, v1::TensorboardFile& file,
                                                std::string& lines) {
  // A program that opens a file again may write it from its beginning.
  if (bytes < file.offset()) file.set_offset(0);
  if (file.damaged() || bytes == file.offset()) return false;
  TRAINYARD_ASSIGN_OR_RETURN(
      const std::string text,
      ReadFrom(absl::StrCat(options_.directory, "/", file.path()), file.offset(),
               std::min<std::size_t>(kMostLookBytes, static_cast<std::size_t>(bytes))));
  // A step of more than kMostLookBytes is not waited for.
  const TensorboardSteps read = ReadTensorboardSteps(text, idle || text.size() == kMostLookBytes);
  for (const TensorboardStep& step : read.steps) {
    absl::StrAppend(&lines, MetricsLines(step.metrics, step.time_ms));
  }
  file.set_offset(file.offset() + static_cast<int64_t>(read.bytes));
  file.set_damaged(!read.damage.empty());
  return read.bytes > 0 && file.offset() < bytes;
}

bool TensorboardWatch::Look(WatchLook look) {
  Load();
  const auto sizes = Sizes();
  if (!sizes.ok()) {
    // Programs create the directory with their first metrics.
    if (!absl::IsNotFound(sizes.status())) reports_.Report(Text(sizes.status()), look);
    return false;
  }
  std::map<std::string, v1::TensorboardFile> next = files_;
  std::string lines;
  std::vector<std::string> problems;
  bool more = false;
  for (const auto& [path, bytes] : *sizes) {
    if (next.size() >= kMostEventFiles && !next.contains(path)) {
      problems.push_back(absl::StrCat("more than ", kMostEventFiles, " event files below ",
                                      options_.directory,
                                      "; set `tensorboard` to the directory of "
                                      "this run"));
      break;
    }
    v1::TensorboardFile& file = next[path];
    file.set_path(path);
    const bool was_damaged = file.damaged();
    const bool idle = IsIdle(path, bytes) || look != WatchLook::kRunning;
    const auto left = ReadFile(bytes, idle, file, lines);
    if (!left.ok()) problems.push_back(Text(left.status()));
    more = more || left.value_or(false);
    if (file.damaged() && !was_damaged) {
      problems.push_back(absl::StrCat(path, " is damaged after ", file.offset(),
                                      " bytes; its later metrics are not read"));
    }
  }
  // The next look repeats a failed write.
  const bool is_written =
      lines.empty() || AppendTelemetry(options_.telemetry, lines, look != WatchLook::kRunning).ok();
  if (!is_written) return true;
  files_ = std::move(next);
  if (!lines.empty()) StoreState();
  for (const std::string& problem : problems) reports_.Report(problem, look);
  return more;
}

void TensorboardWatch::StoreState() const {
  v1::TensorboardState state;
  for (const auto& [path, file] : files_) *state.add_files() = file;
  const absl::Status stored = WriteFileAtomically(options_.state_path, state.SerializeAsString());
  // Without the file, a restarted worker reads no earlier bytes.
  if (!stored.ok()) spdlog::warn("{}: {}", options_.name, Text(stored));
}

}  // namespace trainyard::worker
