#include "controller/loop/ingest.h"

#include <chrono>
#include <map>
#include <utility>

#include "controller/loop/retry_backoff.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds kMarkEvery{1};

}  // namespace

StoreName Ingest::StoreOf(Write write) {
  return write == Write::kMetrics ? StoreName::kMetrics : StoreName::kLogs;
}

Ingest::Ingest(MetricStore& metrics, LogStore& logs, StorageHealth& health, Handler handler)
    : metrics_(metrics), logs_(logs), health_(health), handler_(std::move(handler)) {
  thread_ = std::thread([this] { Run(); });
}

Ingest::~Ingest() { Stop(); }

void Ingest::AddTelemetry(v1::TelemetryBatch batch, Stored stored) {
  Add(TelemetryItem{std::move(batch), std::move(stored)});
}

void Ingest::AddOutput(v1::LogChunk chunk, Stored stored) {
  Add(OutputItem{std::move(chunk), std::move(stored)});
}

void Ingest::ReadOffsets(std::vector<StreamKey> streams,
                         std::function<void(const StreamOffsets& offsets)> done) {
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
  if (const auto* telemetry = std::get_if<TelemetryItem>(&item)) {
    return telemetry->batch.end_offset() - telemetry->batch.begin_offset();
  }
  const auto* output = std::get_if<OutputItem>(&item);
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
      if (!WaitForItems(lock)) {
        lock.unlock();
        WriteMarks();
        continue;
      }
      if (queue_.empty()) return;
      taken_.swap(queue_);
      queued_questions_ = 0;
      // The items just taken from the queue no longer count as queued. Later they count as stored
      // or retried.
      statistics_.queued_items = 0;
      statistics_.queued_bytes = 0;
    }
    StoreTaken();
  }
}

bool Ingest::WaitForItems(std::unique_lock<std::mutex>& lock) {
  const auto has_items = [this] { return stopping_ || !queue_.empty(); };
  changed_.wait(lock, [&] { return has_items() || mark_is_new_; });
  if (has_items()) return true;
  return changed_.wait_until(lock, mark_due_, has_items);
}

void Ingest::NoteLogMark(const v1::LogMark& mark) {
  {
    const std::lock_guard lock(mutex_);
    mark_ = mark;
    if (std::exchange(mark_is_new_, true)) return;
  }
  changed_.notify_all();
}

void Ingest::GiveMark() {
  v1::LogMark mark;
  {
    const std::lock_guard lock(mutex_);
    mark = mark_;
    mark_is_new_ = false;
    mark_due_ = Steady::now() + kMarkEvery;
  }
  if (mark.sequence() == 0) return;
  metrics_.NoteLogMark(mark);
  logs_.NoteLogMark(mark);
}

// Saves the newest mark in both stores. If a write fails, the next append saves the mark.
void Ingest::WriteMarks() {
  GiveMark();
  if (metrics_.WriteLogMark().ok()) Positioned(Write::kMetrics);
  if (logs_.WriteLogMark().ok()) Positioned(Write::kLogs);
}

void Ingest::Positioned(Write write) {
  if (!handler_.on_position) return;
  const bool is_metrics = write == Write::kMetrics;
  handler_.on_position(write, is_metrics ? metrics_.Position() : logs_.Position());
}

void Ingest::StoreTaken() {
  while (!taken_.empty()) {
    const bool is_question = std::holds_alternative<OffsetsQuestion>(taken_.front());
    if (is_question && kernel_.HasGroup()) {
      // Leave the offsets question in taken_, so that AnswerWaiting finds it if the store refuses
      // the write.
      WriteGroup();
      continue;
    }
    Item item = std::move(taken_.front());
    taken_.pop_front();
    if (auto* telemetry = std::get_if<TelemetryItem>(&item)) {
      const StreamKey stream = ToStreamKey(telemetry->batch.stream());
      AddTo(stream, std::move(*telemetry));
    } else if (auto* output = std::get_if<OutputItem>(&item)) {
      const StreamKey stream = ToStreamKey(output->chunk.stream());
      AddTo(stream, std::move(*output));
    } else {
      Answer(std::get<OffsetsQuestion>(item));
    }
  }
  WriteGroup();
}

template <typename DataItem>
void Ingest::AddTo(const StreamKey& stream, DataItem item) {
  if (!LearnOffset(stream)) return;
  kernel_.Add(std::move(item));
  Reply();
}

bool Ingest::LearnOffset(const StreamKey& stream) {
  if (kernel_.Knows(stream)) return true;
  const Write store = IsMetricStream(stream) ? Write::kMetrics : Write::kLogs;
  const absl::Status status = TryUntilDone(store, [&] { return StoredOffset(stream).status(); });
  if (absl::IsDataLoss(status)) Quarantine(store, stream, status);
  return status.ok() || absl::IsDataLoss(status);
}

void Ingest::WriteGroup() {
  if (!kernel_.group().metrics.empty() || !kernel_.group().logs.empty()) GiveMark();
  const StoreKernel::Group& group = kernel_.group();
  const bool written =
      WriteBatches<MetricBatch>(Write::kMetrics, group.metrics,
                                [this](const auto& batches) { return metrics_.Append(batches); }) &&
      WriteBatches<LogBatch>(Write::kLogs, group.logs,
                             [this](const auto& batches) { return logs_.Append(batches); });
  if (!written) return;
  const StoreKernel::Group stored = kernel_.GroupStored();
  CountStored(stored);
  Reply();
  for (const int64_t job_id : stored.jobs_with_output) {
    if (handler_.on_output) handler_.on_output(job_id);
  }
  for (const auto& [job_id, step] : stored.newest_steps) {
    if (handler_.on_points) handler_.on_points(job_id, step);
  }
}

void Ingest::Reply() {
  for (const StoreKernel::Reply& reply : kernel_.TakeReplies()) reply.stored(reply.result);
}

template <typename Batch>
bool Ingest::WriteBatches(Write write, const std::vector<Batch>& batches,
                          const std::function<absl::Status(const std::vector<Batch>&)>& append) {
  if (batches.empty()) return true;
  absl::Status status = WriteStore(write, [&] { return append(batches); });
  if (!absl::IsDataLoss(status)) return status.ok();
  // Write each stream separately, so that a damaged stream does not block the others.
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
    if (status.ok()) Positioned(write);
    if (status.ok() && handler_.on_write) {
      handler_.on_write(write, std::chrono::duration<double>(Steady::now() - begin).count());
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
  if (!kernel_.Quarantine(stream, damage)) return;
  health_.ReportDamage(StoreOf(write), damage);
  spdlog::error(
      "job {} attempt {} rank {}: cannot store data from the rank's worker: {}; the worker keeps "
      "the data while its disk has free space",
      stream.job_id, stream.attempt, stream.rank, std::string(damage.message()));
}

void Ingest::CountStored(const StoreKernel::Group& group) {
  const std::lock_guard lock(mutex_);
  for (const MetricBatch& batch : group.metrics) {
    if (kernel_.IsQuarantined(batch.stream)) continue;
    statistics_.telemetry_bytes += batch.end_offset - batch.begin_offset;
    statistics_.points += static_cast<int64_t>(batch.points.size());
  }
  for (const LogBatch& batch : group.logs) {
    if (kernel_.IsQuarantined(batch.stream)) continue;
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
  if (const auto known = kernel_.StoredOffset(stream)) return *known;
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t offset, IsMetricStream(stream)
                                                       ? metrics_.StoredOffset(stream)
                                                       : logs_.StoredOffset(stream));
  kernel_.SetOffset(stream, offset);
  return offset;
}

// Answers workers that attach while a store fails. Without an answer, they would get no Welcome,
// and the controller could not send them commands, such as to stop a rank.
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
  StreamOffsets offsets;
  for (const StreamKey& stream : question.streams) {
    if (kernel_.IsQuarantined(stream)) continue;
    const absl::StatusOr<int64_t> offset = StoredOffset(stream);
    if (offset.ok()) {
      offsets[stream] = *offset;
    } else if (absl::IsDataLoss(offset.status())) {
      Quarantine(IsMetricStream(stream) ? Write::kMetrics : Write::kLogs, stream, offset.status());
    } else {
      spdlog::warn(
          "cannot read the stored offset of a stream of job {}: {}; the worker sends the stream "
          "again",
          stream.job_id, std::string(offset.status().message()));
    }
  }
  question.done(offsets);
}

}  // namespace trainyard::controller
