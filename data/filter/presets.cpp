#include "data/filter/presets.h"

#include <optional>
#include <utility>

namespace trainyard::data {
namespace {

using Steps = std::vector<FilterStep>;

Rule AtLeast(Signal signal, double min) { return {signal, min, std::nullopt}; }
Rule AtMost(Signal signal, double max) { return {signal, std::nullopt, max}; }
Rule Between(Signal signal, double min, double max) { return {signal, min, max}; }

// The first filter of a common training guide, in the order of its checks.
Steps Guide() {
  return {
      Between(Signal::kWords, 50, 100000),
      AtLeast(Signal::kMeanWordLength, 3),
      AtLeast(Signal::kLetters, 0.7),
  };
}

// arXiv 2112.11446, table A1.
Steps Repetition() {
  return {
      AtMost(Signal::kDuplicateParagraphs, 0.3),
      AtMost(Signal::kDuplicateParagraphCharacters, 0.2),
      AtMost(Signal::kDuplicateLines, 0.3),
      AtMost(Signal::kDuplicateLineCharacters, 0.2),
      AtMost(Signal::kTop2Gram, 0.2),
      AtMost(Signal::kTop3Gram, 0.18),
      AtMost(Signal::kTop4Gram, 0.16),
      AtMost(Signal::kDuplicate5Grams, 0.15),
      AtMost(Signal::kDuplicate6Grams, 0.14),
      AtMost(Signal::kDuplicate7Grams, 0.13),
      AtMost(Signal::kDuplicate8Grams, 0.12),
      AtMost(Signal::kDuplicate9Grams, 0.11),
      AtMost(Signal::kDuplicate10Grams, 0.1),
  };
}

// arXiv 2112.11446, appendix A.1.1, quality filtering.
Steps Gopher() {
  return {
      Between(Signal::kWords, 50, 100000),     Between(Signal::kMeanWordLength, 3, 10),
      AtMost(Signal::kHashSignsPerWord, 0.1),  AtMost(Signal::kEllipsesPerWord, 0.1),
      AtMost(Signal::kBulletLines, 0.9),       AtMost(Signal::kEllipsisLines, 0.3),
      AtLeast(Signal::kWordsWithLetters, 0.8), AtLeast(Signal::kStopWords, 2),
  };
}

// arXiv 1910.10683, section 2.2, and its public code.
Steps C4(bool end_punctuation) {
  return {
      C4LineRules{.end_punctuation = end_punctuation},
      AtMost(Signal::kLoremIpsum, 0),
      AtMost(Signal::kCurlyBrackets, 0),
      AtLeast(Signal::kSentences, 5),
  };
}

// arXiv 2406.17557: the filters above, then its own.
Steps FineWeb() {
  Steps steps = Repetition();
  for (const Steps& more : {Gopher(), C4(/*end_punctuation=*/false)}) {
    steps.insert(steps.end(), more.begin(), more.end());
  }
  steps.push_back(AtLeast(Signal::kPunctuatedLines, 0.12));
  steps.push_back(AtMost(Signal::kShortLines, 0.67));
  steps.push_back(AtMost(Signal::kDuplicateTextLineCharacters, 0.01));
  steps.push_back(AtMost(Signal::kNewlinesPerWord, 0.3));
  return steps;
}

Steps SlimPajama() { return {NfcEdit{}, AtLeast(Signal::kCharactersWithoutPunctuation, 200)}; }

const std::vector<std::pair<std::string, Steps>>& Presets() {
  static const std::vector<std::pair<std::string, Steps>> presets{
      {"guide", Guide()},
      {"gopher", Gopher()},
      {"repetition", Repetition()},
      {"c4", C4(/*end_punctuation=*/true)},
      {"fineweb", FineWeb()},
      {"slimpajama", SlimPajama()},
      {"personal_data", {PersonalDataEdit{}}},
  };
  return presets;
}

}  // namespace

const std::vector<FilterStep>* FindPreset(std::string_view name) {
  for (const auto& [preset, steps] : Presets()) {
    if (preset == name) return &steps;
  }
  return nullptr;
}

std::vector<std::string> PresetNames() {
  std::vector<std::string> names;
  for (const auto& [preset, steps] : Presets()) names.push_back(preset);
  return names;
}

}  // namespace trainyard::data
