// The format of blob columns: a checksum, and data that is compressed if this saves space.
#ifndef TRAINYARD_CONTROLLER_STORE_SUPPORT_BLOCK_CODEC_H_
#define TRAINYARD_CONTROLLER_STORE_SUPPORT_BLOCK_CODEC_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace trainyard::controller {

// Returns a block that contains `raw` (at most kBlockBytesMax), compressed if this saves space.
// `seed` is a hash of the row's key (checksum.h); OpenBlock needs the same seed.
std::string SealBlock(std::string_view raw, uint64_t seed);

// Returns the bytes that were passed to SealBlock. DATA_LOSS if the block is damaged or belongs to
// another row.
absl::StatusOr<std::string> OpenBlock(std::string_view block, uint64_t seed);

inline constexpr std::size_t kBlockBytesMax = std::size_t{1} << 30;

// Encodes an unsigned number in 1 to 10 bytes; smaller numbers take fewer bytes.
void PutVarint(uint64_t number, std::string& out);
// Removes one number from the front of `in`. Returns false if `in` ends before the number is
// complete.
bool TakeLongVarint(std::string_view& in, uint64_t& number);
// Like TakeLongVarint, but decodes one-byte numbers inline. Most numbers in metric columns have one
// byte.
inline bool TakeVarint(std::string_view& in, uint64_t& number) {
  if (in.empty() || (in.front() & 0x80) != 0) return TakeLongVarint(in, number);
  number = static_cast<uint8_t>(in.front());
  in.remove_prefix(1);
  return true;
}

// Maps signed numbers near zero to small unsigned numbers.
constexpr uint64_t ZigZag(int64_t number) {
  return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}
constexpr int64_t UnZigZag(uint64_t number) {
  return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
}

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SUPPORT_BLOCK_CODEC_H_
