// Random documents that repeat words and lines, and mix scripts, punctuation and white space.
#ifndef TRAINYARD_TESTS_DATA_FILTER_GENERATED_DOCUMENTS_H_
#define TRAINYARD_TESTS_DATA_FILTER_GENERATED_DOCUMENTS_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "data/unicode/code_point.h"

namespace trainyard::data {

// The white space of Python's str.isspace.
inline const std::vector<char32_t>& PythonSpaces() {
  static const std::vector<char32_t> spaces{
      0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x1C,   0x1D,   0x1E,   0x1F,   0x20,
      0x85,   0xA0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006,
      0x2007, 0x2008, 0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
  return spaces;
}

inline std::string Utf8Of(char32_t code_point) {
  std::string text;
  AppendUtf8(code_point, &text);
  return text;
}

// Generates texts from a number. Equal numbers give equal texts on every machine.
class DocumentGenerator {
 public:
  explicit DocumentGenerator(uint64_t number) : random_(number) {}

  std::string Next() {
    const std::vector<std::string> words = Vocabulary();
    std::string text;
    const uint64_t size = Below(4) == 0 ? Below(60) : Below(600);
    size_t line = 0;  // start of the last line
    for (uint64_t i = 0; i < size; ++i) {
      text += words[Below(words.size())];
      text += Separator();
      if (text.back() != '\n') continue;
      if (Below(6) == 0) text += text.substr(line);
      line = text.size();
    }
    return text;
  }

 private:
  // std::uniform_int_distribution differs between libraries.
  uint64_t Below(uint64_t limit) { return random_() % limit; }

  std::string Separator() {
    const uint64_t kind = Below(40);
    if (kind < 28) return " ";
    if (kind < 32) return "\n";
    if (kind < 34) return "\n\n";
    if (kind < 36) return "  \n \n\n";
    if (kind < 37) return "\r\n";
    std::string spaces;
    for (uint64_t i = Below(3) + 1; i > 0; --i) {
      spaces += Utf8Of(PythonSpaces()[Below(PythonSpaces().size())]);
    }
    return spaces;
  }

  std::vector<std::string> Vocabulary() {
    static const std::vector<std::string> fixed{
        "the",  "be",      "to",          "of",      "and",
        "that", "have",    "with",        "#",       "...",
        "..",   "....",    "-",           "\u2022x", "x\u2026",
        "{",    "3.14",    "Lorem ipsum", "end.",    "No!",
        "(a.)", "\"Eh?\"", "#tag",        "word",    "international",
        "."};
    std::vector<std::string> words;
    for (uint64_t i = Below(20) + 2; i > 0; --i) {
      words.push_back(Below(2) == 0 ? fixed[Below(fixed.size())] : RandomWord());
    }
    return words;
  }

  std::string RandomWord() {
    struct Range {
      char32_t begin;
      char32_t size;
    };
    static const std::vector<Range> ranges{
        {'a', 26},     {'a', 26},     {'A', 26},    {'0', 10},     {'!', 94},
        {0xA1, 95},    {0x300, 40},   {0x3B1, 20},  {0x430, 32},   {0x5D0, 20},
        {0x905, 40},   {0x200B, 4},   {0x2010, 20}, {0x4E00, 500}, {0xAC00, 500},
        {0x1F600, 40}, {0x1D400, 80}, {0xFEFF, 1},  {0x180E, 1},   {0, 9}};
    std::string word;
    const Range range = ranges[Below(ranges.size())];
    for (uint64_t i = Below(8) == 0 ? Below(80) + 1 : Below(10) + 1; i > 0; --i) {
      word += Utf8Of(range.begin + static_cast<char32_t>(Below(range.size)));
    }
    return word;
  }

  std::mt19937_64 random_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_FILTER_GENERATED_DOCUMENTS_H_
