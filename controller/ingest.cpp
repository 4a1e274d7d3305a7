#include "controller/ingest.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/retry_backoff.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

using Steady = std::chrono::steady_clock;

// Streams whose offsets are cached; a larger cache is emptied and filled again.
constexpr std::size_t kMaxKnownStreams = 200'000;

bool IsMetricStream(const StreamKey& stream) { return stream.kind != v1::STREAM_KIND_LOG; }

void AddPoints(const v1::TelemetryRecord& record, std::vector<MetricPoint>& points) {
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
  } else if (record.has_checkpoint() && !record.checkpoint().deleted()) {
    add("checkpoint_blocking_seconds", record.checkpoint().step(),
        record.checkpoint().blocking_seconds());
  }
}

StoreName StoreOf(Ingest::Write write) {
  return write == Ingest::Write::kMetrics ? StoreName::kMetrics : StoreName::kLogs;
}

absl::Status Misplaced(const StreamKey& stream, int64_t begin, int64_t stored) {
  return absl::OutOfRangeError(absl::StrCat(
      "stream of job ", stream.job_id, " attempt ", stream.attempt, " rank ", stream.rank,
      ": bytes from ", begin, " on do not follow the ", stored, " that are stored"));
}

}  // namespace

MetricBatch ToMetricBatch(const v1::TelemetryBatch& batch) {
  MetricBatch result;
  result.stream = ToStreamKey(batch.stream());
  result.begin_offset = batch.begin_offset();
  result.end_offset = batch.end_offset();
  for (const v1::TelemetryRecord& record : batch.records()) AddPoints(record, result.points);
  return result;
}

Ingest::Ingest(MetricStore& metrics, LogStore& logs, StorageHealth& health,
               std::function<void(int64_t job_id)> on_output, ObserveWrite on_write)
    : metrics_(metrics),
      logs_(logs),
      health_(health),
      on_output_(std::move(on_output)),
      on_write_(std::move(on_write)) {
  thread_ = std::thread([this] { Run(); });
}

Ingest::~Ingest() { Stop(); }

void Ingest::AddTelemetry(v1::TelemetryBatch batch, Stored stored) {
  Add(Telemetry{std::move(batch), std::move(stored)});
}

void Ingest::AddOutput(v1::LogChunk chunk, Stored stored) {
  Add(Output{std::move(chunk), std::move(stored)});
}

void Ingest::ReadOffsets(std::vector<StreamKey> streams,
                         std::function<void(const Offsets& offsets)> done) {
  Add(OffsetsQuestion{std::move(streams), std::move(done)});
}

void Ingest::Stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

int64_t Ingest::BytesOf(const Item& item) {
  if (const auto* telemetry = std::get_if<Telemetry>(&item)) {
    return telemetry->batch.end_offset() - telemetry->batch.begin_offset();
  }
  const auto* output = std::get_if<Output>(&item);
  return output == nullptr ? 0 : static_cast<int64_t>(output->chunk.data().size());
}

void Ingest::Add(Item item) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    ++statistics_.queued_items;
    statistics_.queued_bytes += BytesOf(item);
    queued_questions_ += static_cast<int>(std::holds_alternative<OffsetsQuestion>(item));
    queue_.push_back(std::move(item));
  }
  changed_.notify_all();
}

void Ingest::Run() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      taken_.swap(queue_);
      queued_questions_ = 0;
      // Items that are being written count as stored or retried, no longer as queued.
      statistics_.queued_items = 0;
      statistics_.queued_bytes = 0;
    }
    StoreTaken();
  }
}

void Ingest::StoreTaken() {
  Group group;
  while (!taken_.empty()) {
    const bool is_question = std::holds_alternative<OffsetsQuestion>(taken_.front());
    if (is_question && !group.answers.empty()) {
      // The question stays in taken_: if the store refuses the write, AnswerWaiting finds it.
      WriteGroup(group);
      group = {};
      continue;
    }
    Item item = std::move(taken_.front());
    taken_.pop_front();
    if (auto* telemetry = std::get_if<Telemetry>(&item)) {
      AddTo(group, std::move(*telemetry));
    } else if (auto* output = std::get_if<Output>(&item)) {
      AddTo(group, std::move(*output));
    } else {
      Answer(std::get<OffsetsQuestion>(item));
    }
  }
  WriteGroup(group);
}

void Ingest::AddTo(Group& group, Telemetry telemetry) {
  const v1::TelemetryBatch& batch = telemetry.batch;
  const StreamKey stream = ToStreamKey(batch.stream());
  const std::optional<int64_t> next = Admit(group, stream, telemetry.stored);
  if (!next.has_value()) return;
  if (batch.end_offset() <= *next) {
    group.answers.push_back({std::move(telemetry.stored), stream, *next});
  } else if (batch.begin_offset() > *next) {
    telemetry.stored(Misplaced(stream, batch.begin_offset(), *next));
  } else {
    group.metrics.push_back(ToMetricBatch(batch));
    group.next[stream] = batch.end_offset();
    group.answers.push_back({std::move(telemetry.stored), stream, batch.end_offset()});
  }
}

void Ingest::AddTo(Group& group, Output output) {
  v1::LogChunk& chunk = output.chunk;
  const StreamKey stream = ToStreamKey(chunk.stream());
  const std::optional<int64_t> next = Admit(group, stream, output.stored);
  if (!next.has_value()) return;
  const int64_t end = chunk.begin_offset() + static_cast<int64_t>(chunk.data().size());
  if (chunk.begin_offset() > *next) {
    output.stored(Misplaced(stream, chunk.begin_offset(), *next));
  } else if (end <= *next) {
    group.answers.push_back({std::move(output.stored), stream, *next});
  } else {
    group.logs.push_back(
        {stream, chunk.begin_offset(), chunk.time_ms(), std::move(*chunk.mutable_data())});
    group.next[stream] = end;
    group.answers.push_back({std::move(output.stored), stream, end});
    group.jobs_with_output.insert(stream.job_id);
  }
}

std::optional<int64_t> Ingest::Admit(const Group& group, const StreamKey& stream,
                                     const Stored& stored) {
  if (const auto it = group.next.find(stream); it != group.next.end()) return it->second;
  if (!quarantined_.contains(stream)) {
    const Write store = IsMetricStream(stream) ? Write::kMetrics : Write::kLogs;
    int64_t next = 0;
    const absl::Status status = TryUntilDone(store, [&]() -> absl::Status {
      TRAINYARD_ASSIGN_OR_RETURN(next, StoredOffset(stream));
      return absl::OkStatus();
    });
    if (status.ok()) return next;
    if (!absl::IsDataLoss(status)) return std::nullopt;
    Quarantine(store, stream, status);
  }
  stored(quarantined_.at(stream));
  return std::nullopt;
}

void Ingest::WriteGroup(Group& group) {
  const bool written =
      WriteBatches<MetricBatch>(Write::kMetrics, group.metrics,
                                [this](const auto& batches) { return metrics_.Append(batches); }) &&
      WriteBatches<LogBatch>(Write::kLogs, group.logs,
                             [this](const auto& batches) { return logs_.Append(batches); });
  if (!written) return;
  CountStored(group);
  if (stored_.size() > kMaxKnownStreams) stored_.clear();
  for (const auto& [stream, offset] : group.next) {
    if (!quarantined_.contains(stream)) stored_[stream] = offset;
  }
  for (const Reply& reply : group.answers) {
    const auto damaged = quarantined_.find(reply.stream);
    reply.stored(damaged == quarantined_.end() ? absl::StatusOr<int64_t>(reply.offset)
                                               : absl::StatusOr<int64_t>(damaged->second));
  }
  for (const int64_t job_id : group.jobs_with_output) on_output_(job_id);
}

template <typename Batch>
bool Ingest::WriteBatches(Write write, const std::vector<Batch>& batches,
                          const std::function<absl::Status(const std::vector<Batch>&)>& append) {
  if (batches.empty()) return true;
  absl::Status status = WriteStore(write, [&] { return append(batches); });
  if (!absl::IsDataLoss(status)) return status.ok();
  // One damaged stream must not hold up other streams.
  std::map<StreamKey, std::vector<Batch>> by_stream;
  for (const Batch& batch : batches) by_stream[batch.stream].push_back(batch);
  for (const auto& [stream, own] : by_stream) {
    status = WriteStore(write, [&] { return append(own); });
    if (absl::IsDataLoss(status)) {
      Quarantine(write, stream, status);
    } else if (!status.ok()) {
      return false;
    }
  }
  return true;
}

absl::Status Ingest::WriteStore(Write write, const std::function<absl::Status()>& append) {
  return TryUntilDone(write, [&] {
    const Steady::time_point begin = Steady::now();
    const absl::Status status = append();
    if (status.ok() && on_write_) {
      on_write_(write, std::chrono::duration<double>(Steady::now() - begin).count());
    }
    return status;
  });
}

absl::Status Ingest::TryUntilDone(Write store, const std::function<absl::Status()>& action) {
  RetryBackoff backoff;
  while (true) {
    const absl::Status status = action();
    if (absl::IsDataLoss(status)) return status;
    health_.Report(StoreOf(store), status);
    if (status.ok()) return status;
    if (!WaitToRetry(backoff.Next())) return absl::CancelledError("stopping");
  }
}

void Ingest::Quarantine(Write write, const StreamKey& stream, const absl::Status& damage) {
  if (!quarantined_.emplace(stream, damage).second) return;
  health_.ReportDamage(StoreOf(write), damage);
  spdlog::error(
      "job {} attempt {} rank {}: what its worker sends cannot be stored: {}; the worker "
      "keeps it as long as it has free space",
      stream.job_id, stream.attempt, stream.rank, std::string(damage.message()));
}

void Ingest::CountStored(const Group& group) {
  const std::lock_guard lock(mutex_);
  for (const MetricBatch& batch : group.metrics) {
    if (quarantined_.contains(batch.stream)) continue;
    statistics_.telemetry_bytes += batch.end_offset - batch.begin_offset;
    statistics_.points += static_cast<int64_t>(batch.points.size());
  }
  for (const LogBatch& batch : group.logs) {
    if (quarantined_.contains(batch.stream)) continue;
    statistics_.log_bytes += static_cast<int64_t>(batch.data.size());
  }
}

IngestStatistics Ingest::Statistics() {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

bool Ingest::WaitToRetry(std::chrono::milliseconds wait) {
  const Steady::time_point until = Steady::now() + wait;
  {
    const std::lock_guard lock(mutex_);
    ++statistics_.failed_writes;
  }
  while (true) {
    AnswerWaiting();
    std::unique_lock lock(mutex_);
    const bool woken =
        changed_.wait_until(lock, until, [this] { return stopping_ || queued_questions_ > 0; });
    if (stopping_) return false;
    if (!woken) return true;
  }
}

absl::StatusOr<int64_t> Ingest::StoredOffset(const StreamKey& stream) {
  if (const auto it = stored_.find(stream); it != stored_.end()) return it->second;
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t offset, IsMetricStream(stream)
                                                       ? metrics_.StoredOffset(stream)
                                                       : logs_.StoredOffset(stream));
  stored_[stream] = offset;
  return offset;
}

// Answers workers that attach while a store fails: without an answer they get no Welcome, and not
// even a command to stop a rank could be sent to them.
void Ingest::AnswerWaiting() {
  std::vector<OffsetsQuestion> questions;
  const auto take = [&](std::deque<Item>& items) {
    return std::erase_if(items, [&](Item& item) {
      auto* question = std::get_if<OffsetsQuestion>(&item);
      if (question != nullptr) questions.push_back(std::move(*question));
      return question != nullptr;
    });
  };
  take(taken_);
  {
    const std::lock_guard lock(mutex_);
    statistics_.queued_items -= static_cast<int64_t>(take(queue_));
    queued_questions_ = 0;
  }
  for (const OffsetsQuestion& question : questions) Answer(question);
}

void Ingest::Answer(const OffsetsQuestion& question) {
  Offsets offsets;
  for (const StreamKey& stream : question.streams) {
    if (quarantined_.contains(stream)) continue;
    const absl::StatusOr<int64_t> offset = StoredOffset(stream);
    if (offset.ok()) {
      offsets[stream] = *offset;
    } else if (absl::IsDataLoss(offset.status())) {
      Quarantine(IsMetricStream(stream) ? Write::kMetrics : Write::kLogs, stream, offset.status());
    } else {
      spdlog::warn("cannot read how far a stream of job {} is stored: {}; it is sent again",
                   stream.job_id, std::string(offset.status().message()));
    }
  }
  question.done(offsets);
}

}  // namespace trainyard::controller
