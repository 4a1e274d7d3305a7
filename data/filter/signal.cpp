#include "data/filter/signal.h"

#include <array>

namespace trainyard::data {
namespace {

constexpr double kFraction = 1;
constexpr double kCount = 4294967296;  // a text is shorter than 4 GiB

constexpr std::array<SignalInfo, kSignalCount> kSignals{{
    {"characters", kCount},
    {"words", kCount},
    {"mean_word_length", kCount},
    {"letters", kFraction},
    {"hash_signs_per_word", kCount},
    {"ellipses_per_word", kCount},
    {"bullet_lines", kFraction},
    {"ellipsis_lines", kFraction},
    {"words_with_letters", kFraction},
    {"stop_words", 8},
    {"duplicate_paragraphs", kFraction},
    {"duplicate_paragraph_characters", kFraction},
    {"duplicate_lines", kFraction},
    {"duplicate_line_characters", kFraction},
    {"top_2_gram", kFraction},
    {"top_3_gram", kFraction},
    {"top_4_gram", kFraction},
    {"duplicate_5_grams", kFraction},
    {"duplicate_6_grams", kFraction},
    {"duplicate_7_grams", kFraction},
    {"duplicate_8_grams", kFraction},
    {"duplicate_9_grams", kFraction},
    {"duplicate_10_grams", kFraction},
    {"punctuated_lines", kFraction},
    {"short_lines", kFraction},
    {"long_lines", kCount},
    {"duplicate_text_line_characters", kFraction},
    {"newlines_per_word", kCount},
    {"curly_brackets", kCount},
    {"lorem_ipsum", kCount},
    {"sentences", kCount},
    {"characters_without_punctuation", kCount},
}};

}  // namespace

const SignalInfo& InfoOf(Signal signal) { return kSignals[static_cast<size_t>(signal)]; }

std::optional<Signal> SignalNamed(std::string_view name) {
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (name == kSignals[i].name) return static_cast<Signal>(i);
  }
  return std::nullopt;
}

}  // namespace trainyard::data
