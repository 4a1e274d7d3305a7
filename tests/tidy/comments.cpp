#include "tests/tidy/comments.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "tests/tidy/cpp_text.h"

namespace trainyard::tidy {
namespace {

std::string Trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return "";
  return std::string(text.substr(first, text.find_last_not_of(' ') - first + 1));
}

// Scans a file once and collects the text of its comments.
class CommentReader {
 public:
  CommentReader(const SourceFile& file, bool slashes)
      : text_(file.text), slashes_(slashes), python_(HasExtension(file.path, {".py"})) {
    css_ = HasExtension(file.path, {".css"});
  }

  std::vector<CommentLine> Read() {
    while (at_ < text_.size()) Step();
    return std::move(lines_);
  }

 private:
  bool Starts(std::string_view token) const { return text_.substr(at_, token.size()) == token; }
  char Before() const { return at_ == 0 ? '\n' : text_[at_ - 1]; }

  void Step() {
    if (slashes_ && !css_ && Starts("//")) {
      TakeLine(2);
    } else if (slashes_ && Starts("/*")) {
      TakeBlock("*/", 2);
    } else if (python_ && Starts("\"\"\"")) {
      TakeBlock("\"\"\"", 3);
    } else if (!slashes_ && Starts("#") && std::isspace(static_cast<unsigned char>(Before()))) {
      TakeLine(1);
    } else if (slashes_ && Starts("R\"") && !IsWordByte(Before())) {
      SkipRawString();
    } else if (IsQuote()) {
      SkipLiteral();
    } else {
      Advance();
    }
  }

  // True at a quote that begins a literal: not at the ' in 1'000, nor in a word such as don't.
  bool IsQuote() const {
    const char byte = text_[at_];
    if (byte == '"' || (byte == '`' && slashes_)) return true;
    return byte == '\'' && !IsWordByte(Before());
  }

  void Advance() {
    const char byte = text_[at_++];
    if (byte == '\n') {
      ++line_;
      code_on_line_ = false;
    } else if (byte != ' ') {
      code_on_line_ = true;
    }
  }

  void AdvanceTo(std::size_t end) {
    while (at_ < std::min(end, text_.size())) Advance();
  }

  void Keep(std::string_view text) {
    const bool follows = last_comment_line_ == line_ - 1 && !code_on_line_;
    lines_.push_back({line_, Trimmed(text), !follows});
    last_comment_line_ = line_;
  }

  std::size_t EndOfLine() const { return std::min(text_.find('\n', at_), text_.size()); }

  void TakeLine(std::size_t mark) {
    const std::size_t end = EndOfLine();
    Keep(text_.substr(at_ + mark, end - at_ - mark));
    at_ = end;
  }

  void TakeBlock(std::string_view close, std::size_t mark) {
    const std::size_t found = text_.find(close, at_ + mark);
    const std::size_t end = std::min(found, text_.size());
    at_ += mark;
    while (true) {
      const std::size_t stop = std::min(EndOfLine(), end);
      std::string text = Trimmed(text_.substr(at_, stop - at_));
      if (slashes_ && text.starts_with('*')) text.erase(0, 1);
      Keep(text);
      at_ = stop;
      if (at_ >= end) break;
      Advance();
    }
    at_ = std::min(end + close.size(), text_.size());
    code_on_line_ = false;
  }

  void SkipRawString() {
    const std::size_t open = text_.find('(', at_);
    if (open == std::string_view::npos) return AdvanceTo(text_.size());
    const std::string close = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    const std::size_t found = text_.find(close, open);
    AdvanceTo(found == std::string_view::npos ? text_.size() : found + close.size());
  }

  // Only template literals may extend over several lines.
  void SkipLiteral() {
    const char quote = text_[at_];
    Advance();
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\n' && quote != '`') return;
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) Advance();
      Advance();
    }
    if (at_ < text_.size()) Advance();
  }

  std::string_view text_;
  bool slashes_;
  bool python_;
  bool css_ = false;
  std::size_t at_ = 0;
  int line_ = 1;
  int last_comment_line_ = -1;
  bool code_on_line_ = false;
  std::vector<CommentLine> lines_;
};

std::vector<CommentLine> LinesOfDocument(const SourceFile& file) {
  std::vector<CommentLine> lines;
  for (const std::string_view line : SplitLines(file.text)) {
    lines.push_back({static_cast<int>(lines.size()) + 1, std::string(line), false});
  }
  return lines;
}

}  // namespace

std::vector<CommentLine> CommentsOf(const SourceFile& file) {
  if (HasExtension(file.path, {".md"})) return LinesOfDocument(file);
  const bool slashes =
      HasExtension(file.path, {".cpp", ".h", ".cu", ".proto", ".ts", ".tsx", ".css"});
  return CommentReader(file, slashes).Read();
}

}  // namespace trainyard::tidy
