// Validation and truncation of UTF-8 text.
#ifndef TRAINYARD_PROTO_TEXT_UTF8_H_
#define TRAINYARD_PROTO_TEXT_UTF8_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

// Offset of the first byte that is not valid UTF-8 (RFC 3629); nullopt if all are.
std::optional<std::size_t> FirstInvalidUtf8(std::string_view text);

bool IsUtf8(std::string_view text);

// The text with each invalid sequence replaced by one U+FFFD.
std::string ReplaceInvalidUtf8(std::string_view text);

// Cutting a text inside a character makes it invalid, and a message that contains it cannot be
// parsed. Cut texts with these two functions.

// The longest prefix of `text` of at most max_bytes that ends between two characters.
std::string_view Utf8Prefix(std::string_view text, std::size_t max_bytes);

// The end of `text`, at most max_bytes (more than 0), starting at the beginning of a line, or of a
// character if the last line alone is longer.
std::string_view LastLines(std::string_view text, std::size_t max_bytes);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_UTF8_H_
