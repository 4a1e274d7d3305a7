// The thresholds of the presets, on texts at and beside them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "data/filter/filter.h"
#include "data/filter/presets.h"

namespace trainyard::data {
namespace {

using testing::ElementsAre;

// Returns the name of the rule that drops the text, or "kept".
std::string Judge(const std::string& rules, const std::string& text) {
  const Filter filter = *Filter::Load(rules);
  FilterWorkspace workspace;
  const Verdict verdict = filter.Judge(text, workspace);
  return verdict.kept() ? "kept" : filter.rule_names()[*verdict.dropped_by];
}

std::string Repeat(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

// `count` different words of five letters.
std::string Words(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    std::string word = " aaaaa";
    for (int rest = i, at = 5; rest > 0; rest /= 26, --at)
      word[at] = static_cast<char>('a' + rest % 26);
    text += word;
  }
  return text.substr(1);
}

TEST(PresetTest, NamesAreListed) {
  EXPECT_THAT(PresetNames(), ElementsAre("guide", "gopher", "repetition", "c4", "fineweb",
                                         "slimpajama", "personal_data"));
}

TEST(PresetTest, GuideLimitsWords) {
  EXPECT_EQ(Judge("guide", Words(49)), "words");
  EXPECT_EQ(Judge("guide", Words(50)), "kept");
  EXPECT_EQ(Judge("guide", Words(100000)), "kept");
  EXPECT_EQ(Judge("guide", Words(100001)), "words");
}

TEST(PresetTest, GuideLimitsTheMeanWordLength) {
  EXPECT_EQ(Judge("guide", Repeat("abc ", 60)), "kept");
  EXPECT_EQ(Judge("guide", Repeat("abc ", 60) + "ab"), "mean_word_length");
  EXPECT_EQ(Judge("guide", Repeat("\xC3\xA9\xC3\xA9 ", 60)), "mean_word_length");
}

TEST(PresetTest, GuideLimitsLetters) {
  // 7 letters of 10 characters.
  const std::string text = Repeat("abcdefg12 ", 50);
  EXPECT_EQ(Judge("guide", text), "kept");
  EXPECT_EQ(Judge("guide", text + "1"), "letters");
  EXPECT_EQ(Judge("guide", text + "a"), "kept");
}

TEST(PresetTest, GopherLimitsSymbols) {
  const std::string words = "the of " + Words(88);
  EXPECT_EQ(Judge("gopher", words + Repeat(" a#b", 10)), "kept");
  EXPECT_EQ(Judge("gopher", words + Repeat(" a#b", 9) + " a##b"), "hash_signs_per_word");
  EXPECT_EQ(Judge("gopher", words + Repeat(" a...b", 10)), "kept");
  EXPECT_EQ(Judge("gopher", words + Repeat(" a...b", 10) + "\xE2\x80\xA6"), "ellipses_per_word");
}

TEST(PresetTest, GopherLimitsTheFormOfLines) {
  const std::string first = "the of " + Words(98) + "\n";
  EXPECT_EQ(Judge("gopher", first + Repeat("- and\n", 9)), "kept");
  EXPECT_EQ(Judge("gopher", first + Repeat("- and\n", 10)), "bullet_lines");
  EXPECT_EQ(Judge("gopher", Repeat(Words(15) + "\n", 7) + Repeat("the of...\n", 3)), "stop_words");
  EXPECT_EQ(Judge("gopher", first + Repeat("a b\n", 6) + Repeat("c...\n", 3)), "kept");
  EXPECT_EQ(Judge("gopher", first + Repeat("a b\n", 5) + Repeat("c...\n", 3)), "ellipsis_lines");
}

TEST(PresetTest, GopherLimitsTheKindOfWords) {
  EXPECT_EQ(Judge("gopher", "the of " + Words(78) + Repeat(" 1234", 20)), "kept");
  EXPECT_EQ(Judge("gopher", "the of " + Words(78) + Repeat(" 1234", 21)), "words_with_letters");
  EXPECT_EQ(Judge("gopher", "the The the " + Words(78)), "stop_words");
  EXPECT_EQ(Judge("gopher", "the with " + Words(78)), "kept");
  EXPECT_EQ(Judge("gopher", "the of " + Repeat("abcdefghijkl ", 62)), "mean_word_length");
}

TEST(PresetTest, RepetitionLimitsDuplicateLines) {
  for (const std::string newline : {"\n\n", "\n"}) {
    std::string text;
    for (int i = 0; i < 6; ++i) text += Words(200).substr(180 * i, 179) + newline;
    text += "q" + Repeat(newline + "q", 3);
    const char* rule = newline == "\n" ? "duplicate_lines" : "duplicate_paragraphs";
    EXPECT_EQ(Judge("repetition", text), "kept");
    EXPECT_EQ(Judge("repetition", text + newline + "q"), rule);
  }
}

TEST(PresetTest, RepetitionLimitsTheCharactersOfDuplicateLines) {
  // A line of a fifth of all characters occurs twice.
  const std::string words = Words(100);
  for (const std::string newline : {"\n\n", "\n"}) {
    const auto text = [&](size_t length) {
      const std::string line(length, 'x');
      return words + newline + line + newline + "q" + newline + line;
    };
    const size_t fifth = (words.size() + 1 + 3 * newline.size()) / 3;
    ASSERT_EQ(text(fifth).size(), 5 * fifth);
    const char* rule =
        newline == "\n" ? "duplicate_line_characters" : "duplicate_paragraph_characters";
    EXPECT_EQ(Judge("repetition", text(fifth)), "kept");
    EXPECT_EQ(Judge("repetition", text(fifth + 1)), rule);
  }
}

// Appends different words until the text has exactly `size` characters.
std::string Pad(std::string text, size_t size) {
  const std::string words = " " + Words(20000).substr(6 * 10000);
  text += words.substr(0, size - text.size());
  if (text.back() == ' ') text.back() = 'x';
  EXPECT_EQ(text.size(), size);
  return text;
}

TEST(PresetTest, RepetitionLimitsTopGrams) {
  const std::vector<std::pair<size_t, size_t>> percents{{2, 20}, {3, 18}, {4, 16}};
  for (const auto& [n, percent] : percents) {
    // The n-gram has `percent` characters and occurs four times.
    std::string gram;
    for (size_t i = 1; i < n; ++i) gram += "g" + std::to_string(i) + " ";
    gram.resize(percent, 'g');
    std::string text;
    for (const char* word : {"a", "b", "c", "d"}) text += std::string(word) + " " + gram + " ";
    text += "e";
    EXPECT_EQ(Judge("repetition", Pad(text, 400)), "kept");
    EXPECT_EQ(Judge("repetition", Pad(text, 399)), "top_" + std::to_string(n) + "_gram");
  }
}

TEST(PresetTest, RepetitionLimitsDuplicateGrams) {
  for (size_t n = 5; n <= 10; ++n) {
    // As many different n-grams as the limit has percent occur twice. Words have five letters.
    const size_t grams = 20 - n;
    const std::string words = Words(1000);
    std::string text;
    for (size_t i = 0; i < 2 * grams; ++i) {
      const std::string gram = words.substr(6 * n * (i % grams), 6 * n);
      text += gram + words.substr(6 * (500 + i), 6);
    }
    text.pop_back();
    EXPECT_EQ(Judge("repetition", Pad(text, 500 * n)), "kept");
    EXPECT_EQ(Judge("repetition", Pad(text, 500 * n - 1)),
              "duplicate_" + std::to_string(n) + "_grams");
  }
}

// Lines of `words` different words of five letters, from the given word on. The first lines end in
// a dot. The first line has two stop words.
std::string Lines(size_t count, size_t words, size_t punctuated, size_t from = 0) {
  const std::string source = Words(5000);
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    std::string line = source.substr(6 * (from + words * i), 6 * words - 1);
    if (i == 0) line.replace(0, 12, "the of abcd ");
    if (i < punctuated) line.back() = '.';
    text += line + "\n";
  }
  return text;
}

TEST(PresetTest, FineWebLimitsTheFormOfLines) {
  EXPECT_EQ(Judge("fineweb", Lines(25, 6, 3)), "kept");
  EXPECT_EQ(Judge("fineweb", Lines(25, 6, 2)), "punctuated_lines");
  // Lines of five words have 29 characters.
  EXPECT_EQ(Judge("fineweb", Lines(33, 6, 33) + Lines(67, 5, 0, 1000)), "kept");
  EXPECT_EQ(Judge("fineweb", Lines(32, 6, 32) + Lines(68, 5, 0, 1000)), "short_lines");
}

TEST(PresetTest, FineWebLimitsDuplicateLines) {
  // Lines have 35 characters.
  const std::string duplicate = Lines(1, 6, 0, 1000);
  EXPECT_EQ(Judge("fineweb", Lines(98, 6, 50) + duplicate + duplicate), "kept");
  EXPECT_EQ(Judge("fineweb", Lines(97, 6, 50) + duplicate + duplicate),
            "duplicate_text_line_characters");
}

TEST(PresetTest, FineWebLimitsNewlinesPerWord) {
  // 31 lines of three words with 10 characters. The filter removes the last LF.
  const std::string words = Words(1000);
  std::string lines;
  for (size_t i = 0; i < 93; ++i) {
    lines += "xxxx" + words.substr(6 * i, 5) + (i % 3 == 2 ? ".\n" : "x ");
  }
  EXPECT_EQ(Judge("fineweb", "the of it is so and on " + lines), "kept");
  EXPECT_EQ(Judge("fineweb", "the of it is so and " + lines), "newlines_per_word");
}

TEST(PresetTest, C4NeedsFiveSentences) {
  EXPECT_EQ(Judge("c4", Repeat("It is so.\n", 4) + "No end here"), "sentences");
  EXPECT_EQ(Judge("c4", Repeat("It is so.\n", 5)), "kept");
  EXPECT_EQ(Judge("c4", Repeat("It is so. ", 5)), "kept");
  EXPECT_EQ(Judge("c4", Repeat("It is so.\n", 5) + "Now lorem Ipsum dolor."), "lorem_ipsum");
  EXPECT_EQ(Judge("c4", Repeat("It is so.\n", 5) + "Now {one} follows."), "curly_brackets");
  EXPECT_EQ(Judge("c4", Repeat("It is so.\n", 5) + "int main() {"), "kept");
}

TEST(PresetTest, SlimPajamaNeeds200Characters) {
  EXPECT_EQ(Judge("slimpajama", std::string(199, 'x') + " .,!\n"),
            "characters_without_punctuation");
  EXPECT_EQ(Judge("slimpajama", std::string(200, 'x')), "kept");
  EXPECT_EQ(Judge("slimpajama", Repeat("e\xCC\x81", 199)), "characters_without_punctuation");
  EXPECT_EQ(Judge("slimpajama", Repeat("e\xCC\x81", 200)), "kept");
}

TEST(PresetTest, CombinedPresetsHaveTheStricterThresholds) {
  EXPECT_EQ(Filter::Load("guide,gopher")->ToYaml(), Filter::Load("guide+gopher")->ToYaml());
  EXPECT_THAT(Filter::Load("guide,gopher")->rule_names(),
              ElementsAre("words", "mean_word_length", "letters", "hash_signs_per_word",
                          "ellipses_per_word", "bullet_lines", "ellipsis_lines",
                          "words_with_letters", "stop_words"));
  EXPECT_EQ(Judge("guide,gopher", "the of " + Repeat("abcdefghijkl ", 62)), "mean_word_length");
}

TEST(PresetTest, RulesAfterAnEditAreRulesOfTheirOwn) {
  const Filter filter = *Filter::Load("c4,c4");
  EXPECT_THAT(filter.rule_names(), ElementsAre("lorem_ipsum", "curly_brackets", "sentences",
                                               "lorem_ipsum", "curly_brackets", "sentences"));
}

}  // namespace
}  // namespace trainyard::data
