// Bytes as they lie in a blob column: compressed where that helps, with a checksum.
#ifndef TRAINYARD_CONTROLLER_STORE_BLOCK_CODEC_H_
#define TRAINYARD_CONTROLLER_STORE_BLOCK_CODEC_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace trainyard::controller {

// Compresses `raw` (at most kBlockBytesMax). `seed` is a hash of the row's key (checksum.h); the
// block opens only with the same one.
std::string SealBlock(std::string_view raw, uint64_t seed);

// Returns the bytes that were sealed. DATA_LOSS when the block is damaged or belongs to another
// row.
absl::StatusOr<std::string> OpenBlock(std::string_view block, uint64_t seed);

inline constexpr std::size_t kBlockBytesMax = std::size_t{1} << 30;

// Unsigned numbers in 1 to 10 bytes, small ones in few.
void PutVarint(uint64_t number, std::string& out);
// Takes one number off the front of `in`; false when `in` ends within it.
bool TakeLongVarint(std::string_view& in, uint64_t& number);
// The same, inlined for numbers of one byte, as nearly all are in columns of metrics.
inline bool TakeVarint(std::string_view& in, uint64_t& number) {
  if (in.empty() || (in.front() & 0x80) != 0) return TakeLongVarint(in, number);
  number = static_cast<uint8_t>(in.front());
  in.remove_prefix(1);
  return true;
}

// Signed numbers near zero as small unsigned ones.
constexpr uint64_t ZigZag(int64_t number) {
  return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}
constexpr int64_t UnZigZag(uint64_t number) {
  return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_BLOCK_CODEC_H_
