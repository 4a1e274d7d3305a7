// A text for training that is the same on each machine.
#ifndef TRAINYARD_TESTS_DATA_BPE_TRAINING_GENERATED_TEXT_H_
#define TRAINYARD_TESTS_DATA_BPE_TRAINING_GENERATED_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace trainyard::data {

// Lines of words of syllables. Frequent words are shorter, a word repeats one syllable now and
// then, and some have letters of two and three bytes. The last line has no LF.
inline std::string GeneratedText(size_t bytes) {
  const char* const syllables[] = {"a",  "ta", "ri", "no",  "lem", "so",      "ka", "aa",
                                   "ur", "en", "st", "bab", "ing", "\u00E9t", "1",  "\u65E5"};
  uint64_t state = 2026;
  const auto random = [&state](uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  std::string text;
  while (text.size() < bytes) {
    const uint64_t syllable = random(16);
    const bool repeats = random(8) == 0;
    for (uint64_t length = 1 + random(1 + random(5)); length > 0; --length) {
      text += syllables[repeats ? syllable : random(1 + random(16))];
    }
    text += random(9) == 0 ? ".\n" : random(30) == 0 ? "'s  " : " ";
  }
  return text + "end";
}

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_BPE_TRAINING_GENERATED_TEXT_H_
