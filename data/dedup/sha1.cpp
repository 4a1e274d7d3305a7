#include "data/dedup/sha1.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

namespace trainyard::data {
namespace {

constexpr size_t kShaBlock = 64;

using ShaState = std::array<uint32_t, 5>;

uint32_t BigEndian(const uint8_t* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

struct Round {
  uint32_t mix;
  uint32_t constant;
};

Round RoundOf(int i, uint32_t b, uint32_t c, uint32_t d) {
  if (i < 20) return {(b & c) | (~b & d), 0x5A827999};
  if (i < 40) return {b ^ c ^ d, 0x6ED9EBA1};
  if (i < 60) return {(b & c) | (b & d) | (c & d), 0x8F1BBCDC};
  return {b ^ c ^ d, 0xCA62C1D6};
}

// The compression function, section 6.1.2.
void CompressSha1(const uint8_t* block, ShaState* state) {
  std::array<uint32_t, 80> words;
  for (size_t i = 0; i < 16; ++i) words[i] = BigEndian(block + 4 * i);
  for (size_t i = 16; i < 80; ++i) {
    words[i] = std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }
  auto [a, b, c, d, e] = *state;
  for (int i = 0; i < 80; ++i) {
    const Round round = RoundOf(i, b, c, d);
    const uint32_t next =
        std::rotl(a, 5) + round.mix + e + round.constant + words[static_cast<size_t>(i)];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = next;
  }
  const ShaState sums = {a, b, c, d, e};
  for (size_t i = 0; i < sums.size(); ++i) (*state)[i] += sums[i];
}

#if defined(__x86_64__)

#define TRAINYARD_SHA_TARGET __attribute__((target("sha,sse4.1")))

// a, b, c and d in this order from the highest lane; e in the highest lane.
struct ShaRegisters {
  __m128i abcd;
  __m128i e;
};

// Rounds 20 * kFunction to 20 * kFunction + 19. `words`: four words each.
template <int kFunction>
TRAINYARD_SHA_TARGET inline void TwentyRounds(const __m128i* words, ShaRegisters* registers) {
  for (int group = 5 * kFunction; group < 5 * kFunction + 5; ++group) {
    const __m128i before = registers->abcd;
    // The instruction rotates `a` of four rounds ago, except at the start.
    const __m128i e = group == 0 ? _mm_add_epi32(registers->e, words[0])
                                 : _mm_sha1nexte_epu32(registers->e, words[group]);
    registers->abcd = _mm_sha1rnds4_epu32(before, e, kFunction);
    registers->e = before;
  }
}

TRAINYARD_SHA_TARGET void CompressByInstructions(const uint8_t* block, ShaState* state) {
  const __m128i reversed = _mm_set_epi64x(0x0001020304050607, 0x08090A0B0C0D0E0F);
  __m128i words[20];
  for (size_t i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block) + i);
    words[i] = _mm_shuffle_epi8(bytes, reversed);
  }
  for (size_t i = 4; i < 20; ++i) {
    const __m128i mixed =
        _mm_xor_si128(_mm_sha1msg1_epu32(words[i - 4], words[i - 3]), words[i - 2]);
    words[i] = _mm_sha1msg2_epu32(mixed, words[i - 1]);
  }
  const auto lane = [state](size_t i) { return static_cast<int>((*state)[i]); };
  const ShaRegisters first = {_mm_set_epi32(lane(0), lane(1), lane(2), lane(3)),
                              _mm_set_epi32(lane(4), 0, 0, 0)};
  ShaRegisters last = first;
  TwentyRounds<0>(words, &last);
  TwentyRounds<1>(words, &last);
  TwentyRounds<2>(words, &last);
  TwentyRounds<3>(words, &last);
  const __m128i abcd = _mm_add_epi32(last.abcd, first.abcd);
  const __m128i e = _mm_sha1nexte_epu32(last.e, first.e);
  *state = {static_cast<uint32_t>(_mm_extract_epi32(abcd, 3)),
            static_cast<uint32_t>(_mm_extract_epi32(abcd, 2)),
            static_cast<uint32_t>(_mm_extract_epi32(abcd, 1)),
            static_cast<uint32_t>(_mm_extract_epi32(abcd, 0)),
            static_cast<uint32_t>(_mm_extract_epi32(e, 3))};
}

#undef TRAINYARD_SHA_TARGET

// CPUID leaf 7, bit 29 of EBX. GCC 12's __builtin_cpu_supports does not know SHA.
bool HasShaInstructions() {
  static const bool has = [] {
    unsigned int a = 0;
    unsigned int b = 0;
    unsigned int c = 0;
    unsigned int d = 0;
    return __builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
           (b >> 29 & 1) != 0;
  }();
  return has;
}

#endif

using Compress = void (*)(const uint8_t* block, ShaState* state);

uint32_t PrefixBy(Compress compress, std::string_view text) {
  ShaState state = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  const uint64_t bits = uint64_t{text.size()} * 8;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (; text.size() >= kShaBlock; text.remove_prefix(kShaBlock), bytes += kShaBlock) {
    compress(bytes, &state);
  }
  std::array<uint8_t, 2 * kShaBlock> last{};
  if (!text.empty()) std::memcpy(last.data(), text.data(), text.size());
  last[text.size()] = 0x80;
  const size_t end = text.size() + 9 <= kShaBlock ? kShaBlock : 2 * kShaBlock;
  for (size_t i = 0; i < 8; ++i) last[end - 1 - i] = static_cast<uint8_t>(bits >> (8 * i));
  for (size_t at = 0; at < end; at += kShaBlock) compress(last.data() + at, &state);
  return __builtin_bswap32(state[0]);
}

}  // namespace

uint32_t PortableSha1Prefix(std::string_view text) { return PrefixBy(CompressSha1, text); }

uint32_t Sha1Prefix(std::string_view text) {
#if defined(__x86_64__)
  if (HasShaInstructions()) return PrefixBy(CompressByInstructions, text);
#endif
  return PortableSha1Prefix(text);
}

}  // namespace trainyard::data
