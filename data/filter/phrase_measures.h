// Counts of phrases, sentences and characters without punctuation.
#ifndef TRAINYARD_DATA_FILTER_PHRASE_MEASURES_H_
#define TRAINYARD_DATA_FILTER_PHRASE_MEASURES_H_

#include <cstdint>
#include <string_view>

#include "data/filter/text_scan.h"

namespace trainyard::data {

// Occurrences of `phrase`, which must not be empty. They do not overlap.
uint64_t CountPhrase(std::string_view text, std::string_view phrase);

// CountPhrase without regard to the case of ASCII letters. `phrase` must be in lower case.
uint64_t CountPhraseAnyCase(std::string_view text, std::string_view phrase);

// "..." and U+2026.
uint64_t CountEllipses(std::string_view text, const TextCounts& counts);

// Distinct words of {the, be, to, of, and, that, have, with}, in lower case.
uint64_t CountStopWords(std::string_view text, const WordList& words);

// Sentences end at LF, at the end of the text, and after a sequence of . ! ? that may be followed
// by quotes and brackets and must be followed by white space. Each contains a letter or a number.
uint64_t CountSentences(std::string_view text);

// Characters that remain after ASCII punctuation has been removed and each sequence of white space
// replaced by one space, without spaces at both ends.
uint64_t CountWithoutPunctuation(std::string_view text);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_PHRASE_MEASURES_H_
