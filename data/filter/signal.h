// Signals: numbers that describe a text. Rules compare them with thresholds.
#ifndef TRAINYARD_DATA_FILTER_SIGNAL_H_
#define TRAINYARD_DATA_FILTER_SIGNAL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace trainyard::data {

// README.md defines each signal. The order is that of kSignals.
enum class Signal : uint8_t {
  kCharacters,
  kWords,
  kMeanWordLength,
  kLetters,
  kHashSignsPerWord,
  kEllipsesPerWord,
  kBulletLines,
  kEllipsisLines,
  kWordsWithLetters,
  kStopWords,
  kDuplicateParagraphs,
  kDuplicateParagraphCharacters,
  kDuplicateLines,
  kDuplicateLineCharacters,
  kTop2Gram,
  kTop3Gram,
  kTop4Gram,
  kDuplicate5Grams,
  kDuplicate6Grams,
  kDuplicate7Grams,
  kDuplicate8Grams,
  kDuplicate9Grams,
  kDuplicate10Grams,
  kPunctuatedLines,
  kShortLines,
  kLongLines,
  kDuplicateTextLineCharacters,
  kNewlinesPerWord,
  kCurlyBrackets,
  kLoremIpsum,
  kSentences,
  kCharactersWithoutPunctuation,
};

constexpr size_t kSignalCount = static_cast<size_t>(Signal::kCharactersWithoutPunctuation) + 1;

struct SignalInfo {
  const char* name;
  double largest_threshold;  // 1 for fractions
};

const SignalInfo& InfoOf(Signal signal);

std::optional<Signal> SignalNamed(std::string_view name);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_SIGNAL_H_
