// XXH64 hashes as text.
#ifndef TRAINYARD_DATA_STAGES_HASH_TEXT_H_
#define TRAINYARD_DATA_STAGES_HASH_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::data {

uint64_t HashOf(std::string_view bytes);
// Returns 16 hexadecimal digits.
std::string HashText(uint64_t hash);
// HashText of HashOf.
std::string HashTextOf(std::string_view bytes);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_HASH_TEXT_H_
