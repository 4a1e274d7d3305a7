#include "data/unicode/code_point.h"

namespace trainyard::data {

void AppendUtf8(char32_t code_point, std::string* text) {
  const auto tail = [code_point](int shift) {
    return static_cast<char>(0x80 | ((code_point >> shift) & 0x3F));
  };
  if (code_point < 0x80) {
    *text += static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    *text += static_cast<char>(0xC0 | code_point >> 6);
    *text += tail(0);
  } else if (code_point < 0x10000) {
    *text += static_cast<char>(0xE0 | code_point >> 12);
    *text += {tail(6), tail(0)};
  } else {
    *text += static_cast<char>(0xF0 | code_point >> 18);
    *text += {tail(12), tail(6), tail(0)};
  }
}

}  // namespace trainyard::data
