#include "data/prepare/splits/split_hash.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cmath>

namespace trainyard::data {

uint64_t HashOf(std::string_view text, uint64_t seed) {
  return XXH64(text.data(), text.size(), seed);
}

uint64_t ThresholdOf(double fraction) {
  return static_cast<uint64_t>(std::ldexp(fraction, 63)) * 2;
}

}  // namespace trainyard::data
