#include "controller/store/metrics/memory_metric_store.h"

#include <algorithm>
#include <set>

#include "controller/store/metrics/expert_history.h"
#include "controller/store/metrics/series_builder.h"
#include "controller/store/metrics/series_reader.h"
#include "controller/store/support/stream_offsets.h"

namespace trainyard::controller {

absl::Status MemoryMetricStore::Append(const std::vector<MetricBatch>& batches) {
  std::lock_guard lock(mutex_);
  // The new offsets, applied only after every batch is accepted.
  std::map<StreamKey, int64_t> offsets;
  std::vector<const MetricBatch*> fresh;
  for (const MetricBatch& batch : batches) {
    int64_t& stored = offsets.emplace(batch.stream, offsets_[batch.stream]).first->second;
    TRAINYARD_RETURN_IF_ERROR(
        CheckBatchRange(batch.stream, {batch.begin_offset, batch.end_offset}, stored));
    if (batch.end_offset <= stored) continue;
    stored = batch.end_offset;
    fresh.push_back(&batch);
  }
  for (const auto& [stream, offset] : offsets) offsets_[stream] = offset;
  for (const MetricBatch* batch : fresh) {
    for (const StoredExperts& experts : batch->experts) {
      AddExperts(batch->stream.job_id, experts);
    }
    for (const StoredReportPart& part : batch->reports) {
      AddReportPart(batch->stream.job_id, part);
    }
    for (const MetricPoint& point : batch->points) {
      jobs_[batch->stream.job_id][batch->stream.attempt][point.key][point.step] = {
          point.step, point.time_ms, point.value};
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> MemoryMetricStore::StoredOffset(const StreamKey& stream) {
  std::lock_guard lock(mutex_);
  const auto stored = offsets_.find(stream);
  return stored == offsets_.end() ? 0 : stored->second;
}

MemoryMetricStore::VisibleSeries MemoryMetricStore::FindVisible(const AttemptPoints& attempts,
                                                                const SeriesQuery& query,
                                                                const std::string& key) {
  VisibleSeries visible;
  const int64_t to_step = query.to_step == 0 ? std::numeric_limits<int64_t>::max() : query.to_step;
  int64_t resumed_at = std::numeric_limits<int64_t>::max();
  for (auto attempt = attempts.rbegin(); attempt != attempts.rend(); ++attempt) {
    const auto& [attempt_number, series] = *attempt;
    if (query.attempt != 0 && attempt_number != query.attempt) continue;
    if (const auto points = series.find(key); points != series.end()) {
      const StepRange range{std::max(points->second.begin()->first, query.from_step),
                            std::min({points->second.rbegin()->first, resumed_at, to_step})};
      for (const auto& [step, point] : points->second) {
        // Newer attempts were added before this one, and their points must not be replaced.
        if (step >= range.first && step <= range.last)
          visible.points.try_emplace(step, VisiblePoint{attempt_number, point});
      }
      if (range.first <= range.last) {
        visible.extent = {std::min(visible.extent.first, range.first),
                          std::max(visible.extent.last, range.last)};
      }
    }
    for (const auto& [other_key, points] : series) {
      resumed_at = std::min(resumed_at, points.begin()->first);
    }
  }
  return visible;
}

absl::StatusOr<std::vector<v1::Series>> MemoryMetricStore::Read(const SeriesQuery& query) {
  TRAINYARD_RETURN_IF_ERROR(CheckSeriesQuery(query));
  std::lock_guard lock(mutex_);
  std::vector<VisibleSeries> all;
  StepRange extent = VisibleSeries().extent;
  SeriesQuery whole = query;
  if (query.smooth > 0) whole.from_step = std::numeric_limits<int64_t>::min();
  for (const std::string& key : query.keys) {
    all.push_back(FindVisible(jobs_[query.job_id], whole, key));
    StepRange& steps = all.back().extent;
    steps.first = std::max(steps.first, query.from_step);
    if (steps.last < steps.first) steps = VisibleSeries().extent;
    extent = {std::min(extent.first, all.back().extent.first),
              std::max(extent.last, all.back().extent.last)};
  }
  const BucketGrid grid = MakeBucketGrid(extent.first, extent.last, query.buckets);
  std::vector<v1::Series> result(query.keys.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    result[i].set_key(query.keys[i]);
    SeriesBuilder builder(grid, result[i], {query.smooth, query.from_step});
    for (const auto& [step, visible] : all[i].points) builder.Add(visible.point, visible.attempt);
    builder.Finish();
  }
  return result;
}

absl::StatusOr<std::vector<AttemptRange>> MemoryMetricStore::Attempts(int64_t job_id) {
  std::lock_guard lock(mutex_);
  std::vector<AttemptRange> attempts;
  for (const auto& [attempt_number, series] : jobs_[job_id]) {
    AttemptRange range{attempt_number, VisibleSeries().extent};
    for (const auto& [key, points] : series) {
      range.steps.first = std::min(range.steps.first, points.begin()->first);
      range.steps.last = std::max(range.steps.last, points.rbegin()->first);
    }
    if (range.steps.first <= range.steps.last) attempts.push_back(range);
  }
  return attempts;
}

absl::StatusOr<std::vector<std::string>> MemoryMetricStore::Keys(int64_t job_id) {
  std::lock_guard lock(mutex_);
  std::set<std::string> keys;
  const auto found = jobs_.find(job_id);
  if (found == jobs_.end()) return std::vector<std::string>();
  for (const auto& [attempt_number, series] : found->second) {
    for (const auto& [key, points] : series) keys.insert(key);
  }
  return std::vector<std::string>(keys.begin(), keys.end());
}

void MemoryMetricStore::AddExperts(int64_t job_id, const StoredExperts& added) {
  Experts& experts = experts_[job_id];
  const int64_t step = added.record.step();
  const bool is_late = std::ranges::any_of(experts, [&](const auto& kept) {
    return kept.first <= step && kept.second.attempt > added.attempt;
  });
  if (is_late) return;
  std::erase_if(experts, [&](const auto& kept) {
    return kept.first >= step && kept.second.attempt < added.attempt;
  });
  experts[step] = added;
  if (const auto removed = ExpertStepToRemove(StepsOf(experts))) experts.erase(*removed);
}

std::vector<int64_t> MemoryMetricStore::StepsOf(const Experts& experts) {
  std::vector<int64_t> steps;
  for (const auto& [step, kept] : experts) steps.push_back(step);
  return steps;
}

absl::StatusOr<std::vector<StoredExperts>> MemoryMetricStore::ReadExperts(int64_t job_id) {
  std::lock_guard lock(mutex_);
  std::vector<StoredExperts> records;
  const auto found = experts_.find(job_id);
  if (found == experts_.end()) return records;
  for (const auto& [step, kept] : found->second) records.push_back(kept);
  return records;
}

MemoryMetricStore::Reports::const_iterator MemoryMetricStore::NewestComplete(
    const Reports& reports) {
  auto newest = reports.end();
  for (auto report = reports.begin(); report != reports.end(); ++report) {
    int parts = 0;
    for (const auto& [number, part] : report->second) parts = std::max(parts, part.record.parts());
    if (static_cast<int>(report->second.size()) == parts) newest = report;
  }
  return newest;
}

StoredDataReport MemoryMetricStore::JoinedReport(const DataReportKey& key,
                                                 const ReportParts& parts) {
  StoredDataReport report{.attempt = key.attempt};
  for (const auto& [number, part] : parts) {
    report.text += part.record.text();
    report.time_ms = std::max(report.time_ms, part.time_ms);
  }
  return report;
}

void MemoryMetricStore::AddReportPart(int64_t job_id, const StoredReportPart& part) {
  Reports& reports = reports_[job_id];
  if (!reports.empty() && reports.rbegin()->first > part.key()) return;
  reports[part.key()][part.record.part()] = part;
  const auto complete = NewestComplete(reports);
  const DataReportKey kept = complete == reports.end() ? DataReportKey() : complete->first;
  if (kept == part.key()) {
    data_sets_[job_id] = DataSetsInReport(JoinedReport(kept, complete->second).text);
  }
  std::erase_if(reports, [&](const auto& report) {
    return report.first != part.key() && report.first != kept;
  });
}

absl::StatusOr<std::optional<StoredDataReport>> MemoryMetricStore::ReadDataReport(int64_t job_id) {
  std::lock_guard lock(mutex_);
  const auto found = reports_.find(job_id);
  if (found == reports_.end()) return std::nullopt;
  const auto newest = NewestComplete(found->second);
  if (newest == found->second.end()) return std::nullopt;
  return JoinedReport(newest->first, newest->second);
}

absl::StatusOr<std::vector<LinkedDataSet>> MemoryMetricStore::ReadDataSets(int64_t job_id) {
  std::lock_guard lock(mutex_);
  std::vector<LinkedDataSet> linked;
  const auto found = data_sets_.find(job_id);
  if (found == data_sets_.end()) return linked;
  for (const ReportedDataSet& set : found->second.sets) {
    linked.push_back({.set = set, .reads = found->second.reads});
    if (!set.xxh64.empty()) AddJobs(linked.back());
  }
  return linked;
}

void MemoryMetricStore::AddJobs(LinkedDataSet& linked) const {
  for (auto job = data_sets_.rbegin(); job != data_sets_.rend(); ++job) {
    std::set<std::string> paths;
    for (const ReportedDataSet& set : job->second.sets) {
      if (set.xxh64 == linked.set.xxh64) paths.insert(set.path);
    }
    if (job->second.reads == linked.reads || paths.empty()) continue;
    if (linked.jobs.size() == kLinkedJobsMax) {
      ++linked.omitted_jobs;
    } else {
      linked.jobs.push_back({job->first, *paths.begin()});
    }
  }
}

absl::StatusOr<StoreUsage> MemoryMetricStore::Usage() {
  std::lock_guard lock(mutex_);
  StoreUsage usage;
  for (const auto& [job_id, attempts] : jobs_) usage.used_bytes += PointBytes(attempts);
  return usage;
}

absl::StatusOr<int64_t> MemoryMetricStore::NextJob(int64_t after) {
  std::lock_guard lock(mutex_);
  const auto next = std::ranges::find_if(
      offsets_, [=](const auto& stored) { return stored.first.job_id > after; });
  return next == offsets_.end() ? 0 : next->first.job_id;
}

absl::StatusOr<int64_t> MemoryMetricStore::JobBytes(int64_t job_id) {
  std::lock_guard lock(mutex_);
  const auto found = jobs_.find(job_id);
  int64_t bytes = found == jobs_.end() ? 0 : PointBytes(found->second);
  if (const auto reports = reports_.find(job_id); reports != reports_.end()) {
    for (const auto& [key, parts] : reports->second) {
      for (const auto& [number, part] : parts) {
        bytes += static_cast<int64_t>(part.record.text().size());
      }
    }
  }
  const auto experts = experts_.find(job_id);
  if (experts == experts_.end()) return bytes;
  for (const auto& [step, kept] : experts->second) {
    bytes += static_cast<int64_t>(kept.record.ByteSizeLong());
  }
  return bytes;
}

absl::Status MemoryMetricStore::DropJob(int64_t job_id) {
  std::lock_guard lock(mutex_);
  jobs_.erase(job_id);
  experts_.erase(job_id);
  reports_.erase(job_id);
  data_sets_.erase(job_id);
  std::erase_if(offsets_, [=](const auto& stored) { return stored.first.job_id == job_id; });
  return absl::OkStatus();
}

absl::StatusOr<bool> MemoryMetricStore::Reclaim() { return false; }

int64_t MemoryMetricStore::PointBytes(const AttemptPoints& attempts) {
  std::size_t points = 0;
  for (const auto& [attempt_number, series] : attempts) {
    for (const auto& [key, series_points] : series) points += series_points.size();
  }
  return static_cast<int64_t>(points * sizeof(SeriesPoint));
}

}  // namespace trainyard::controller
