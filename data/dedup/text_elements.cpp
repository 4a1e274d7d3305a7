#include "data/dedup/text_elements.h"

#include <array>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "data/unicode/code_point.h"

namespace trainyard::data {
namespace {

constexpr bool IsUpper(uint8_t byte) { return byte >= 'A' && byte <= 'Z'; }
constexpr bool IsLower(uint8_t byte) { return byte >= 'a' && byte <= 'z'; }
constexpr bool IsDigit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

// Lower case of ASCII letters and digits; 0 for every other byte.
constexpr std::array<char, 256> MakeWordBytes() {
  std::array<char, 256> bytes{};
  for (int i = 0; i < 128; ++i) {
    const auto byte = static_cast<uint8_t>(i);
    if (IsUpper(byte)) bytes[byte] = static_cast<char>(byte + 32);
    if (IsLower(byte) || IsDigit(byte)) bytes[byte] = static_cast<char>(byte);
  }
  return bytes;
}
constexpr std::array<char, 256> kWordBytes = MakeWordBytes();

char LowerCase(char byte) {
  return IsUpper(static_cast<uint8_t>(byte)) ? static_cast<char>(byte + 32) : byte;
}

// Scripts without spaces between words: kana and the ideographs.
bool IsWordOfOneCharacter(char32_t code_point) {
  return (code_point >= 0x3040 && code_point < 0xA000) || code_point >= 0x20000;
}

// Python's str.isspace().
bool IsPythonSpace(char32_t code_point) {
  return ClassOf(code_point) == CharClass::kSpace || (code_point >= 0x1C && code_point <= 0x1F);
}

bool IsAsciiPunctuation(char32_t code_point) {
  return code_point > 0x20 && code_point < 0x7F &&
         kWordBytes[static_cast<uint8_t>(code_point)] == 0;
}

uint64_t HashOf(const char* bytes, size_t size) { return XXH3_64bits(bytes, size); }

void EndWord(std::string* word, std::vector<uint64_t>* hashes) {
  if (word->empty()) return;
  hashes->push_back(HashOf(word->data(), word->size()));
  word->clear();
}

// Adds a character outside of ASCII to the words. Returns its length.
size_t AddCharacter(const char* text, std::string* word, std::vector<uint64_t>* hashes) {
  const DecodedChar decoded = DecodeUtf8(text);
  const CharClass kind = ClassOf(decoded.code_point);
  if (kind != CharClass::kLetter && kind != CharClass::kNumber) {
    EndWord(word, hashes);
  } else if (IsWordOfOneCharacter(decoded.code_point)) {
    EndWord(word, hashes);
    hashes->push_back(HashOf(text, decoded.length));
  } else {
    word->append(text, decoded.length);
  }
  return decoded.length;
}

}  // namespace

void HashWords(std::string_view text, std::string* word, std::vector<uint64_t>* hashes) {
  hashes->clear();
  word->clear();
  // Words that consist of ASCII alone, which are nearly all, are collected here.
  std::array<char, 64> short_word;
  size_t length = 0;
  size_t at = 0;
  const auto flush = [&] {
    word->append(short_word.data(), length);
    length = 0;
  };
  while (at < text.size()) {
    const auto byte = static_cast<uint8_t>(text[at]);
    if (const char lower = kWordBytes[byte]; lower != 0) {
      if (length == short_word.size()) flush();
      short_word[length++] = lower;
      ++at;
    } else if (byte < 0x80) {
      if (word->empty() && length > 0) {
        hashes->push_back(HashOf(short_word.data(), length));
        length = 0;
      } else {
        flush();
        EndWord(word, hashes);
      }
      ++at;
    } else {
      flush();
      at += AddCharacter(&text[at], word, hashes);
    }
  }
  flush();
  EndWord(word, hashes);
}

void HashCharacters(std::string_view text, std::vector<uint64_t>* hashes) {
  hashes->clear();
  bool space = false;  // white space since the last character
  for (size_t at = 0; at < text.size();) {
    const DecodedChar decoded = DecodeUtf8(&text[at]);
    at += decoded.length;
    char32_t code_point = decoded.code_point;
    if (IsAsciiPunctuation(code_point)) continue;
    if (IsPythonSpace(code_point)) {
      space = !hashes->empty();
      continue;
    }
    if (space) hashes->push_back(HashOf(" ", 1));
    space = false;
    if (code_point < 0x80) {
      const char lower = LowerCase(static_cast<char>(code_point));
      hashes->push_back(HashOf(&lower, 1));
    } else {
      hashes->push_back(HashOf(&text[at - decoded.length], decoded.length));
    }
  }
}

void JoinWords(std::string_view text, JoinedWords* words) {
  words->text.clear();
  words->begins.clear();
  bool in_word = false;
  for (size_t at = 0; at < text.size();) {
    const DecodedChar decoded = DecodeUtf8(&text[at]);
    if (IsPythonSpace(decoded.code_point)) {
      in_word = false;
    } else {
      if (!in_word) {
        if (!words->begins.empty()) words->text += ' ';
        words->begins.push_back(words->text.size());
        in_word = true;
      }
      if (decoded.length == 1) {
        words->text += LowerCase(text[at]);
      } else {
        words->text.append(text, at, decoded.length);
      }
    }
    at += decoded.length;
  }
  if (!words->begins.empty()) words->begins.push_back(words->text.size() + 1);
}

}  // namespace trainyard::data
