#include "data/stages/hash_text.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdio>

namespace trainyard::data {

uint64_t HashOf(std::string_view bytes) { return XXH64(bytes.data(), bytes.size(), 0); }

std::string HashText(uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

std::string HashTextOf(std::string_view bytes) { return HashText(HashOf(bytes)); }

}  // namespace trainyard::data
