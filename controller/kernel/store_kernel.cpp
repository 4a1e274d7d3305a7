#include "controller/kernel/store_kernel.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/contract/telemetry_keys.h"

namespace trainyard::controller {
namespace {

// The maximum number of cached stream offsets. A larger cache is cleared and filled again as
// needed.
constexpr std::size_t kMaxKnownStreams = 200'000;

// Returns true if `attempt` itself saved the checkpoint. Returns false for a checkpoint of an
// earlier attempt whose rank 0 was killed before it could report the checkpoint. Such a checkpoint
// gets no metric point. The point would belong to `attempt`. In merged curves, an attempt's first
// point ends the previous attempt's curve, so the point would hide steps of the previous attempt. A
// record without blocking_seconds gets no point either, because the program did not measure them.
bool IsOwnCheckpoint(const v1::CheckpointRecord& record, int64_t attempt) {
  return !record.deleted() && (record.attempt() == 0 || record.attempt() == attempt);
}

void AddPoints(const v1::TelemetryRecord& record, int64_t attempt,
               std::vector<MetricPoint>& points) {
  const auto add = [&](std::string key, int64_t step, double value) {
    points.push_back({std::move(key), step, record.time_ms(), value});
  };
  if (record.has_metrics()) {
    for (const auto& [key, value] : record.metrics().values()) {
      add(key, record.metrics().step(), value);
    }
  } else if (record.has_evaluation()) {
    const v1::EvaluationRecord& evaluation = record.evaluation();
    add(telemetry::EvaluationLoss(evaluation.data_set()), evaluation.step(), evaluation.loss());
    add(telemetry::EvaluationPerplexity(evaluation.data_set()), evaluation.step(),
        std::exp(evaluation.loss()));
  } else if (record.has_checkpoint() && IsOwnCheckpoint(record.checkpoint(), attempt) &&
             record.checkpoint().blocking_seconds() > 0) {
    add("checkpoint_blocking_seconds", record.checkpoint().step(),
        record.checkpoint().blocking_seconds());
  }
}

absl::Status Misplaced(const StreamKey& stream, int64_t begin, int64_t stored) {
  return absl::OutOfRangeError(absl::StrCat(
      "stream of job ", stream.job_id, " attempt ", stream.attempt, " rank ", stream.rank,
      ": data begins at byte ", begin, ", but only ", stored, " bytes are stored"));
}

}  // namespace

bool IsMetricStream(const StreamKey& stream) { return stream.kind != v1::STREAM_KIND_LOG; }

MetricBatch ToMetricBatch(const v1::TelemetryBatch& batch) {
  MetricBatch result;
  result.stream = ToStreamKey(batch.stream());
  result.begin_offset = batch.begin_offset();
  result.end_offset = batch.end_offset();
  for (const v1::TelemetryRecord& record : batch.records()) {
    AddPoints(record, result.stream.attempt, result.points);
    if (record.has_experts()) {
      result.experts.push_back({result.stream.attempt, record.time_ms(), record.experts()});
    } else if (record.has_data_report()) {
      result.reports.push_back({result.stream.attempt, record.time_ms(), record.data_report()});
    }
  }
  return result;
}

bool StoreKernel::Knows(const StreamKey& stream) const {
  return next_.contains(stream) || quarantined_.contains(stream) || stored_.contains(stream);
}

bool StoreKernel::Quarantine(const StreamKey& stream, const absl::Status& damage) {
  return quarantined_.emplace(stream, damage).second;
}

std::optional<int64_t> StoreKernel::StoredOffset(const StreamKey& stream) const {
  const auto it = stored_.find(stream);
  return it == stored_.end() ? std::nullopt : std::optional<int64_t>(it->second);
}

int64_t StoreKernel::NextOffset(const StreamKey& stream) const {
  const auto next = next_.find(stream);
  return next != next_.end() ? next->second : stored_.at(stream);
}

bool StoreKernel::Admit(const StreamKey& stream, int64_t begin, int64_t end, Stored& stored) {
  if (const auto damage = quarantined_.find(stream); damage != quarantined_.end()) {
    replies_.push_back({std::move(stored), stream, damage->second});
    return false;
  }
  const int64_t next = NextOffset(stream);
  if (end <= next) {
    waiting_.push_back({std::move(stored), stream, next});
    return false;
  }
  if (begin > next) {
    replies_.push_back({std::move(stored), stream, Misplaced(stream, begin, next)});
    return false;
  }
  next_[stream] = end;
  waiting_.push_back({std::move(stored), stream, end});
  return true;
}

void StoreKernel::Add(TelemetryItem item) {
  const v1::TelemetryBatch& batch = item.batch;
  const StreamKey stream = ToStreamKey(batch.stream());
  if (!Admit(stream, batch.begin_offset(), batch.end_offset(), item.stored)) return;
  const MetricBatch& added = group_.metrics.emplace_back(ToMetricBatch(batch));
  if (added.points.empty()) return;
  int64_t& newest = group_.newest_steps[stream.job_id];
  for (const MetricPoint& point : added.points) newest = std::max(newest, point.step);
}

void StoreKernel::Add(OutputItem item) {
  v1::LogChunk& chunk = item.chunk;
  const StreamKey stream = ToStreamKey(chunk.stream());
  const int64_t end = chunk.begin_offset() + static_cast<int64_t>(chunk.data().size());
  if (!Admit(stream, chunk.begin_offset(), end, item.stored)) return;
  group_.logs.push_back(
      {stream, chunk.begin_offset(), chunk.time_ms(), std::move(*chunk.mutable_data())});
  group_.jobs_with_output.insert(stream.job_id);
}

StoreKernel::Group StoreKernel::GroupStored() {
  if (stored_.size() > kMaxKnownStreams) stored_.clear();
  for (const auto& [stream, offset] : next_) {
    if (!quarantined_.contains(stream)) stored_[stream] = offset;
  }
  for (Reply& reply : waiting_) {
    const auto damage = quarantined_.find(reply.stream);
    if (damage != quarantined_.end()) reply.result = damage->second;
    replies_.push_back(std::move(reply));
  }
  waiting_.clear();
  next_.clear();
  return std::exchange(group_, {});
}

}  // namespace trainyard::controller
