#include "worker/core/uplink.h"

#include <algorithm>
#include <utility>

namespace trainyard::worker {
namespace {

bool SameStream(const v1::StreamId& a, const v1::StreamId& b) {
  return a.job_id() == b.job_id() && a.attempt() == b.attempt() && a.rank() == b.rank() &&
         a.kind() == b.kind();
}

}  // namespace

void Uplink::AddStream(std::unique_ptr<StreamSource> source) {
  if (Find(source->id()) != nullptr) return;
  streams_.push_back({.source = std::move(source)});
}

void Uplink::RemoveStreams(const AttemptKey& attempt) {
  std::erase_if(streams_, [&](const Stream& stream) {
    const v1::StreamId& id = stream.source->id();
    return id.job_id() == attempt.job_id && id.attempt() == attempt.number;
  });
}

void Uplink::AssumeStored(const StreamPosition& stored) {
  Stream* stream = Find(stored.id);
  if (stream == nullptr) return;
  stream->acknowledged = std::max<int64_t>(0, stored.acknowledged);
  stream->sent = stream->acknowledged;
}

absl::Status Uplink::OnWelcome(const v1::Welcome& welcome) {
  for (Stream& stream : streams_) {
    stream.acknowledged = 0;
    stream.sent = 0;
    stream.drained = false;
  }
  for (const v1::StreamAcknowledged& stored : welcome.streams()) {
    if (Stream* stream = Find(stored.stream())) {
      stream->acknowledged = std::max<int64_t>(0, stored.offset());
      stream->sent = stream->acknowledged;
    }
  }
  open_ = true;
  fact_sent_ = welcome.fact_sequence();
  return facts_.Reconcile(welcome.fact_sequence());
}

void Uplink::OnFactsAcknowledged(uint64_t sequence) {
  // A wrong `sequence` must not drop facts that were not sent, so `sequence` is limited to the last
  // sent fact.
  facts_.Acknowledge(std::min(sequence, fact_sent_));
}

void Uplink::OnStreamAcknowledged(const v1::StreamAcknowledged& acknowledged) {
  Stream* stream = Find(acknowledged.stream());
  if (stream == nullptr) return;
  const int64_t before = stream->acknowledged;
  stream->acknowledged = std::clamp(acknowledged.offset(), stream->acknowledged, stream->sent);
  const bool is_log = stream->source->id().kind() == v1::STREAM_KIND_LOG;
  (is_log ? shipped_log_bytes_ : shipped_telemetry_bytes_) += stream->acknowledged - before;
  if (!acknowledged.quarantined()) return;
  // The controller will not acknowledge the pieces that were already sent. Do not count these
  // pieces as in flight: all streams share one window.
  stream->sent = stream->acknowledged;
  stream->drained = true;
}

void Uplink::OnClosed() { open_ = false; }

std::optional<v1::WorkerMessage> Uplink::Next() {
  if (!open_) return std::nullopt;
  if (auto fact = NextFact()) return fact;
  if (in_flight_bytes() >= kTotalInFlightBytes) return std::nullopt;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    Stream& stream = streams_[turn_++ % streams_.size()];
    if (auto message = NextPiece(stream)) return message;
  }
  return std::nullopt;
}

std::optional<v1::WorkerMessage> Uplink::NextFact() {
  if (fact_sent_ >= facts_.acknowledged() + kFactsInFlight) return std::nullopt;
  const v1::Fact* fact = facts_.After(fact_sent_);
  if (fact == nullptr) return std::nullopt;
  fact_sent_ = fact->sequence();
  v1::WorkerMessage message;
  *message.mutable_fact() = *fact;
  return message;
}

std::optional<v1::WorkerMessage> Uplink::NextPiece(Stream& stream) {
  if (stream.drained || stream.sent - stream.acknowledged >= kStreamInFlightBytes) {
    return std::nullopt;
  }
  // Check this before the file is read. If the stream ends between the check and the read, the next
  // call finds the last bytes.
  const bool ended = stream.source->Ended();
  std::optional<StreamSource::Piece> piece = stream.source->Read(stream.sent);
  if (!piece.has_value()) {
    stream.drained = ended;
    return std::nullopt;
  }
  stream.sent = piece->end_offset;
  return std::move(piece->message);
}

Uplink::Stream* Uplink::Find(const v1::StreamId& id) {
  const auto found = std::find_if(streams_.begin(), streams_.end(), [&](const Stream& stream) {
    return SameStream(stream.source->id(), id);
  });
  return found == streams_.end() ? nullptr : &*found;
}

std::vector<StreamPosition> Uplink::Positions() const {
  std::vector<StreamPosition> positions;
  positions.reserve(streams_.size());
  for (const Stream& stream : streams_) {
    positions.push_back({stream.source->id(), stream.acknowledged});
  }
  return positions;
}

int64_t Uplink::in_flight_bytes() const {
  int64_t bytes = 0;
  for (const Stream& stream : streams_) bytes += stream.sent - stream.acknowledged;
  return bytes;
}

}  // namespace trainyard::worker
