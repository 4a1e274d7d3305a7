#include "controller/store/archive/memory_job_archive.h"

#include <algorithm>
#include <utility>

#include "controller/core/ledger/ledger.h"

namespace trainyard::controller {
namespace {

v1::ArchivedJob Parsed(const std::string& bytes) {
  v1::ArchivedJob job;
  job.ParseFromString(bytes);
  return job;
}

}  // namespace

void MemoryJobArchive::Add(const v1::ArchivedJob& job) {
  const std::lock_guard lock(mutex_);
  jobs_[job.job().id()] = job.SerializeAsString();
}

void MemoryJobArchive::Remove(int64_t job_id) {
  const std::lock_guard lock(mutex_);
  jobs_.erase(job_id);
}

bool MemoryJobArchive::HasJobs() const {
  const std::lock_guard lock(mutex_);
  return !jobs_.empty();
}

std::map<v1::JobState, int64_t> MemoryJobArchive::CountByState() const {
  const std::lock_guard lock(mutex_);
  std::map<v1::JobState, int64_t> counts;
  for (const auto& [id, bytes] : jobs_) ++counts[Parsed(bytes).job().state()];
  return counts;
}

JobArchive::Found MemoryJobArchive::Find(int64_t job_id) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(job_id);
  if (found == jobs_.end()) return std::nullopt;
  return Parsed(found->second);
}

JobArchive::Found MemoryJobArchive::FindByName(const std::string& name) {
  const std::lock_guard lock(mutex_);
  for (auto it = jobs_.rbegin(); it != jobs_.rend(); ++it) {
    v1::ArchivedJob job = Parsed(it->second);
    if (job.job().name() == name) return job;
  }
  return std::nullopt;
}

JobArchive::Found MemoryJobArchive::FindByRequestId(const std::string& request_id) {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, bytes] : jobs_) {
    v1::ArchivedJob job = Parsed(bytes);
    if (!request_id.empty() && job.details().request_id() == request_id) return job;
  }
  return std::nullopt;
}

absl::StatusOr<ArchivedPage> MemoryJobArchive::List(const v1::ListJobsRequest& request,
                                                    const std::optional<JobPlace>& after,
                                                    int limit) {
  const std::lock_guard lock(mutex_);
  const auto before = [&](const JobPlace& a, const JobPlace& b) {
    return request.reverse() ? b < a : a < b;
  };
  std::vector<std::pair<JobPlace, v1::ArchivedJob>> found;
  ArchivedPage page;
  for (const auto& [id, bytes] : jobs_) {
    v1::ArchivedJob job = Parsed(bytes);
    if (!PassesFilters(request, job.job())) continue;
    ++page.total;
    const JobPlace place = PlaceIn(request, job.job(), job.job().progress());
    if (!after.has_value() || before(*after, place)) found.emplace_back(place, std::move(job));
  }
  std::ranges::sort(found, [&](const auto& a, const auto& b) { return before(a.first, b.first); });
  if (found.size() > static_cast<std::size_t>(limit)) found.resize(limit);
  for (auto& [place, job] : found) page.jobs.push_back(std::move(job));
  return page;
}

absl::Status MemoryJobArchive::ForEachTime(int64_t since_ms,
                                           const std::function<void(const v1::JobTime&)>& visit) {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<int64_t, v1::JobTime>> times;
  for (const auto& [id, bytes] : jobs_) {
    const v1::ArchivedJob archived = Parsed(bytes);
    const int64_t end = archived.job().ended_time_ms();
    if (end >= since_ms) times.emplace_back(-end, JobTimeOf(archived.job(), end));
  }
  std::ranges::stable_sort(times, {}, &std::pair<int64_t, v1::JobTime>::first);
  for (const auto& [end, time] : times) visit(time);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ArchivedEnd>> MemoryJobArchive::EndedBy(int64_t ended_ms, int limit) {
  const std::lock_guard lock(mutex_);
  std::vector<ArchivedEnd> ends;
  for (const auto& [id, bytes] : jobs_) {
    const int64_t end = Parsed(bytes).job().ended_time_ms();
    if (end <= ended_ms) ends.push_back({id, end});
  }
  std::ranges::sort(ends, {}, &ArchivedEnd::ended_ms);
  if (ends.size() > static_cast<std::size_t>(limit)) ends.resize(static_cast<std::size_t>(limit));
  return ends;
}

absl::StatusOr<std::vector<ArchivedEnd>> MemoryJobArchive::EndsOf(
    const std::vector<int64_t>& job_ids) {
  const std::lock_guard lock(mutex_);
  std::vector<ArchivedEnd> ends;
  for (const int64_t id : job_ids) {
    const auto found = jobs_.find(id);
    if (found != jobs_.end()) ends.push_back({id, Parsed(found->second).job().ended_time_ms()});
  }
  return ends;
}

}  // namespace trainyard::controller
