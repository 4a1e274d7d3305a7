#include "proto/text/node_label.h"

#include <algorithm>

#include "proto/text/utf8.h"

namespace trainyard {
namespace {

constexpr std::size_t kMaxNameBytes = 63;
constexpr std::size_t kMaxValueBytes = 128;

bool IsNameCharacter(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') ||
         std::string_view("._-/").find(c) != std::string_view::npos;
}

bool IsControl(char c) { return (0 <= c && c < ' ') || c == '\x7f'; }

}  // namespace

std::string LabelProblem(std::string_view name, std::string_view value) {
  const bool is_name = !name.empty() && name.size() <= kMaxNameBytes &&
                       std::all_of(name.begin(), name.end(), IsNameCharacter);
  if (!is_name) return "its name needs 1 to 63 letters, digits, `.`, `_`, `-` and `/`";
  const bool is_value = !value.empty() && value.size() <= kMaxValueBytes && IsUtf8(value) &&
                        std::none_of(value.begin(), value.end(), IsControl);
  return is_value ? "" : "its value needs 1 to 128 bytes of printable text";
}

}  // namespace trainyard
