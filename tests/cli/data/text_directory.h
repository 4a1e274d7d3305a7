// A temporary directory with text files.
#ifndef TRAINYARD_TESTS_CLI_DATA_TEXT_DIRECTORY_H_
#define TRAINYARD_TESTS_CLI_DATA_TEXT_DIRECTORY_H_

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace trainyard::cli {

class TextDirectory {
 public:
  TextDirectory() {
    char name[] = "/tmp/trainyard_text_XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TextDirectory() { std::filesystem::remove_all(path_); }
  TextDirectory(const TextDirectory&) = delete;
  TextDirectory& operator=(const TextDirectory&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::string path_;
};

inline std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

// Prose-like text: words of a small vocabulary in an order that repeats only after very long.
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

}  // namespace trainyard::cli

#endif  // TRAINYARD_TESTS_CLI_DATA_TEXT_DIRECTORY_H_
