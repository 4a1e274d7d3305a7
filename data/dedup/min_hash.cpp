#include "data/dedup/min_hash.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace trainyard::data {
namespace {

// Odd, so that multiplication modulo 2^64 loses no information.
constexpr uint64_t kBase = 0x9E3779B97F4A7C15u;

// Eight 32-bit lanes: a register of AVX2, or two of SSE2.
using Lanes = uint32_t __attribute__((vector_size(32)));
constexpr size_t kLanes = 8;

struct Functions {
  alignas(32) std::array<uint32_t, kMinHashes> factors;
  alignas(32) std::array<uint32_t, kMinHashes> offsets;
};

constexpr uint64_t SplitMix(uint64_t* state) {
  *state += 0x9E3779B97F4A7C15u;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Odd factors make each function a permutation of the 32-bit numbers.
constexpr Functions MakeFunctions() {
  Functions functions{};
  uint64_t state = 1;
  for (size_t i = 0; i < kMinHashes; ++i) {
    functions.factors[i] = static_cast<uint32_t>(SplitMix(&state) >> 32) | 1;
    functions.offsets[i] = static_cast<uint32_t>(SplitMix(&state) >> 32);
  }
  return functions;
}
constexpr Functions kFunctions = MakeFunctions();

// Each pass keeps 16 functions with their minima in 6 registers.
__attribute__((always_inline)) inline void MinHashesInto(const std::vector<uint32_t>& shingles,
                                                         Signature* signature) {
  for (size_t first = 0; first < kMinHashes; first += 2 * kLanes) {
    Lanes factor[2];
    Lanes offset[2];
    std::memcpy(factor, &kFunctions.factors[first], sizeof(factor));
    std::memcpy(offset, &kFunctions.offsets[first], sizeof(offset));
    Lanes low = ~Lanes{};
    Lanes high = ~Lanes{};
    for (const uint32_t shingle : shingles) {
      const Lanes next_low = factor[0] * shingle + offset[0];
      const Lanes next_high = factor[1] * shingle + offset[1];
      low = next_low < low ? next_low : low;
      high = next_high < high ? next_high : high;
    }
    std::memcpy(&(*signature)[first], &low, sizeof(low));
    std::memcpy(&(*signature)[first + kLanes], &high, sizeof(high));
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) void MinHashesByAvx2(const std::vector<uint32_t>& shingles,
                                                     Signature* signature) {
  MinHashesInto(shingles, signature);
}
#endif

}  // namespace

void HashShingles(const std::vector<uint64_t>& elements, int length,
                  std::vector<uint32_t>* shingles) {
  const size_t count = std::min(static_cast<size_t>(length), elements.size());
  uint64_t leaving = 1;  // kBase to the power of `count`: the factor of the element that leaves
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) {
    leaving *= kBase;
    sum = sum * kBase + elements[i];
  }
  shingles->resize(elements.size() - count + 1);
  for (size_t i = 0;; ++i) {
    (*shingles)[i] = static_cast<uint32_t>(((sum ^ (sum >> 32)) * kBase) >> 32);
    if (i + count == elements.size()) return;
    sum = sum * kBase + elements[i + count] - elements[i] * leaving;
  }
}

Signature PortableMinHashesOf(const std::vector<uint32_t>& shingles) {
  Signature signature;
  MinHashesInto(shingles, &signature);
  return signature;
}

Signature MinHashesOf(const std::vector<uint32_t>& shingles) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    Signature signature;
    MinHashesByAvx2(shingles, &signature);
    return signature;
  }
#endif
  return PortableMinHashesOf(shingles);
}

double EstimateSimilarity(const Signature& a, const Signature& b) {
  int equal = 0;
  for (size_t i = 0; i < kMinHashes; ++i) equal += a[i] == b[i] ? 1 : 0;
  return static_cast<double>(equal) / kMinHashes;
}

double JaccardSimilarity(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
  size_t common = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) ++common;
    const bool next_a = a[i] <= b[j];
    const bool next_b = b[j] <= a[i];
    i += next_a ? 1 : 0;
    j += next_b ? 1 : 0;
  }
  return static_cast<double>(common) / static_cast<double>(a.size() + b.size() - common);
}

}  // namespace trainyard::data
