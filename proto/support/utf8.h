// UTF-8 as it enters and leaves the system.
#ifndef TRAINYARD_PROTO_SUPPORT_UTF8_H_
#define TRAINYARD_PROTO_SUPPORT_UTF8_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard {

// Offset of the first byte that is not part of valid UTF-8 (RFC 3629), or nothing.
std::optional<std::size_t> FirstInvalidUtf8(std::string_view text);

// The text with each invalid byte replaced by U+FFFD.
std::string ReplaceInvalidUtf8(std::string_view text);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_UTF8_H_
