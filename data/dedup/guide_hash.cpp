#include "data/dedup/guide_hash.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <random>

namespace trainyard::data {
namespace {

constexpr uint64_t kMersennePrime = (uint64_t{1} << 61) - 1;
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

// The compression function of SHA-1 (FIPS 180-4, section 6.1.2).
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

}  // namespace

uint32_t Sha1Prefix(std::string_view text) {
  ShaState state = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
  const uint64_t bits = uint64_t{text.size()} * 8;
  const auto* bytes = reinterpret_cast<const uint8_t*>(text.data());
  for (; text.size() >= kShaBlock; text.remove_prefix(kShaBlock), bytes += kShaBlock) {
    CompressSha1(bytes, &state);
  }
  std::array<uint8_t, 2 * kShaBlock> last{};
  if (!text.empty()) std::memcpy(last.data(), text.data(), text.size());
  last[text.size()] = 0x80;
  const size_t end = text.size() + 9 <= kShaBlock ? kShaBlock : 2 * kShaBlock;
  for (size_t i = 0; i < 8; ++i) last[end - 1 - i] = static_cast<uint8_t>(bits >> (8 * i));
  for (size_t at = 0; at < end; at += kShaBlock) CompressSha1(last.data() + at, &state);
  return __builtin_bswap32(state[0]);
}

GuideMinHash::GuideMinHash() {
  std::mt19937 random(1);
  for (size_t i = 0; i < kMinHashes; ++i) {
    factors_[i] = 1 + Draw(kMersennePrime - 2, &random);
    offsets_[i] = Draw(kMersennePrime - 1, &random);
  }
}

Signature GuideMinHash::Empty() {
  Signature signature;
  signature.fill(0xFFFFFFFF);
  return signature;
}

void GuideMinHash::Update(std::string_view shingle, Signature* signature) const {
  const uint64_t hash = Sha1Prefix(shingle);
  for (size_t i = 0; i < kMinHashes; ++i) {
    const uint64_t value = factors_[i] * hash + offsets_[i];
    uint64_t rest = (value & kMersennePrime) + (value >> 61);
    rest -= rest >= kMersennePrime ? kMersennePrime : 0;
    (*signature)[i] = std::min((*signature)[i], static_cast<uint32_t>(rest));
  }
}

}  // namespace trainyard::data
