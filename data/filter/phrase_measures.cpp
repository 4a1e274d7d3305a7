#include "data/filter/phrase_measures.h"

#include <cstddef>
#include <cstring>

#include "data/filter/white_space.h"
#include "data/unicode/code_point.h"

namespace trainyard::data {
namespace {

constexpr std::string_view kStopWords[] = {"the", "be", "to", "of", "and", "that", "have", "with"};
constexpr uint32_t kAllStopWords = (1 << std::size(kStopWords)) - 1;

char ToLower(char byte) { return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 32) : byte; }

bool StartsWithAnyCase(std::string_view text, std::string_view phrase) {
  if (text.size() < phrase.size()) return false;
  for (size_t i = 0; i < phrase.size(); ++i) {
    if (ToLower(text[i]) != phrase[i]) return false;
  }
  return true;
}

bool EndsSentence(char byte) { return byte == '.' || byte == '!' || byte == '?'; }

bool IsClosing(char32_t c) {
  return c == '"' || c == '\'' || c == ')' || c == ']' || c == 0x2019 || c == 0x201D;
}

bool IsAsciiPunctuation(char32_t c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

// Returns true if white space follows at `at`, possibly after closing quotes and brackets.
bool SpaceFollows(std::string_view text, size_t at) {
  while (at < text.size()) {
    const DecodedChar next = DecodeUtf8(text.data() + at);
    if (!IsClosing(next.code_point)) return IsPythonSpace(next.code_point);
    at += next.length;
  }
  return true;
}

}  // namespace

uint64_t CountPhrase(std::string_view text, std::string_view phrase) {
  uint64_t count = 0;
  const char* begin = text.data();
  const char* const end = begin + text.size();
  while (begin < end) {
    const void* found = memmem(begin, end - begin, phrase.data(), phrase.size());
    if (found == nullptr) break;
    ++count;
    begin = static_cast<const char*>(found) + phrase.size();
  }
  return count;
}

uint64_t CountPhraseAnyCase(std::string_view text, std::string_view phrase) {
  uint64_t count = 0;
  for (size_t at = 0; at + phrase.size() <= text.size();) {
    const bool found = StartsWithAnyCase(text.substr(at), phrase);
    count += found ? 1 : 0;
    at += found ? phrase.size() : 1;
  }
  return count;
}

uint64_t CountEllipses(std::string_view text, const TextCounts& counts) {
  uint64_t count = 0;
  if (counts.has_three_dots) count += CountPhrase(text, "...");
  if (counts.has_non_ascii) count += CountPhrase(text, "\xE2\x80\xA6");
  return count;
}

uint64_t CountStopWords(std::string_view text, const WordList& words) {
  uint32_t found = 0;
  for (const WordSpan& span : words.spans) {
    if (span.size < 2 || span.size > 4) continue;
    const std::string_view word = text.substr(span.begin, span.size);
    for (size_t i = 0; i < std::size(kStopWords); ++i) {
      if (word == kStopWords[i]) found |= 1u << i;
    }
    if (found == kAllStopWords) break;
  }
  return __builtin_popcount(found);
}

uint64_t CountSentences(std::string_view text) {
  uint64_t count = 0;
  bool has_word = false;  // in the current sentence
  for (size_t at = 0; at < text.size();) {
    const DecodedChar c = DecodeUtf8(text.data() + at);
    at += c.length;
    const CharClass char_class = ClassOf(c.code_point);
    has_word |= char_class == CharClass::kLetter || char_class == CharClass::kNumber;
    const bool ends = c.code_point == '\n' ||
                      (c.length == 1 && EndsSentence(text[at - 1]) && SpaceFollows(text, at));
    if (!ends || !has_word) continue;
    ++count;
    has_word = false;
  }
  return count + (has_word ? 1 : 0);
}

uint64_t CountWithoutPunctuation(std::string_view text) {
  uint64_t count = 0;
  bool space = false;  // White space since the last counted character.
  for (size_t at = 0; at < text.size();) {
    const DecodedChar c = DecodeUtf8(text.data() + at);
    at += c.length;
    if (IsPythonSpace(c.code_point)) {
      space = count != 0;
    } else if (!IsAsciiPunctuation(c.code_point)) {
      count += space ? 2 : 1;
      space = false;
    }
  }
  return count;
}

}  // namespace trainyard::data
