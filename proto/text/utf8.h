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

// Truncate text only with the following two functions. A cut within a character would make the text
// invalid UTF-8, and a message that contains it could not be parsed.

// Returns the longest prefix of `text` that has at most max_bytes bytes and does not end within a
// character.
std::string_view Utf8Prefix(std::string_view text, std::size_t max_bytes);

// Returns the end of `text`, at most max_bytes bytes (max_bytes > 0), from the beginning of a line
// on. If the last line alone is longer than max_bytes, returns the end of that line, from the
// beginning of a character on.
std::string_view LastLines(std::string_view text, std::size_t max_bytes);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_UTF8_H_
