#include "data/filter/c4_lines.h"

#include <algorithm>
#include <cstddef>

#include "data/filter/phrase_measures.h"
#include "data/filter/white_space.h"
#include "data/unicode/code_point.h"

namespace trainyard::data {
namespace {

constexpr std::string_view kPolicyPhrases[] = {"terms of use", "privacy policy", "cookie policy",
                                               "uses cookies", "use of cookies", "use cookies"};

// Returns the length of the citation at the start of `text`: [edit], [citation needed], or digits
// in brackets, also none.
size_t CitationLength(std::string_view text) {
  for (const std::string_view word : {"[edit]", "[citation needed]"}) {
    if (text.starts_with(word)) return word.size();
  }
  size_t at = 1;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
  return at < text.size() && text[at] == ']' ? at + 1 : 0;
}

// Appends the line without citations.
void AppendWithoutCitations(std::string_view line, std::string* text) {
  while (!line.empty()) {
    const size_t bracket = std::min(line.find('['), line.size());
    text->append(line.substr(0, bracket));
    line.remove_prefix(bracket);
    if (line.empty()) break;
    const size_t length = CitationLength(line);
    if (length == 0) text->push_back('[');
    line.remove_prefix(std::max<size_t>(length, 1));
  }
}

// Checks the number of words, and the length of each.
bool WordsFit(std::string_view line, const C4LineRules& rules) {
  uint64_t words = 0;
  uint64_t length = 0;
  for (size_t at = 0; at < line.size();) {
    const DecodedChar c = DecodeUtf8(line.data() + at);
    at += c.length;
    length = IsPythonSpace(c.code_point) ? 0 : length + 1;
    if (length == 1) ++words;
    if (length > rules.max_word_length) return false;
  }
  return words >= rules.min_words;
}

bool EndsAsSentence(std::string_view line) {
  return !line.empty() && std::string_view(".?!\"'").find(line.back()) != std::string_view::npos &&
         !line.ends_with("...");
}

bool Contains(std::string_view line, std::string_view phrase) {
  return CountPhraseAnyCase(line, phrase) != 0;
}

// The order of the checks is that of C4.
bool PhrasesFit(std::string_view line) {
  if (Contains(line, "lorem ipsum")) return true;
  if (Contains(line, "javascript")) return false;
  if (line.find('{') != std::string_view::npos) return true;
  return std::none_of(std::begin(kPolicyPhrases), std::end(kPolicyPhrases),
                      [line](std::string_view phrase) { return Contains(line, phrase); });
}

// Appends the line and LF if the line stays.
void AppendLine(std::string_view line, const C4LineRules& rules, std::string* edited) {
  line = Strip(line);
  if (!WordsFit(line, rules)) return;
  const size_t begin = edited->size();
  AppendWithoutCitations(line, edited);
  const std::string_view kept = std::string_view(*edited).substr(begin);
  if ((rules.end_punctuation && !EndsAsSentence(kept)) || !PhrasesFit(kept)) {
    edited->resize(begin);
    return;
  }
  edited->push_back('\n');
}

}  // namespace

void KeepC4Lines(std::string_view text, const C4LineRules& rules, std::string* edited) {
  edited->clear();
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    AppendLine(text.substr(begin, end - begin), rules, edited);
    begin = end + 1;
  }
  const std::string_view stripped = Strip(*edited);
  const size_t offset = stripped.data() - edited->data();
  const size_t size = stripped.size();
  edited->resize(offset + size);
  edited->erase(0, offset);
}

}  // namespace trainyard::data
