// Lists of bits as text.
#ifndef TRAINYARD_DATA_STAGES_BIT_TEXT_H_
#define TRAINYARD_DATA_STAGES_BIT_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

namespace trainyard::data {

// Returns base64 of bytes of 8 bits each, the first bit in the lowest position.
std::string BitText(const std::vector<bool>& bits);
// Returns the first `count` bits of a text of BitText. Bits that the text lacks are false.
std::vector<bool> BitsOf(const std::string& text, size_t count);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_BIT_TEXT_H_
