#include "tests/tidy/literals.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>
#include <utility>

#include "tests/tidy/cpp_text.h"

namespace trainyard::tidy {
namespace {

bool IsSpace(char byte) { return std::isspace(static_cast<unsigned char>(byte)) != 0; }

// True if the text contains two consecutive words and nothing that occurs only in code.
bool IsProse(std::string_view text) {
  static constexpr std::string_view kCode[] = {
      "=",  "|",  "[",         "]",          "`",       "\"",      ");",      "//",    "&&",
      " '", "('", "function ", "interface ", "import ", "export ", "return ", "const "};
  const bool is_code = std::any_of(std::begin(kCode), std::end(kCode), [&](std::string_view mark) {
    return text.find(mark) != std::string_view::npos;
  });
  for (std::size_t at = 1; !is_code && at + 1 < text.size(); ++at) {
    const bool between = IsWordByte(text[at - 1]) && IsWordByte(text[at + 1]);
    if (text[at] == ' ' && between) return true;
  }
  return false;
}

// Scans a file once, skips comments and collects literals.
class LiteralReader {
 public:
  explicit LiteralReader(const SourceFile& file)
      : text_(file.text),
        script_(HasExtension(file.path, {".ts", ".tsx"})),
        elements_(HasExtension(file.path, {".tsx"})) {}

  std::vector<Literal> Read() {
    while (at_ < text_.size()) Step();
    return std::move(literals_);
  }

 private:
  bool Starts(std::string_view token) const { return text_.substr(at_, token.size()) == token; }
  char Before() const { return at_ == 0 ? '\n' : text_[at_ - 1]; }

  void Step() {
    if (Starts("//")) {
      AdvanceTo(std::min(text_.find('\n', at_), text_.size()));
    } else if (Starts("/*")) {
      AdvanceTo(After("*/", at_ + 2));
    } else if (!script_ && Starts("#include")) {
      AdvanceTo(std::min(text_.find('\n', at_), text_.size()));
    } else if (!script_ && Starts("R\"") && !IsWordByte(Before())) {
      ReadRawString();
    } else if (text_[at_] == '"' || (IsQuote() && script_)) {
      ReadLiteral();
    } else if (IsQuote()) {
      Literal character;
      AppendLiteral(character);
    } else if (elements_ && (text_[at_] == '>' || text_[at_] == '}')) {
      ReadElementText();
    } else {
      Advance();
    }
  }

  // A ' after a word character is no quote: an apostrophe, or the separator in 1'000.
  bool IsQuote() const {
    return (script_ && text_[at_] == '`') || (text_[at_] == '\'' && !IsWordByte(Before()));
  }

  void Advance() {
    if (text_[at_++] == '\n') ++line_;
  }

  void AdvanceTo(std::size_t end) {
    while (at_ < std::min(end, text_.size())) Advance();
  }

  std::size_t After(std::string_view token, std::size_t from) const {
    const std::size_t found = text_.find(token, from);
    return found == std::string_view::npos ? text_.size() : found + token.size();
  }

  void ReadRawString() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return AdvanceTo(text_.size());
    const std::string close = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    const std::size_t end = After(close, open);
    const std::size_t size = end - std::min(end, open + 1 + close.size());
    literals_.push_back({line_, std::string(text_.substr(open + 1, size))});
    AdvanceTo(end);
  }

  void ReadLiteral() {
    Literal literal{line_, ""};
    AppendLiteral(literal);
    while (ContinuesAt(NextLiteral())) {
      AdvanceTo(NextLiteral());
      AppendLiteral(literal);
    }
    literals_.push_back(std::move(literal));
  }

  // Returns the position after the white space that may join two literals. In TypeScript, this
  // white space may contain a "+".
  std::size_t NextLiteral() const {
    std::size_t next = at_;
    while (next < text_.size() && (IsSpace(text_[next]) || (script_ && text_[next] == '+'))) ++next;
    return next;
  }

  bool ContinuesAt(std::size_t next) const {
    if (next >= text_.size()) return false;
    const std::string_view between = text_.substr(at_, next - at_);
    if (!script_) return text_[next] == '"';
    const bool quote = text_[next] == '"' || text_[next] == '\'' || text_[next] == '`';
    return quote && between.find('+') != std::string_view::npos;
  }

  // Only template literals may extend over several lines.
  void AppendLiteral(Literal& literal) {
    const char quote = text_[at_];
    Advance();
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\n' && quote != '`') return;
      if (quote == '`' && Starts("${")) {
        literal.text += "…";
        SkipValue();
      } else if (Starts("\\n")) {
        literal.text += '\n';
        AdvanceTo(at_ + 2);
      } else {
        const std::size_t size = text_[at_] == '\\' ? 2 : 1;
        literal.text += text_.substr(at_, size);
        AdvanceTo(at_ + size);
      }
    }
    if (at_ < text_.size()) Advance();
  }

  // Skips the value in a template literal, but collects the literals in the value.
  void SkipValue() {
    AdvanceTo(at_ + 2);
    for (int depth = 1; at_ < text_.size() && depth > 0;) {
      if (text_[at_] == '{') ++depth;
      if (text_[at_] == '}') --depth;
      if (depth == 0 || !IsQuoteInValue()) {
        Advance();
      } else {
        ReadLiteral();
      }
    }
  }

  bool IsQuoteInValue() const { return text_[at_] == '"' || IsQuote(); }

  // Reads the text of an element up to the next tag or value. Ignores the text if it looks like
  // code between two braces.
  void ReadElementText() {
    Advance();
    while (at_ < text_.size() && IsSpace(text_[at_])) Advance();
    const std::size_t end = std::min(text_.find_first_of("<>{}", at_), text_.size());
    const std::string_view text = text_.substr(at_, end - at_);
    const bool is_whole = end < text_.size() && (text_[end] == '<' || text_[end] == '{');
    if (!is_whole || !IsProse(text)) return;
    literals_.push_back({line_, std::string(text)});
    AdvanceTo(end);
  }

  std::string_view text_;
  bool script_;
  bool elements_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<Literal> literals_;
};

}  // namespace

std::vector<Literal> LiteralsOf(const SourceFile& file) {
  if (!IsCode(file.path) && !HasExtension(file.path, {".ts", ".tsx"})) return {};
  return LiteralReader(file).Read();
}

}  // namespace trainyard::tidy
