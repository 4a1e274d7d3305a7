#include "data/documents/json_field.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

namespace trainyard::data {
namespace {

// A position in a valid JSON text. At the end of the text, Peek returns NUL.
class Scanner {
 public:
  explicit Scanner(std::string_view json) : json_(json) {}

  size_t position() const { return at_; }
  char Peek() const { return at_ < json_.size() ? json_[at_] : '\0'; }
  void Skip() { ++at_; }

  void SkipSpace() {
    while (Peek() == ' ' || Peek() == '\t' || Peek() == '\r' || Peek() == '\n') ++at_;
  }

  // Returns the string at the position, with its quotes, and skips it.
  std::string_view String() {
    const size_t begin = at_++;
    while (at_ < json_.size() && json_[at_] != '"') at_ += json_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, json_.size());
    return json_.substr(begin, at_ - begin);
  }

  // Skips a value of any type.
  void SkipValue() {
    int depth = 0;
    while (at_ < json_.size()) {
      const char c = json_[at_];
      if (depth == 0 && (c == ',' || c == '}')) return;
      if (c == '"') {
        (void)String();
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
    }
  }

 private:
  const std::string_view json_;
  size_t at_ = 0;
};

// `key`: with its quotes.
bool IsKey(std::string_view key, std::string_view field) {
  if (key.find('\\') == std::string_view::npos) {
    return key.size() == field.size() + 2 && key.substr(1, field.size()) == field;
  }
  return nlohmann::json::parse(key, nullptr, false) == field;
}

}  // namespace

std::optional<std::string> WithText(std::string_view json, std::string_view field,
                                    std::string_view text) {
  Scanner scanner(json);
  scanner.SkipSpace();
  if (scanner.Peek() != '{') return std::nullopt;
  do {
    scanner.Skip();  // '{' or ','
    scanner.SkipSpace();
    if (scanner.Peek() != '"') return std::nullopt;
    const std::string_view key = scanner.String();
    scanner.SkipSpace();
    if (scanner.Peek() != ':') return std::nullopt;
    scanner.Skip();
    scanner.SkipSpace();
    const size_t begin = scanner.position();
    if (IsKey(key, field) && scanner.Peek() == '"') {
      (void)scanner.String();
      std::string changed(json.substr(0, begin));
      changed += nlohmann::json(text).dump();
      return changed.append(json.substr(scanner.position()));
    }
    scanner.SkipValue();
  } while (scanner.Peek() == ',');
  return std::nullopt;
}

}  // namespace trainyard::data
