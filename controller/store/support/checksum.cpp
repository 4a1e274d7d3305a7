#include "controller/store/support/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace trainyard::controller {

uint64_t Checksum(std::string_view bytes, uint64_t seed) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

uint64_t HashOf(std::initializer_list<int64_t> numbers) {
  return XXH64(numbers.begin(), numbers.size() * sizeof(int64_t), 0);
}

}  // namespace trainyard::controller
