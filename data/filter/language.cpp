#include "data/filter/language.h"

// compact_lang_det.h uses FILE without its header.
#include <cstdio>

#include <cld2/public/compact_lang_det.h>

#include "proto/text/utf8.h"

namespace trainyard::data {

std::optional<int> LanguageNumber(const std::string& code) {
  const CLD2::Language language = CLD2::GetLanguageFromName(code.c_str());
  // The detector also accepts English names, and returns UNKNOWN_LANGUAGE for other texts.
  if (language == CLD2::UNKNOWN_LANGUAGE || code != CLD2::LanguageCode(language)) {
    return std::nullopt;
  }
  return language;
}

double LanguageFraction(std::string_view text, int language) {
  const std::string_view prefix = Utf8Prefix(text, kLanguageBytes);
  constexpr int kLanguages = 3;
  CLD2::Language languages[kLanguages];
  int percents[kLanguages];
  double scores[kLanguages];
  int text_bytes = 0;
  bool is_reliable = false;
  CLD2::ExtDetectLanguageSummary(prefix.data(), static_cast<int>(prefix.size()),
                                 /*is_plain_text=*/true, /*cld_hints=*/nullptr, /*flags=*/0,
                                 languages, percents, scores, /*resultchunkvector=*/nullptr,
                                 &text_bytes, &is_reliable);
  for (int i = 0; is_reliable && i < kLanguages; ++i) {
    if (languages[i] == language) return percents[i] / 100.0;
  }
  return 0;
}

}  // namespace trainyard::data
