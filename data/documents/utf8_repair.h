// Validation of UTF-8 at the speed of memory, and replacement of bytes that are not UTF-8.
#ifndef TRAINYARD_DATA_DOCUMENTS_UTF8_REPAIR_H_
#define TRAINYARD_DATA_DOCUMENTS_UTF8_REPAIR_H_

#include <string>
#include <string_view>

namespace trainyard::data {

bool IsValidUtf8(std::string_view text);

// Replaces each maximal subpart of an invalid sequence by U+FFFD (Unicode 16.0, section 3.9), as
// Python's errors="replace" does. A text with each invalid sequence replaced only once, as
// ReplaceInvalidUtf8 of proto/text returns it, would differ from other tools' results.
std::string RepairUtf8(std::string_view text);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DOCUMENTS_UTF8_REPAIR_H_
