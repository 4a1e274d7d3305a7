// Min-hashes equal to those of the Python library datasketch.
#ifndef TRAINYARD_DATA_DEDUP_GUIDE_HASH_H_
#define TRAINYARD_DATA_DEDUP_GUIDE_HASH_H_

#include <array>
#include <cstdint>
#include <vector>

#include "data/dedup/min_hash.h"

namespace trainyard::data {

// Equals datasketch's MinHash(num_perm=128) with seed 1. Each hash h becomes the low 32 bits of
// ((a * h + b) mod 2^64) mod (2^61 - 1).
class GuideMinHash {
 public:
  GuideMinHash();

  // Returns the minimum of each function. `hashes`: Sha1Prefix of the shingles, at least one. Uses
  // AVX2 if the processor has it.
  Signature Of(const std::vector<uint32_t>& hashes) const;

  // As Of, without instructions beyond those of every processor. For tests.
  Signature PortableOf(const std::vector<uint32_t>& hashes) const;

 private:
  std::array<uint64_t, kMinHashes> factors_;
  std::array<uint64_t, kMinHashes> offsets_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_GUIDE_HASH_H_
