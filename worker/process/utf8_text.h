// Output of a program is bytes; what goes into messages must be UTF-8.
#ifndef TRAINYARD_WORKER_PROCESS_UTF8_TEXT_H_
#define TRAINYARD_WORKER_PROCESS_UTF8_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::worker {

// Bytes of the valid UTF-8 character at the front of `text`; 0 when there is none.
std::size_t Utf8CharacterBytes(std::string_view text);

bool IsUtf8(std::string_view text);

// `text` with U+FFFD for each byte that is no part of a character.
std::string ToUtf8(std::string_view text);

// The longest front of valid `text` of at most max_bytes that ends between two characters.
std::string_view Utf8Prefix(std::string_view text, std::size_t max_bytes);

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_PROCESS_UTF8_TEXT_H_
