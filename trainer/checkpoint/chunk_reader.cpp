#include "trainer/checkpoint/chunk_reader.h"

#include <fcntl.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "proto/files/unique_fd.h"

namespace trainyard::trainer {
namespace {

// Describes bytes [begin, end) of the chunk by their position in the file, such as "tensor w (bytes
// 64 to 464)".
std::string SubjectOf(const std::string& tensor, const StoredChunk& chunk, int64_t begin,
                      int64_t end) {
  return "tensor " + tensor + " (bytes " + std::to_string(chunk.begin + begin) + " to " +
         std::to_string(chunk.begin + end) + ")";
}

[[noreturn]] void ThrowMismatch(const std::string& path, const std::string& subject) {
  ThrowDamaged(path, "the checksum of " + subject + " does not match");
}

}  // namespace

void ReadBytes(const std::string& path, int64_t begin, int64_t end, const std::string& subject,
               char* out) {
  constexpr int64_t kBytesPerCall = int64_t{1} << 30;
  const std::string cannot_read = "cannot read " + subject + ": ";
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) ThrowDamaged(path, cannot_read + std::strerror(errno));
  while (begin < end) {
    const ssize_t got = pread(file.get(), out, std::min(end - begin, kBytesPerCall), begin);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) ThrowDamaged(path, cannot_read + std::strerror(errno));
    if (got == 0) ThrowDamaged(path, cannot_read + "the file is truncated");
    begin += got;
    out += got;
  }
}

bool HasBlockChecksums(const StoredChunk& chunk) { return chunk.block_bytes <= kLargestBlockBytes; }

int64_t PieceBytes(const StoredChunk& chunk) {
  return std::min(chunk.block_bytes, kLargestBlockBytes);
}

void ReadBlock(const std::string& directory, const std::string& tensor, const StoredChunk& chunk,
               int64_t begin, int64_t end, char* out) {
  const std::string path = directory + "/" + chunk.file;
  const std::string subject = SubjectOf(tensor, chunk, begin, end);
  ReadBytes(path, chunk.begin + begin, chunk.begin + end, subject, out);
  if (!HasBlockChecksums(chunk)) return;
  const uint64_t xxh64 = XXH64(out, static_cast<size_t>(end - begin), 0);
  if (xxh64 != chunk.xxh64[begin / chunk.block_bytes]) ThrowMismatch(path, subject);
}

std::vector<ElementRun> RunsIn(const WantedPart& wanted, int64_t begin, int64_t end) {
  const Box& box = wanted.chunk->box;
  Box rows = wanted.part;
  if (!rows.shape.empty()) {
    const int64_t row_elements = *ElementsOf(box.shape) / box.shape[0];
    const int64_t first = std::max(rows.offset[0], box.offset[0] + begin / row_elements);
    const int64_t last = std::min(rows.offset[0] + rows.shape[0],
                                  box.offset[0] + (end + row_elements - 1) / row_elements);
    if (first >= last) return {};
    rows.offset[0] = first;
    rows.shape[0] = last - first;
  }
  std::vector<ElementRun> runs;
  ForEachRun(rows, box, wanted.target, [&](int64_t from, int64_t to, int64_t elements) {
    const int64_t skipped = std::max<int64_t>(begin - from, 0);
    const int64_t kept = std::min(from + elements, end) - (from + skipped);
    if (kept > 0) runs.push_back({from + skipped, to + skipped, kept});
  });
  return runs;
}

std::vector<RunRows> RowsOf(const std::vector<ElementRun>& runs) {
  std::vector<RunRows> all;
  for (const ElementRun& run : runs) {
    if (!all.empty() && all.back().first.elements == run.elements) {
      RunRows& rows = all.back();
      if (rows.rows == 1) {
        rows.from_stride = run.from - rows.first.from;
        rows.to_stride = run.to - rows.first.to;
      }
      if (run.from == rows.first.from + rows.rows * rows.from_stride &&
          run.to == rows.first.to + rows.rows * rows.to_stride) {
        ++rows.rows;
        continue;
      }
    }
    all.push_back({.first = run, .from_stride = run.elements, .to_stride = run.elements});
  }
  return all;
}

ChunkReader::ChunkReader(const std::string& directory, std::string tensor, int64_t element_bytes,
                         char* buffer)
    : directory_(directory),
      tensor_(std::move(tensor)),
      element_bytes_(element_bytes),
      buffer_(buffer) {}

void ChunkReader::Read(const WantedPart& wanted, int64_t block, const RowSink& sink) const {
  const StoredChunk& chunk = *wanted.chunk;
  const std::string path = directory_ + "/" + chunk.file;
  const int64_t bytes = chunk.end - chunk.begin;
  const int64_t begin = block * chunk.block_bytes, end = std::min(begin + chunk.block_bytes, bytes);
  const bool is_whole = wanted.part.shape == chunk.box.shape;
  const bool has_checksum = is_whole || HasBlockChecksums(chunk);
  bool was_read = false;
  XXH64_state_t hash;
  XXH64_reset(&hash, 0);
  for (int64_t piece = begin; piece < end; piece += PieceBytes(chunk)) {
    const int64_t piece_end = std::min(piece + PieceBytes(chunk), end);
    const std::vector<ElementRun> runs =
        RunsIn(wanted, piece / element_bytes_, piece_end / element_bytes_);
    if (runs.empty()) continue;
    was_read = true;
    ReadBytes(path, chunk.begin + piece, chunk.begin + piece_end,
              SubjectOf(tensor_, chunk, piece, piece_end), buffer_);
    if (has_checksum) XXH64_update(&hash, buffer_, static_cast<size_t>(piece_end - piece));
    for (const RunRows& rows : RowsOf(runs)) {
      sink(rows, buffer_ + (rows.first.from * element_bytes_ - piece));
    }
  }
  if (!was_read || !has_checksum || XXH64_digest(&hash) == chunk.xxh64[block]) return;
  ThrowMismatch(path, SubjectOf(tensor_, chunk, begin, end));
}

}  // namespace trainyard::trainer
