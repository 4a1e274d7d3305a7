// A temporary directory that contains text files.
#ifndef TRAINYARD_TESTS_DATA_TEXT_DIRECTORY_H_
#define TRAINYARD_TESTS_DATA_TEXT_DIRECTORY_H_

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::data {

class TextDirectory {
 public:
  std::string operator/(const std::string& name) const { return directory_.File(name); }
  const std::string& path() const { return directory_.path(); }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = directory_.File(name);
    std::filesystem::create_directories(file.parent_path());
    WriteFile(file, text);
    return file.string();
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  TemporaryDirectory directory_;
};

// Returns text that resembles prose: words of a small vocabulary, in an order that does not repeat
// for a very long time.
inline std::string Prose(size_t bytes, uint64_t seed) {
  const char* const words[] = {"the",   "train", "yard",  "moves", "a",      "long", "wagon",
                               "every", "night", "under", "quiet", "signal", "of",   "red"};
  std::string text;
  uint64_t state = seed * 2654435761u + 1;
  while (text.size() < bytes) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    text += words[(state >> 33) % std::size(words)];
    text += (state >> 50) % 11 == 0 ? ".\n" : " ";
  }
  return text;
}

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_TEXT_DIRECTORY_H_
