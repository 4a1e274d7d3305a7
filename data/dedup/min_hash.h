// Min-hashes of sets of 32-bit shingle hashes.
#ifndef TRAINYARD_DATA_DEDUP_MIN_HASH_H_
#define TRAINYARD_DATA_DEDUP_MIN_HASH_H_

#include <array>
#include <cstdint>
#include <vector>

#include "data/dedup/dedup_settings.h"

namespace trainyard::data {

using Signature = std::array<uint32_t, kMinHashes>;

// Replaces `shingles` by a 32-bit hash per run of `length` elements. Fewer elements give one
// shingle of all of them. `elements` must not be empty.
void HashShingles(const std::vector<uint64_t>& elements, int length,
                  std::vector<uint32_t>* shingles);

// Returns the minimum of each of kMinHashes functions a * shingle + b modulo 2^32. `shingles` must
// not be empty. Uses AVX2 if the processor has it.
Signature MinHashesOf(const std::vector<uint32_t>& shingles);

// As MinHashesOf, without instructions beyond those of every processor. For tests.
Signature PortableMinHashesOf(const std::vector<uint32_t>& shingles);

// Fraction of equal min-hashes, which estimates the Jaccard similarity of the two sets.
double EstimateSimilarity(const Signature& a, const Signature& b);

// Jaccard similarity of two sorted sets without repeated values. At least one must not be empty.
double JaccardSimilarity(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_MIN_HASH_H_
