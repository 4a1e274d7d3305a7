#include "data/filter/line_measures.h"

#include <cstddef>

#include "data/bpe/hash.h"
#include "data/filter/white_space.h"

namespace trainyard::data {
namespace {

constexpr std::string_view kBullet = "\xE2\x80\xA2";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

// Calls visit(begin, end) for the text before each LF and after the last one.
template <typename Visit>
void ForEachLine(size_t text_size, const std::vector<uint32_t>& newlines, const Visit& visit) {
  size_t begin = 0;
  for (const uint32_t newline : newlines) {
    visit(begin, size_t{newline});
    begin = size_t{newline} + 1;
  }
  visit(begin, text_size);
}

bool IsPunctuation(char byte) {
  return byte == '.' || byte == '!' || byte == '?' || byte == '\'' || byte == '"';
}

bool HasAtMost(std::string_view line, uint64_t characters) {
  return line.size() <= characters || CountCharacters(line) <= characters;
}

void AddLine(std::string_view line, const LineLengths& lengths, LineForm& form) {
  ++form.lines;
  const std::string_view begin = StripLeft(line);
  if (begin.empty()) return;
  const std::string_view stripped = StripRight(begin);
  if (stripped.front() == '-' || stripped.starts_with(kBullet)) ++form.bullet_lines;
  if (stripped.ends_with("...") || stripped.ends_with(kEllipsis)) ++form.ellipsis_lines;
  ++form.text_lines;
  if (IsPunctuation(line.back())) ++form.punctuated_lines;
  if (HasAtMost(line, lengths.short_length)) ++form.short_lines;
  if (lengths.long_length == 0 || !HasAtMost(line, lengths.long_length - 1)) ++form.long_lines;
}

class DuplicateCounter {
 public:
  DuplicateCounter(HashNumbering& numbering, size_t parts) : numbering_(numbering) {
    numbering_.Clear(parts);
  }

  // Returns the number of characters if `part` is a duplicate, else 0.
  size_t Add(std::string_view part) {
    ++counts_.parts;
    const uint32_t before = numbering_.size();
    numbering_.Number(HashBytes(part));
    if (numbering_.size() != before) return 0;
    const size_t characters = CountCharacters(part);
    ++counts_.duplicates;
    counts_.characters += characters;
    return characters;
  }

  const Duplicates& counts() const { return counts_; }

 private:
  HashNumbering& numbering_;
  Duplicates counts_;
};

void CountLines(std::string_view text, const std::vector<uint32_t>& newlines,
                HashNumbering& numbering, DuplicateText& result) {
  DuplicateCounter counter(numbering, newlines.size() / 2);
  ForEachLine(text.size(), newlines, [&](size_t begin, size_t end) {
    if (begin == end && begin != 0 && end != text.size()) return;
    const std::string_view line = text.substr(begin, end - begin);
    const size_t characters = counter.Add(line);
    if (characters != 0 && !StripLeft(line).empty()) result.text_line_characters += characters;
  });
  result.lines = counter.counts();
}

void CountParagraphs(std::string_view text, const std::vector<uint32_t>& newlines,
                     HashNumbering& numbering, DuplicateText& result) {
  DuplicateCounter counter(numbering, newlines.size() / 2);
  const std::string_view stripped = Strip(text);
  const size_t limit = stripped.data() + stripped.size() - text.data();
  size_t begin = stripped.data() - text.data();
  for (size_t i = 0; i + 1 < newlines.size(); ++i) {
    const size_t newline = newlines[i];
    if (newline < begin || newlines[i + 1] != newline + 1) continue;
    if (newline >= limit) break;
    counter.Add(text.substr(begin, newline - begin));
    while (i + 1 < newlines.size() && newlines[i + 1] == newlines[i] + 1) ++i;
    begin = size_t{newlines[i]} + 1;
  }
  counter.Add(text.substr(begin, limit - begin));
  result.paragraphs = counter.counts();
}

}  // namespace

LineForm MeasureLineForm(std::string_view text, const std::vector<uint32_t>& newlines,
                         const LineLengths& lengths) {
  LineForm form;
  ForEachLine(text.size(), newlines, [&](size_t begin, size_t end) {
    if (begin == end && end == text.size()) return;
    AddLine(text.substr(begin, end - begin), lengths, form);
  });
  return form;
}

DuplicateText MeasureDuplicateText(std::string_view text, const std::vector<uint32_t>& newlines,
                                   HashNumbering& numbering) {
  DuplicateText result;
  CountLines(text, newlines, numbering, result);
  CountParagraphs(text, newlines, numbering, result);
  return result;
}

}  // namespace trainyard::data
