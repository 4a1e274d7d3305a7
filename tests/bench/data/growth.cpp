#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <unordered_set>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "data/split/piece_scanner.h"
#include "proto/support/status_macros.h"
#include "tests/bench/data/measures.h"

namespace trainyard::data {
namespace {

// A word with rank above x occurs with probability (1 + x / kHeadWords)^-kTailExponent. The number
// of distinct words then grows as the number of words to the power 1 / (1 + kTailExponent). Fitted
// to 200 MB of Debian text.
constexpr double kHeadWords = 13.7;
constexpr double kTailExponent = 0.538;

constexpr std::array<const char*, 16> kConsonants = {"b", "d", "f", "g", "k",  "l",  "m",  "n",
                                                     "p", "r", "s", "t", "st", "tr", "th", "ch"};
constexpr std::array<char, 4> kVowels = {'a', 'e', 'i', 'o'};
constexpr size_t kWordsPerLine = 12;
constexpr size_t kWriteBytes = size_t{4} << 20;

uint64_t NextRandom(uint64_t* state) {
  uint64_t value = *state += 0x9E3779B97F4A7C15u;
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9u;
  value = (value ^ value >> 27) * 0x94D049BB133111EBu;
  return value ^ value >> 31;
}

// Different ranks give different words.
void AppendWord(uint64_t rank, std::string* text) {
  for (uint64_t rest = rank + 1; rest > 0; rest /= 64) {
    *text += kConsonants[rest % 16];
    *text += kVowels[rest / 16 % 4];
  }
}

uint64_t RandomRank(uint64_t* state) {
  const double uniform = static_cast<double>(NextRandom(state) >> 11) * 0x1p-53;
  const double rank = kHeadWords * (std::pow(1 - uniform, -1 / kTailExponent) - 1);
  return static_cast<uint64_t>(std::min(rank, 0x1p50));
}

const char* RandomSeparator(uint64_t* state) {
  const uint64_t drawn = NextRandom(state) % 64;
  return drawn < 5 ? ", " : drawn == 6 ? " - " : " ";
}

// The distinct pieces of a text, by their hashes.
class PieceSet {
 public:
  // `text` must be whole lines.
  void Add(std::string_view text) {
    PieceScanner scanner(SplitRule::kGpt2, text);
    size_t begin = 0;
    while (const size_t count = scanner.Next(ends_.data(), ends_.size())) {
      for (size_t i = 0; i < count; begin = ends_[i++]) {
        hashes_.insert(XXH3_64bits(text.data() + begin, ends_[i] - begin));
      }
    }
  }
  size_t size() const { return hashes_.size(); }

 private:
  std::unordered_set<uint64_t> hashes_;
  std::array<uint32_t, 1024> ends_{};
};

// 1, 2, 5, 10, 20, ... million.
uint64_t NextSize(uint64_t size) {
  return std::to_string(size)[0] == '2' ? size / 2 * 5 : size * 2;
}

}  // namespace

absl::Status WriteGeneratedText(uint64_t bytes, uint64_t seed) {
  uint64_t state = seed;
  std::string text;
  for (uint64_t written = 0; written < bytes; written += text.size()) {
    text.clear();
    while (text.size() < std::min<uint64_t>(kWriteBytes, bytes - written)) {
      for (size_t word = 1; word < kWordsPerLine; ++word) {
        AppendWord(RandomRank(&state), &text);
        text += RandomSeparator(&state);
      }
      AppendWord(RandomRank(&state), &text);
      text += '\n';
    }
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
      return absl::InternalError("cannot write the text; check the disk's free space");
    }
  }
  return std::fflush(stdout) == 0 ? absl::OkStatus() : absl::InternalError("cannot write the text");
}

absl::Status MeasureGrowth(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError("cannot open " + path);
  PieceSet pieces;
  std::string line;
  uint64_t bytes = 0;
  uint64_t next = 1'000'000;
  std::printf("[");
  while (std::getline(file, line)) {
    line += '\n';
    pieces.Add(line);
    bytes += line.size();
    if (bytes < next) continue;
    std::printf("%s[%llu, %zu]", next == 1'000'000 ? "" : ", ",
                static_cast<unsigned long long>(bytes), pieces.size());
    while (next <= bytes) next = NextSize(next);
  }
  std::printf("]\n");
  return absl::OkStatus();
}

}  // namespace trainyard::data
