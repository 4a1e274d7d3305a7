// Min-hashes equal to those of the Python library datasketch.
#ifndef TRAINYARD_DATA_DEDUP_GUIDE_HASH_H_
#define TRAINYARD_DATA_DEDUP_GUIDE_HASH_H_

#include <array>
#include <cstdint>
#include <string_view>

#include "data/dedup/min_hash.h"

namespace trainyard::data {

// The first four bytes of the SHA-1 of `text`, as a little-endian number.
uint32_t Sha1Prefix(std::string_view text);

// Equals datasketch's MinHash(num_perm=128) with seed 1. Each hash h becomes the low 32 bits of
// ((a * h + b) mod 2^64) mod (2^61 - 1).
class GuideMinHash {
 public:
  GuideMinHash();

  // The signature of an empty set.
  static Signature Empty();
  void Update(std::string_view shingle, Signature* signature) const;

 private:
  std::array<uint64_t, kMinHashes> factors_;
  std::array<uint64_t, kMinHashes> offsets_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_GUIDE_HASH_H_
