#include "controller/store/support/block_codec.h"

#include <zstd.h>

#include <cstring>
#include <memory>

#include "absl/status/status.h"
#include "controller/store/support/checksum.h"

namespace trainyard::controller {
namespace {

// A block consists of a checksum of the rest (8 bytes), the codec (1 byte), the raw size (varint),
// and the payload.
constexpr char kRawCodec = 0;
constexpr char kZstdCodec = 1;
constexpr std::size_t kChecksumBytes = sizeof(uint64_t);

// Data below this size is not compressed: the zstd frame costs about as much as it would save.
constexpr std::size_t kCompressBytesMin = 96;
// Higher levels take several times as long and save only a few percent on logs and metric columns.
constexpr int kLevel = 1;

struct FreeContext {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

// One context per thread: creating a context costs more than compressing a small block.
ZSTD_CCtx* CompressContext() {
  thread_local std::unique_ptr<ZSTD_CCtx, FreeContext> context(ZSTD_createCCtx());
  return context.get();
}

ZSTD_DCtx* DecompressContext() {
  thread_local std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  return context.get();
}

// Appends the compressed data to `out`. Returns false if compression does not make the data
// smaller.
bool AppendCompressed(std::string_view raw, std::string& out) {
  if (raw.size() < kCompressBytesMin) return false;
  const std::size_t begin = out.size();
  out.resize(begin + ZSTD_compressBound(raw.size()));
  const std::size_t size = ZSTD_compressCCtx(CompressContext(), out.data() + begin,
                                             out.size() - begin, raw.data(), raw.size(), kLevel);
  const bool smaller = ZSTD_isError(size) == 0 && size < raw.size();
  out.resize(begin + (smaller ? size : 0));
  return smaller;
}

absl::Status DamagedBlock() { return absl::DataLossError("a stored block fails its checksum"); }

}  // namespace

std::string SealBlock(std::string_view raw, uint64_t seed) {
  std::string block(kChecksumBytes, '\0');
  block.push_back(kZstdCodec);
  PutVarint(raw.size(), block);
  if (!AppendCompressed(raw, block)) {
    block[kChecksumBytes] = kRawCodec;
    block.append(raw);
  }
  const uint64_t sum = Checksum(std::string_view(block).substr(kChecksumBytes), seed);
  std::memcpy(block.data(), &sum, sizeof(sum));
  return block;
}

absl::StatusOr<std::string> OpenBlock(std::string_view block, uint64_t seed) {
  if (block.size() <= kChecksumBytes) return DamagedBlock();
  uint64_t sum = 0;
  std::memcpy(&sum, block.data(), sizeof(sum));
  block.remove_prefix(kChecksumBytes);
  if (Checksum(block, seed) != sum) return DamagedBlock();
  const char codec = block.front();
  block.remove_prefix(1);
  uint64_t size = 0;
  if (!TakeVarint(block, size) || size > kBlockBytesMax) return DamagedBlock();
  if (codec == kRawCodec) return std::string(block);
  std::string raw(size, '\0');
  const std::size_t got =
      ZSTD_decompressDCtx(DecompressContext(), raw.data(), raw.size(), block.data(), block.size());
  if (codec != kZstdCodec || got != size) return DamagedBlock();
  return raw;
}

void PutVarint(uint64_t number, std::string& out) {
  while (number >= 0x80) {
    out.push_back(static_cast<char>(number | 0x80));
    number >>= 7;
  }
  out.push_back(static_cast<char>(number));
}

bool TakeLongVarint(std::string_view& in, uint64_t& number) {
  number = 0;
  for (int shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(in.front());
    in.remove_prefix(1);
    number |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

}  // namespace trainyard::controller
