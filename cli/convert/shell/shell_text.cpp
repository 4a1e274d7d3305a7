#include "cli/convert/shell/shell_text.h"

#include <algorithm>

namespace trainyard::cli {
namespace {

// Returns the position after the set that starts at `at` ("[a-z]"), or `at` if it is not a set.
// Reports whether the set contains the byte.
size_t SetEnd(const ShellText& pattern, size_t at, char byte, bool& contains) {
  size_t next = at + 1;
  const bool is_inverted =
      next < pattern.size() && (pattern[next].byte == '!' || pattern[next].byte == '^');
  if (is_inverted) ++next;
  bool found = false;
  for (size_t first = next; next < pattern.size(); ++next) {
    if (pattern[next].byte == ']' && next > first) {
      contains = found != is_inverted;
      return next + 1;
    }
    const bool is_range =
        next + 2 < pattern.size() && pattern[next + 1].byte == '-' && pattern[next + 2].byte != ']';
    const char low = pattern[next].byte, high = is_range ? pattern[next + 2].byte : low;
    found = found || (low <= byte && byte <= high);
    if (is_range) next += 2;
  }
  return at;
}

// Returns the position in the pattern after the element that matches the byte; `at` if the element
// does not match.
size_t ElementEnd(const ShellText& pattern, size_t at, char byte) {
  const ShellGlyph& element = pattern[at];
  if (!element.is_quoted && element.byte == '?') return at + 1;
  if (!element.is_quoted && element.byte == '[') {
    bool contains = false;
    const size_t end = SetEnd(pattern, at, byte, contains);
    if (end != at) return contains ? end : at;
  }
  return element.byte == byte ? at + 1 : at;
}

}  // namespace

std::string BytesOf(const ShellText& text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (const ShellGlyph& glyph : text) bytes += glyph.byte;
  return bytes;
}

bool IsKnown(const ShellText& text) { return OpenPart(text).empty(); }

bool IsUnsetReference(const ShellText& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](const ShellGlyph& glyph) {
    return glyph.source == ShellGlyph::Source::kUnset;
  });
}

std::string OpenPart(const ShellText& text) {
  const auto is_open = [](const ShellGlyph& glyph) {
    return glyph.source != ShellGlyph::Source::kKnown;
  };
  const auto begin = std::find_if(text.begin(), text.end(), is_open);
  const auto end = std::find_if_not(begin, text.end(), is_open);
  return BytesOf({begin, end});
}

ShellText KnownText(absl::string_view bytes, int line, bool is_quoted) {
  ShellText text;
  text.reserve(bytes.size());
  for (const char byte : bytes) {
    text.push_back({byte, is_quoted, ShellGlyph::Source::kKnown, line});
  }
  return text;
}

ShellText OpenText(absl::string_view written, int line, ShellGlyph::Source source) {
  ShellText text;
  text.reserve(written.size());
  for (const char byte : written) text.push_back({byte, true, source, line});
  return text;
}

bool MatchesGlob(const ShellText& pattern, absl::string_view text) {
  size_t in_pattern = 0, in_text = 0;
  // The last `*` of the pattern, and the position in the text where it is tried to end.
  size_t star = pattern.size() + 1, star_text = 0;
  while (in_text < text.size()) {
    if (in_pattern < pattern.size() && pattern[in_pattern].byte == '*' &&
        !pattern[in_pattern].is_quoted) {
      star = in_pattern++;
      star_text = in_text;
      continue;
    }
    const size_t end =
        in_pattern < pattern.size() ? ElementEnd(pattern, in_pattern, text[in_text]) : in_pattern;
    if (end != in_pattern) {
      in_pattern = end;
      ++in_text;
    } else if (star <= pattern.size()) {
      in_pattern = star + 1;
      in_text = ++star_text;
    } else {
      return false;
    }
  }
  while (in_pattern < pattern.size() && pattern[in_pattern].byte == '*' &&
         !pattern[in_pattern].is_quoted) {
    ++in_pattern;
  }
  return in_pattern == pattern.size();
}

}  // namespace trainyard::cli
