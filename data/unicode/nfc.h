// Normalization form C as Hugging Face's tokenizers compute it: with the data of Unicode 9.0.
// Characters that are newer than Unicode 9.0 are neither composed nor reordered.
#ifndef TRAINYARD_DATA_UNICODE_NFC_H_
#define TRAINYARD_DATA_UNICODE_NFC_H_

#include <string>
#include <string_view>

namespace trainyard::data {

// The text must be valid UTF-8 in both functions.

// Returns true if ToNfc(text) == text. Allocates memory only for unusual sequences of marks.
bool IsNfc(std::string_view text);

std::string ToNfc(std::string_view text);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_UNICODE_NFC_H_
