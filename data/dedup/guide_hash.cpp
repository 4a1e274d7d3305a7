#include "data/dedup/guide_hash.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstddef>
#include <random>

namespace trainyard::data {
namespace {

constexpr uint64_t kMersennePrime = (uint64_t{1} << 61) - 1;

// A number in [0, limit], as numpy's RandomState.randint draws it: masked to the bits of `limit`,
// and drawn again while it is larger. The first of two 32-bit numbers is the high one.
uint64_t Draw(uint64_t limit, std::mt19937* random) {
  const uint64_t mask = ~uint64_t{0} >> std::countl_zero(limit);
  for (;;) {
    const uint64_t high = (*random)();
    const uint64_t value = (high << 32 | (*random)()) & mask;
    if (value <= limit) return value;
  }
}

#if defined(__x86_64__)

// Four functions at a time, which stay in registers.
__attribute__((target("avx2"))) void GuideHashesByAvx2(const uint64_t* factors,
                                                       const uint64_t* offsets,
                                                       const std::vector<uint32_t>& hashes,
                                                       uint32_t* minima) {
  const __m256i prime = _mm256_set1_epi64x(static_cast<int64_t>(kMersennePrime));
  const __m256i largest = _mm256_set1_epi64x(static_cast<int64_t>(kMersennePrime) - 1);
  const __m256i low_factor = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(factors));
  const __m256i high_factor = _mm256_srli_epi64(low_factor, 32);
  const __m256i offset = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(offsets));
  __m256i smallest = _mm256_set1_epi64x(-1);
  for (const uint32_t hash : hashes) {
    const __m256i number = _mm256_set1_epi64x(hash);
    const __m256i high = _mm256_slli_epi64(_mm256_mul_epu32(high_factor, number), 32);
    const __m256i product = _mm256_add_epi64(_mm256_mul_epu32(low_factor, number), high);
    const __m256i value = _mm256_add_epi64(product, offset);
    const __m256i sum =
        _mm256_add_epi64(_mm256_and_si256(value, prime), _mm256_srli_epi64(value, 61));
    // The low half of sum - prime is that of sum + 1. A comparison gives -1 where it is true.
    const __m256i rest = _mm256_sub_epi64(sum, _mm256_cmpgt_epi64(sum, largest));
    smallest = _mm256_min_epu32(smallest, rest);  // only the low halves are used
  }
  alignas(32) std::array<uint64_t, 4> lanes;
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes.data()), smallest);
  for (size_t i = 0; i < lanes.size(); ++i) minima[i] = static_cast<uint32_t>(lanes[i]);
}

#endif

}  // namespace

GuideMinHash::GuideMinHash() {
  std::mt19937 random(1);
  for (size_t i = 0; i < kMinHashes; ++i) {
    factors_[i] = 1 + Draw(kMersennePrime - 2, &random);
    offsets_[i] = Draw(kMersennePrime - 1, &random);
  }
}

Signature GuideMinHash::PortableOf(const std::vector<uint32_t>& hashes) const {
  Signature signature;
  signature.fill(0xFFFFFFFF);
  for (const uint64_t hash : hashes) {
    for (size_t i = 0; i < kMinHashes; ++i) {
      const uint64_t value = factors_[i] * hash + offsets_[i];
      uint64_t rest = (value & kMersennePrime) + (value >> 61);
      rest -= rest >= kMersennePrime ? kMersennePrime : 0;
      signature[i] = std::min(signature[i], static_cast<uint32_t>(rest));
    }
  }
  return signature;
}

Signature GuideMinHash::Of(const std::vector<uint32_t>& hashes) const {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    Signature signature;
    for (size_t i = 0; i < kMinHashes; i += 4) {
      GuideHashesByAvx2(&factors_[i], &offsets_[i], hashes, &signature[i]);
    }
    return signature;
  }
#endif
  return PortableOf(hashes);
}

}  // namespace trainyard::data
