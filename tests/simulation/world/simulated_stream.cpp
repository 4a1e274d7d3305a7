#include "tests/simulation/world/simulated_stream.h"

#include <algorithm>

namespace trainyard::simulation {
namespace {

constexpr int64_t kRecordsInBatch = 8;
constexpr int64_t kBytesInChunk = 200;

}  // namespace

v1::StreamId StreamOf(const worker::RankKey& rank, v1::StreamKind kind) {
  v1::StreamId id;
  id.set_job_id(rank.attempt.job_id);
  id.set_attempt(rank.attempt.number);
  id.set_rank(rank.rank);
  id.set_kind(kind);
  return id;
}

std::optional<worker::StreamSource::Piece> SimulatedStream::Read(int64_t offset) {
  const Process* process = world_.Find(node_id_, rank_.attempt, rank_.rank);
  if (process == nullptr) return std::nullopt;
  return id_.kind() == v1::STREAM_KIND_LOG ? ReadOutput(*process, offset)
                                           : ReadTelemetry(*process, offset);
}

std::optional<worker::StreamSource::Piece> SimulatedStream::ReadTelemetry(const Process& process,
                                                                          int64_t offset) const {
  Piece piece;
  piece.end_offset =
      std::min<int64_t>(static_cast<int64_t>(process.telemetry.size()), offset + kRecordsInBatch);
  if (piece.end_offset <= offset) return std::nullopt;
  v1::TelemetryBatch& batch = *piece.message.mutable_telemetry();
  *batch.mutable_stream() = id_;
  batch.set_begin_offset(offset);
  batch.set_end_offset(piece.end_offset);
  for (int64_t i = offset; i < piece.end_offset; ++i) *batch.add_records() = process.telemetry[i];
  return piece;
}

std::optional<worker::StreamSource::Piece> SimulatedStream::ReadOutput(const Process& process,
                                                                       int64_t offset) const {
  Piece piece;
  piece.end_offset = std::min(process.output_bytes, offset + kBytesInChunk);
  if (piece.end_offset <= offset) return std::nullopt;
  v1::LogChunk& chunk = *piece.message.mutable_log();
  *chunk.mutable_stream() = id_;
  chunk.set_begin_offset(offset);
  chunk.set_data(OutputBetween(offset, piece.end_offset));
  return piece;
}

}  // namespace trainyard::simulation
