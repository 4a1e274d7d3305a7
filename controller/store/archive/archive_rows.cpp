#include "controller/store/archive/archive_rows.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "controller/core/ledger/ledger.h"
#include "controller/store/archive/job_archive.h"
#include "controller/store/support/block_codec.h"

namespace trainyard::controller {

std::string SoughtText(const v1::Job& job) {
  return absl::AsciiStrToLower(
      absl::StrCat(job.id(), "\n", job.name(), "\n", job.user(), "\n", job.spec().description()));
}

std::array<double, kArchiveFigures.size()> FigureKeysOf(const v1::Job& job) {
  std::array<double, kArchiveFigures.size()> keys{};
  std::ranges::transform(kArchiveFigures, keys.begin(), [&](v1::JobOrder order) {
    return std::get<0>(PlaceOf(order, job, job.progress()));
  });
  return keys;
}

std::string SealRecord(const v1::ArchivedJob& archived) {
  return SealBlock(archived.SerializeAsString(), static_cast<uint64_t>(archived.job().id()));
}

std::string SealTime(const v1::Job& job) {
  return SealBlock(JobTimeOf(job, job.ended_time_ms()).SerializeAsString(),
                   static_cast<uint64_t>(job.id()));
}

std::optional<v1::ArchivedJob> OpenRecord(int64_t newest, std::string_view block) {
  const auto raw = OpenBlock(block, static_cast<uint64_t>(-newest));
  v1::ArchivedJob job;
  if (!raw.ok() || !job.ParseFromString(*raw) || job.job().id() != -newest) return std::nullopt;
  return job;
}

std::optional<v1::JobTime> OpenTime(int64_t newest, std::string_view block) {
  const auto raw = OpenBlock(block, static_cast<uint64_t>(-newest));
  v1::JobTime time;
  if (!raw.ok() || !time.ParseFromString(*raw) || time.job_id() != -newest) return std::nullopt;
  return time;
}

std::set<int> StatesOf(const v1::ListJobsRequest& request) {
  if (request.states().empty()) return {0};
  return {request.states().begin(), request.states().end()};
}

void SortPage(const v1::ListJobsRequest& request, int limit, std::vector<v1::ArchivedJob>& jobs) {
  const auto place = [&](const v1::ArchivedJob& one) {
    return PlaceIn(request, one.job(), one.job().progress());
  };
  std::ranges::stable_sort(jobs, [&](const auto& a, const auto& b) {
    return request.reverse() ? place(b) < place(a) : place(a) < place(b);
  });
  if (jobs.size() > static_cast<std::size_t>(limit)) jobs.resize(static_cast<std::size_t>(limit));
}

}  // namespace trainyard::controller
