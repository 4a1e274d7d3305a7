#include "data/parquet/hybrid_reader.h"

#include <algorithm>

namespace trainyard::data {

bool HybridReader::NextRun() {
  uint64_t header = 0;
  for (int shift = 0;; shift += 7) {
    // Lengths of runs have 32 bits.
    if (rest_.empty() || shift > 28) return false;
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    header |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) break;
  }
  if ((header & 1) != 0) {
    // Groups of 8 values. Some writers cut the last group behind its last value.
    const uint64_t values = (header >> 1) * 8;
    const uint64_t bytes = values / 8 * static_cast<uint64_t>(bit_width_);
    packed_bytes_ = rest_.substr(0, bytes);
    rest_.remove_prefix(packed_bytes_.size());
    packed_ = bit_width_ == 0
                  ? values
                  : std::min(values, packed_bytes_.size() * 8 / static_cast<uint64_t>(bit_width_));
    bit_ = 0;
    return packed_ > 0;
  }
  repeats_ = header >> 1;
  repeated_ = 0;
  for (int bits = 0; bits < bit_width_; bits += 8) {
    if (rest_.empty()) return false;
    repeated_ |= static_cast<uint32_t>(static_cast<uint8_t>(rest_.front())) << bits;
    rest_.remove_prefix(1);
  }
  return repeats_ > 0;
}

bool HybridReader::Next(uint32_t* value) {
  if (repeats_ == 0 && packed_ == 0 && !NextRun()) return false;
  if (repeats_ > 0) {
    --repeats_;
    *value = repeated_;
    return true;
  }
  --packed_;
  uint64_t bits = 0;
  const uint64_t first = bit_ / 8;
  const uint64_t last = std::min<uint64_t>(first + 5, packed_bytes_.size());
  for (uint64_t i = first; i < last; ++i) {
    bits |= static_cast<uint64_t>(static_cast<uint8_t>(packed_bytes_[i])) << (8 * (i - first));
  }
  *value = static_cast<uint32_t>((bits >> (bit_ % 8)) & ((uint64_t{1} << bit_width_) - 1));
  bit_ += static_cast<uint64_t>(bit_width_);
  return true;
}

}  // namespace trainyard::data
