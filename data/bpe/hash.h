// Hash of short byte strings, for tables in memory. The values are never stored.
#ifndef TRAINYARD_DATA_BPE_HASH_H_
#define TRAINYARD_DATA_BPE_HASH_H_

#include <cstdint>
#include <cstring>
#include <string_view>

namespace trainyard::data {

// Mixes two words. The high bits of the result depend on all bits of both.
inline uint64_t MixWords(uint64_t a, uint64_t b) {
  const uint64_t mixed = (a ^ (b * 0x9E3779B97F4A7C15u)) * 0xBF58476D1CE4E5B9u;
  return (mixed ^ (mixed >> 32)) * 0x94D049BB133111EBu;
}

inline uint64_t HashBytes(std::string_view bytes) {
  uint64_t hash = bytes.size();
  while (bytes.size() >= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), sizeof(word));
    hash = MixWords(hash, word);
    bytes.remove_prefix(sizeof(word));
  }
  uint64_t rest = 0;
  if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
  return MixWords(hash, rest);
}

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_HASH_H_
