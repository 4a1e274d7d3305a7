// Keeps the output of a rank in memory.
#ifndef TRAINYARD_TESTS_WORKER_CORE_MEMORY_SOURCE_H_
#define TRAINYARD_TESTS_WORKER_CORE_MEMORY_SOURCE_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "worker/core/uplink.h"

namespace trainyard::worker {

struct MemoryFile {
  std::string bytes;
  bool ended = false;
  int reads = 0;
};

inline v1::StreamId LogOf(int64_t job, int64_t attempt_number, int rank) {
  v1::StreamId id;
  id.set_job_id(job);
  id.set_attempt(attempt_number);
  id.set_rank(rank);
  id.set_kind(v1::STREAM_KIND_LOG);
  return id;
}

class MemorySource : public StreamSource {
 public:
  MemorySource(v1::StreamId id, std::shared_ptr<MemoryFile> file, std::size_t piece_bytes)
      : id_(std::move(id)), file_(std::move(file)), piece_bytes_(piece_bytes) {}

  const v1::StreamId& id() const override { return id_; }
  bool Ended() const override { return file_->ended; }
  std::optional<Piece> Read(int64_t offset) override {
    ++file_->reads;
    if (offset >= static_cast<int64_t>(file_->bytes.size())) return std::nullopt;
    Piece piece;
    v1::LogChunk& chunk = *piece.message.mutable_log();
    *chunk.mutable_stream() = id_;
    chunk.set_begin_offset(offset);
    chunk.set_data(file_->bytes.substr(offset, piece_bytes_));
    piece.end_offset = offset + static_cast<int64_t>(chunk.data().size());
    return piece;
  }

 private:
  const v1::StreamId id_;
  const std::shared_ptr<MemoryFile> file_;
  const std::size_t piece_bytes_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_TESTS_WORKER_CORE_MEMORY_SOURCE_H_
