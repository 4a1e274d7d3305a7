#include "cli/convert/shell/shell_braces.h"

#include <optional>
#include <string>
#include "absl/strings/string_view.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "cli/convert/shell/shell_token.h"

namespace trainyard::cli {
namespace {

constexpr size_t kMaxWords = 1000;
constexpr int kMaxBraceDepth = 8;

struct Braces {
  size_t begin = 0;  // Position of the opening brace.
  size_t end = 0;    // Position after the closing brace.
  std::vector<std::string> alternatives;
};

// Reads the braces at `begin`. Returns nullopt if they are not closed or contain no comma.
std::optional<Braces> ListAt(absl::string_view text, size_t begin) {
  Braces braces{begin, 0, {}};
  int nesting = 0;
  size_t part = begin + 1;
  for (size_t at = begin + 1; at < text.size();) {
    if (text[at] == '}' && nesting == 0) {
      braces.alternatives.emplace_back(text.substr(part, at - part));
      braces.end = at + 1;
      return braces.alternatives.size() > 1 ? std::optional(braces) : std::nullopt;
    }
    if (text[at] == ',' && nesting == 0) {
      braces.alternatives.emplace_back(text.substr(part, at - part));
      part = at + 1;
    }
    nesting += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    at = ShellPieceEnd(text, at);
  }
  return std::nullopt;
}

// Reads a range such as `{1..4}` or `{00..12..2}`.
std::optional<Braces> RangeAt(absl::string_view text, size_t begin) {
  const size_t close = text.find('}', begin);
  const size_t dots = text.find("..", begin);
  if (close == absl::string_view::npos || dots == absl::string_view::npos || dots > close) {
    return std::nullopt;
  }
  absl::string_view last_text = text.substr(dots + 2, close - dots - 2);
  int step = 1;
  if (const size_t more = last_text.find(".."); more != absl::string_view::npos) {
    if (!absl::SimpleAtoi(last_text.substr(more + 2), &step)) return std::nullopt;
    last_text = last_text.substr(0, more);
  }
  const absl::string_view first_text = text.substr(begin + 1, dots - begin - 1);
  int first = 0, last = 0;
  constexpr int kMost = 1'000'000;
  if (!absl::SimpleAtoi(first_text, &first) || !absl::SimpleAtoi(last_text, &last) || step < 1 ||
      step > kMost || first < -kMost || first > kMost || last < -kMost || last > kMost) {
    return std::nullopt;
  }
  const bool is_padded = first_text.size() > 1 && first_text[0] == '0';
  Braces braces{begin, close + 1, {}};
  const int sign = first <= last ? 1 : -1;
  for (int value = first; sign * value <= sign * last; value += sign * step) {
    if (braces.alternatives.size() > kMaxWords) return std::nullopt;
    const int width = is_padded ? static_cast<int>(first_text.size()) : 0;
    braces.alternatives.push_back(absl::StrFormat("%0*d", width, value));
  }
  return braces;
}

std::optional<Braces> FirstBraces(absl::string_view text) {
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '{') {
      if (std::optional<Braces> list = ListAt(text, at)) return list;
      if (std::optional<Braces> range = RangeAt(text, at)) return range;
    }
    at = ShellPieceEnd(text, at);
  }
  return std::nullopt;
}

// Appends the results to `words`. Returns false if there are too many.
bool AddExpanded(const RawWord& word, int depth, std::vector<RawWord>& words) {
  const std::optional<Braces> braces = FirstBraces(word.text);
  if (!braces.has_value() || depth > kMaxBraceDepth) {
    words.push_back(word);
    return words.size() <= kMaxWords;
  }
  for (const std::string& alternative : braces->alternatives) {
    const std::string text = absl::StrCat(word.text.substr(0, braces->begin), alternative,
                                          word.text.substr(braces->end));
    if (!AddExpanded({text, word.line}, depth + 1, words)) return false;
  }
  return true;
}

}  // namespace

std::vector<RawWord> ExpandBraces(const RawWord& word) {
  std::vector<RawWord> words;
  if (word.text.find('{') == std::string::npos || !AddExpanded(word, 0, words)) return {word};
  return words;
}

}  // namespace trainyard::cli
