#include "worker/limit_keeper.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "worker/process/rank_files.h"
#include "worker/spool/attempt_folders.h"

namespace trainyard::worker {
namespace {

int64_t SizeOf(const GuardedPath& path) {
  const std::optional<struct stat> info = StatGuardedFile(path);
  return info.has_value() ? info->st_size : 0;
}

bool IsOf(const StreamPosition& stream, const RankKey& rank) {
  return stream.id.job_id() == rank.attempt.job_id && stream.id.attempt() == rank.attempt.number &&
         stream.id.rank() == rank.rank;
}

}  // namespace

LimitKeeper::LimitKeeper(boost::asio::io_context& loop, RankLimits limits,
                         std::function<RankPaths(const RankKey&)> paths_of)
    : limits_(limits),
      paths_of_(std::move(paths_of)),
      meter_(loop, {kOutputFile, kTelemetryFile}) {}

RankFileSizes LimitKeeper::SizesOf(const RankKey& rank,
                                   const std::vector<StreamPosition>& streams) const {
  const RankPaths paths = paths_of_(rank);
  RankFileSizes sizes;
  sizes.telemetry = SizeOf(paths.telemetry);
  sizes.log = SizeOf(paths.output);
  const DirectorySize directory = meter_.SizeOf(paths.run_dir);
  sizes.run_dir = directory.bytes;
  sizes.run_dir_files = directory.entries;
  for (const StreamPosition& stream : streams) {
    const bool is_telemetry = stream.id.kind() == v1::STREAM_KIND_TELEMETRY;
    if (is_telemetry && IsOf(stream, rank)) sizes.telemetry_stored = stream.acknowledged;
  }
  return sizes;
}

void LimitKeeper::Check(const std::vector<RankView>& ranks,
                        const std::vector<StreamPosition>& streams, const DiskSize& disk,
                        Timestamp now,
                        const std::function<void(const RankKey&, const std::string&)>& end) {
  const RankLimits limits = LimitsOnDisk(limits_, disk);
  std::set<RankKey> running;
  std::vector<GuardedPath> directories;
  for (const RankView& rank : ranks) {
    if (std::string_view(rank.state) != "running") continue;
    running.insert(rank.key);
    directories.push_back(paths_of_(rank.key).run_dir);
    const std::string reason = usage_[rank.key].Judge(limits, SizesOf(rank.key, streams), now);
    if (!reason.empty()) end(rank.key, reason);
  }
  std::erase_if(usage_, [&](const auto& usage) { return !running.contains(usage.first); });
  meter_.Measure(directories);
}

}  // namespace trainyard::worker
