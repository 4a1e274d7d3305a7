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

Ingest::Ingest(MetricStore& metrics, LogStore& logs, std::function<void(int64_t job_id)> on_output)
    : metrics_(metrics), logs_(logs), on_output_(std::move(on_output)) {
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

void Ingest::Add(Item item) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
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
      Write(group);
      group = {};
      Answer(std::get<OffsetsQuestion>(item));
    }
  }
  Write(group);
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

void Ingest::Write(Group& group) {
  if (!WriteStores(group)) return;
  if (stored_.size() > kMaxKnownStreams) stored_.clear();
  for (const auto& [stream, offset] : group.next) stored_[stream] = offset;
  for (const auto& [stored, offset] : group.answers) stored(offset);
  for (const int64_t job_id : group.jobs_with_output) on_output_(job_id);
}

bool Ingest::WriteStores(const Group& group) {
  if (!group.metrics.empty()) {
    absl::Status status = metrics_.Append(group.metrics);
    for (; !status.ok(); status = metrics_.Append(group.metrics)) {
      if (!KeepTrying(status)) return false;
    }
  }
  if (!group.logs.empty()) {
    absl::Status status = logs_.Append(group.logs);
    for (; !status.ok(); status = logs_.Append(group.logs)) {
      if (!KeepTrying(status)) return false;
    }
  }
  return true;
}

bool Ingest::KeepTrying(const absl::Status& status) {
  spdlog::error("cannot store telemetry and output: {}; trying again; workers keep theirs",
                status.ToString());
  std::unique_lock lock(mutex_);
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
