#include "controller/ingest.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"
#include "spdlog/spdlog.h"

namespace trainyard::controller {
namespace {

constexpr std::chrono::milliseconds kRetryAfter{250};
// Streams whose offsets are kept at hand; beyond it all are asked for again.
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
    add(absl::StrCat(record.evaluation().data_set(), "_loss"), record.evaluation().step(),
        record.evaluation().loss());
  } else if (record.has_checkpoint() && !record.checkpoint().deleted()) {
    add("checkpoint_blocking_seconds", record.checkpoint().step(),
        record.checkpoint().blocking_seconds());
  }
}

absl::Status Misplaced(const StreamKey& stream, int64_t begin, int64_t stored) {
  return absl::OutOfRangeError(absl::StrCat(
      "stream of job ", stream.job_id, " attempt ", stream.epoch, " rank ", stream.rank,
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

Ingest::Ingest(MetricStore& metrics, LogStore& logs, std::function<void(int64_t job_id)> on_output,
               ObserveWrite on_write)
    : metrics_(metrics),
      logs_(logs),
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
                         std::function<void(const absl::StatusOr<Offsets>& offsets)> done) {
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
    ++figures_.queued_items;
    figures_.queued_bytes += BytesOf(item);
    queue_.push_back(std::move(item));
  }
  changed_.notify_all();
}

void Ingest::Run() {
  while (true) {
    std::deque<Item> items;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      items.swap(queue_);
      // What is being written counts as stored or tried again, no longer as queued.
      figures_.queued_items = 0;
      figures_.queued_bytes = 0;
    }
    Store(std::move(items));
  }
}

void Ingest::Store(std::deque<Item> items) {
  Group group;
  for (Item& item : items) {
    if (auto* telemetry = std::get_if<Telemetry>(&item)) {
      AddTo(group, std::move(*telemetry));
    } else if (auto* output = std::get_if<Output>(&item)) {
      AddTo(group, std::move(*output));
    } else {
      WriteGroup(group);
      group = {};
      Answer(std::get<OffsetsQuestion>(item));
    }
  }
  WriteGroup(group);
}

void Ingest::AddTo(Group& group, Telemetry telemetry) {
  const v1::TelemetryBatch& batch = telemetry.batch;
  const StreamKey stream = ToStreamKey(batch.stream());
  const absl::StatusOr<int64_t> next = NextOffset(group, stream);
  if (!next.ok()) {
    telemetry.stored(next.status());
  } else if (batch.end_offset() <= *next) {
    group.answers.emplace_back(std::move(telemetry.stored), *next);
  } else if (batch.begin_offset() > *next) {
    telemetry.stored(Misplaced(stream, batch.begin_offset(), *next));
  } else {
    group.metrics.push_back(ToMetricBatch(batch));
    group.next[stream] = batch.end_offset();
    group.answers.emplace_back(std::move(telemetry.stored), batch.end_offset());
  }
}

void Ingest::AddTo(Group& group, Output output) {
  v1::LogChunk& chunk = output.chunk;
  const StreamKey stream = ToStreamKey(chunk.stream());
  const absl::StatusOr<int64_t> next = NextOffset(group, stream);
  const int64_t end = chunk.begin_offset() + static_cast<int64_t>(chunk.data().size());
  if (!next.ok()) {
    output.stored(next.status());
  } else if (chunk.begin_offset() > *next) {
    output.stored(Misplaced(stream, chunk.begin_offset(), *next));
  } else if (end <= *next) {
    group.answers.emplace_back(std::move(output.stored), *next);
  } else {
    group.logs.push_back(
        {stream, chunk.begin_offset(), chunk.time_ms(), std::move(*chunk.mutable_data())});
    group.next[stream] = end;
    group.answers.emplace_back(std::move(output.stored), end);
    group.jobs_with_output.insert(stream.job_id);
  }
}

void Ingest::WriteGroup(Group& group) {
  if (!WriteStores(group)) return;
  CountStored(group);
  if (stored_.size() > kMaxKnownStreams) stored_.clear();
  for (const auto& [stream, offset] : group.next) stored_[stream] = offset;
  for (const auto& [stored, offset] : group.answers) stored(offset);
  for (const int64_t job_id : group.jobs_with_output) on_output_(job_id);
}

bool Ingest::WriteStores(const Group& group) {
  const bool metrics_written = group.metrics.empty() || WriteStore(Write::kMetrics, [&] {
                                 return metrics_.Append(group.metrics);
                               });
  return metrics_written &&
         (group.logs.empty() || WriteStore(Write::kLogs, [&] { return logs_.Append(group.logs); }));
}

bool Ingest::WriteStore(Write write, const std::function<absl::Status()>& append) {
  using Steady = std::chrono::steady_clock;
  while (true) {
    const Steady::time_point begin = Steady::now();
    const absl::Status status = append();
    if (status.ok()) {
      if (on_write_) on_write_(write, std::chrono::duration<double>(Steady::now() - begin).count());
      return true;
    }
    if (!KeepTrying(status)) return false;
  }
}

void Ingest::CountStored(const Group& group) {
  const std::lock_guard lock(mutex_);
  for (const MetricBatch& batch : group.metrics) {
    figures_.telemetry_bytes += batch.end_offset - batch.begin_offset;
    figures_.points += static_cast<int64_t>(batch.points.size());
  }
  for (const LogBatch& batch : group.logs) {
    figures_.log_bytes += static_cast<int64_t>(batch.data.size());
  }
}

IngestFigures Ingest::Figures() {
  const std::lock_guard lock(mutex_);
  return figures_;
}

bool Ingest::KeepTrying(const absl::Status& status) {
  spdlog::error("cannot store telemetry and output: {}; trying again; workers keep theirs",
                status.ToString());
  std::unique_lock lock(mutex_);
  ++figures_.failed_writes;
  return !changed_.wait_for(lock, kRetryAfter, [this] { return stopping_; });
}

absl::StatusOr<int64_t> Ingest::NextOffset(const Group& group, const StreamKey& stream) {
  if (const auto it = group.next.find(stream); it != group.next.end()) return it->second;
  if (const auto it = stored_.find(stream); it != stored_.end()) return it->second;
  TRAINYARD_ASSIGN_OR_RETURN(const int64_t offset, IsMetricStream(stream)
                                                       ? metrics_.StoredOffset(stream)
                                                       : logs_.StoredOffset(stream));
  stored_[stream] = offset;
  return offset;
}

void Ingest::Answer(const OffsetsQuestion& question) {
  Offsets offsets;
  for (const StreamKey& stream : question.streams) {
    const absl::StatusOr<int64_t> offset = NextOffset({}, stream);
    if (!offset.ok()) {
      question.done(offset.status());
      return;
    }
    offsets[stream] = *offset;
  }
  question.done(offsets);
}

}  // namespace trainyard::controller
