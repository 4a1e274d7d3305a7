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
      // Excludes job_dir/ATTEMPT/rankR/telemetry.jsonl, which has its own limits.
      meter_(loop, {.name = kTelemetryFile, .level = 2}) {}

RankFileSizes LimitKeeper::SizesOf(const std::vector<RankKey>& ranks,
                                   const std::vector<StreamPosition>& streams) const {
  RankFileSizes sizes;
  for (const RankKey& rank : ranks) {
    const RankPaths paths = paths_of_(rank);
    sizes.telemetry += SizeOf(paths.telemetry);
    sizes.log += SizeOf(paths.output);
    const DirectorySize directory = meter_.SizeOf(paths.job_dir);
    sizes.run_dir = directory.bytes;
    sizes.run_dir_files = directory.entries;
    for (const StreamPosition& stream : streams) {
      const bool is_telemetry = stream.id.kind() == v1::STREAM_KIND_TELEMETRY;
      if (is_telemetry && IsOf(stream, rank)) sizes.telemetry_stored += stream.acknowledged;
    }
  }
  return sizes;
}

void LimitKeeper::Check(const std::vector<RankView>& ranks,
                        const std::vector<StreamPosition>& streams, const DiskSize& disk,
                        Timestamp now,
                        const std::function<void(const RankKey&, const std::string&)>& end) {
  const RankLimits limits = LimitsOnDisk(limits_, disk);
  std::map<AttemptKey, Members> attempts;
  for (const RankView& rank : ranks) {
    if (!rank.is_first) continue;
    Members& members = attempts[rank.key.attempt];
    members.all.push_back(rank.key);
    if (std::string_view(rank.state) == "running") members.running.push_back(rank.key);
  }
  std::erase_if(attempts, [](const auto& attempt) { return attempt.second.running.empty(); });
  std::vector<MeteredDirectory> directories;
  for (const auto& [key, members] : attempts) {
    std::set<std::string> marks;
    for (const RankKey& rank : members.all) marks.insert(paths_of_(rank).mark);
    directories.push_back({paths_of_(members.all.front()).job_dir, std::move(marks)});
    const std::string reason = usage_[key].Judge(limits, SizesOf(members.all, streams), now);
    if (reason.empty()) continue;
    for (const RankKey& rank : members.running) end(rank, reason);
  }
  std::erase_if(usage_, [&](const auto& usage) { return !attempts.contains(usage.first); });
  meter_.Measure(directories);
}

}  // namespace trainyard::worker
