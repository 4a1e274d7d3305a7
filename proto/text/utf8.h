// Validation and truncation of UTF-8 text.
#ifndef TRAINYARD_PROTO_TEXT_UTF8_H_
#define TRAINYARD_PROTO_TEXT_UTF8_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

// Returns the offset of the first byte that is not valid UTF-8 (RFC 3629); nullopt if the whole
// text is valid.
std::optional<std::size_t> FirstInvalidUtf8(std::string_view text);

bool IsUtf8(std::string_view text);

// Returns the text with each invalid sequence replaced by one U+FFFD.
std::string ReplaceInvalidUtf8(std::string_view text);

// Truncate text only with the next two functions. Any other cut might split a character, and a
// message that contains invalid UTF-8 cannot be parsed.

// Returns the longest prefix of `text` that has at most max_bytes bytes and does not split a
// character.
std::string_view Utf8Prefix(std::string_view text, std::size_t max_bytes);

// Returns as many of the last lines of `text` as fit into max_bytes (> 0). If the last line alone
// is longer, returns its end, from the beginning of a character.
std::string_view LastLines(std::string_view text, std::size_t max_bytes);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_UTF8_H_
