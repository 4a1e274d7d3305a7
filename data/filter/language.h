// Detects the language of a text with Compact Language Detector 2 (CLD2), whose tables are part of
// its library.
#ifndef TRAINYARD_DATA_FILTER_LANGUAGE_H_
#define TRAINYARD_DATA_FILTER_LANGUAGE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace trainyard::data {

// The detector reads the first bytes of a text.
constexpr size_t kLanguageBytes = size_t{64} << 10;

// CLD2's number of the language with an ISO 639 code, such as "en", or with a script, such as
// "zh-Hant". nullopt if the detector does not know the code.
std::optional<int> LanguageNumber(const std::string& code);

// Fraction of the text that is in the language, in steps of 0.01. 0 if the detector is not sure,
// as in short texts. The text must be valid UTF-8.
double LanguageFraction(std::string_view text, int language);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_FILTER_LANGUAGE_H_
