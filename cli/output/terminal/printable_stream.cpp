#include "cli/output/terminal/printable_stream.h"

#include <string_view>

#include "proto/text/printable.h"

namespace trainyard::cli {
namespace {

// The maximum length of a line. A longer line is forwarded in pieces.
constexpr std::size_t kLongLine = 64 << 10;

// True for a byte that cannot be part of a multi-byte character or of an escape sequence.
bool IsPlain(char c) { return c == ' ' || c == ',' || c == '"'; }

}  // namespace

int PrintableBuffer::overflow(int c) {
  if (c == traits_type::eof()) return 0;
  const char byte = traits_type::to_char_type(c);
  return xsputn(&byte, 1) == 1 ? c : traits_type::eof();
}

std::streamsize PrintableBuffer::xsputn(const char* text, std::streamsize size) {
  waiting_.append(text, static_cast<std::size_t>(size));
  return PassOnLines() ? size : 0;
}

int PrintableBuffer::sync() {
  const bool passed = PassOn(waiting_.size());
  return passed && target_.pubsync() == 0 ? 0 : -1;
}

bool PrintableBuffer::PassOnLines() {
  const std::size_t end = waiting_.rfind('\n');
  if (end != std::string::npos && !PassOn(end + 1)) return false;
  if (waiting_.size() < kLongLine) return true;
  std::size_t cut = waiting_.size();
  while (cut > 0 && !IsPlain(waiting_[cut - 1])) --cut;
  return PassOn(cut == 0 ? waiting_.size() : cut);
}

bool PrintableBuffer::PassOn(std::size_t size) {
  std::string printable;
  std::string_view rest(waiting_.data(), size);
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    printable += PrintableLine(rest.substr(0, end), colors_);
    if (end == std::string_view::npos) break;
    printable += '\n';
    rest.remove_prefix(end + 1);
  }
  waiting_.erase(0, size);
  const auto bytes = static_cast<std::streamsize>(printable.size());
  return target_.sputn(printable.data(), bytes) == bytes;
}

}  // namespace trainyard::cli
