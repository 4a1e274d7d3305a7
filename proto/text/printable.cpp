#include "proto/text/printable.h"

#include <cstddef>

#include "proto/text/utf8.h"

namespace trainyard {
namespace {

// Returns the length in bytes of the SGR sequence (terminal color) at the beginning of `text`:
// ESC, "[", digits and ";", then "m". Returns 0 if there is none.
std::size_t ColorBytes(std::string_view text) {
  if (text.substr(0, 2) != "\x1b[") return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// Returns the code point at the beginning of `text`; 0 unless this is a control character of two or
// three bytes in UTF-8. Such characters are those of ISO 6429 and those that set the writing
// direction.
unsigned WideControl(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.size() >= 2 && byte(0) == 0xC2 && byte(1) < 0xA0) return byte(1);
  if (text.size() < 2) return 0;
  if (byte(0) == 0xD8 && byte(1) == 0x9C) return 0x061C;
  if (text.size() < 3 || byte(0) != 0xE2) return 0;
  const unsigned code = 0x2000 + (byte(1) - 0x80u) * 64 + (byte(2) - 0x80u);
  const bool directs = code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
                       (code >= 0x2066 && code <= 0x2069);
  return directs ? code : 0;
}

// Appends \uXXXX rather than \xXX, because \x is not valid in JSON.
void AppendEscape(unsigned code, std::string& line) {
  constexpr char kDigits[] = "0123456789abcdef";
  line += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) line += kDigits[code >> shift & 0xF];
}

struct Kept {
  // Control characters that are not escaped.
  std::string_view controls;
  bool colors = false;
  // If true, a backslash before "u" is escaped too, so that different texts have different escaped
  // forms.
  bool injective = false;
};

std::string Escaped(std::string_view text, const Kept& kept) {
  std::string line;
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const auto byte = static_cast<unsigned char>(rest.front());
    const bool is_control = byte < 0x20 || byte == 0x7f;
    if (const std::size_t color = kept.colors ? ColorBytes(rest) : 0; color > 0) {
      line += rest.substr(0, color);
      i += color;
    } else if (const unsigned wide = WideControl(rest); wide != 0) {
      AppendEscape(wide, line);
      i += wide < 0x800 ? 2 : 3;
    } else {
      const bool escapes = (is_control && kept.controls.find(rest.front()) == kept.controls.npos) ||
                           (kept.injective && rest.substr(0, 2) == "\\u");
      if (escapes) AppendEscape(byte, line);
      if (!escapes) line += rest.front();
      ++i;
    }
  }
  return line;
}

}  // namespace

std::string PrintableLine(std::string_view text, bool colors) {
  return Escaped(text, {.controls = "\t", .colors = colors});
}

std::string PrintableLabel(std::string_view text) {
  return Escaped(ReplaceInvalidUtf8(text), {.controls = "\n", .injective = true});
}

}  // namespace trainyard
