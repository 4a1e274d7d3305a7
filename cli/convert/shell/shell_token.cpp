#include "cli/convert/shell/shell_token.h"

#include <algorithm>
#include <deque>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace trainyard::cli {
namespace {

constexpr size_t kNotClosed = absl::string_view::npos;
constexpr int kMaxPieceDepth = 64;

bool IsTokenBlank(char byte) { return byte == ' ' || byte == '\t'; }

size_t PieceEnd(absl::string_view text, size_t at, int depth);

// `at`: the position after the opening bracket. Returns the position after the closing one.
size_t BracketEnd(absl::string_view text, size_t at, char close, int depth) {
  const char open = close == ')' ? '(' : '{';
  int nesting = 1;
  while (at < text.size()) {
    const bool starts_word = absl::ascii_isspace(static_cast<unsigned char>(text[at - 1])) != 0;
    if (close == ')' && text[at] == '#' && starts_word) {
      at = text.find('\n', at);
      continue;
    }
    if (text[at] == open) ++nesting;
    if (text[at] == close && --nesting == 0) return at + 1;
    at = text[at] == open || text[at] == close ? at + 1 : PieceEnd(text, at, depth + 1);
  }
  return kNotClosed;
}

size_t QuoteEnd(absl::string_view text, size_t at, int depth) {
  for (++at; at < text.size();) {
    if (text[at] == '"') return at + 1;
    // Single quotes have no meaning within double quotes.
    const bool is_single = text[at] == '\'' || absl::StartsWith(text.substr(at), "$'");
    at = is_single ? at + 1 : PieceEnd(text, at, depth + 1);
  }
  return kNotClosed;
}

// Returns the position after the next byte that is equal to `close` and has no backslash before it.
size_t EscapedEnd(absl::string_view text, size_t at, char close) {
  for (; at < text.size(); ++at) {
    if (text[at] == close) return at + 1;
    if (text[at] == '\\') ++at;
  }
  return kNotClosed;
}

size_t PieceEnd(absl::string_view text, size_t at, int depth) {
  if (depth > kMaxPieceDepth) return kNotClosed;
  const char byte = text[at];
  const char next = at + 1 < text.size() ? text[at + 1] : '\0';
  if (byte == '\\') return std::min(at + 2, text.size());
  if (byte == '"') return QuoteEnd(text, at, depth);
  if (byte == '`') return EscapedEnd(text, at + 1, '`');
  if (byte == '\'') {
    const size_t close = text.find('\'', at + 1);
    return close == absl::string_view::npos ? kNotClosed : close + 1;
  }
  if (byte == '$' && next == '\'') return EscapedEnd(text, at + 2, '\'');
  if (byte == '$' && next == '(') return BracketEnd(text, at + 2, ')', depth);
  if (byte == '$' && next == '{') return BracketEnd(text, at + 2, '}', depth);
  return at + 1;
}

class ShellTokenReader {
 public:
  ShellTokenReader(absl::string_view text, int line) : text_(text), line_(line) {}

  absl::StatusOr<ShellTokens> Read() {
    while (status_.ok() && SkipBlanks()) ReadToken();
    if (!status_.ok()) return status_;
    Add(ShellToken::Kind::kEnd, "");
    return std::move(result_);
  }

 private:
  char At(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }
  bool Holds(absl::string_view part) const { return absl::StartsWith(text_.substr(at_), part); }

  ShellToken& Add(ShellToken::Kind kind, std::string text) {
    result_.tokens.push_back({kind, std::move(text), line_, false});
    return result_.tokens.back();
  }

  // Returns the length of a line continuation at `at`; 0 if there is none. Blanks after the
  // backslash are tolerated, because they are invisible and never intended.
  size_t ContinuationLength(size_t at) const {
    if (At(at) != '\\') return 0;
    size_t end = at + 1;
    while (IsTokenBlank(At(end))) ++end;
    return At(end) == '\n' ? end + 1 - at : 0;
  }

  void SkipContinuation(size_t length) {
    if (length > 2) result_.blank_after_backslash.push_back(line_);
    ++line_;
    at_ += length;
  }

  bool SkipBlanks() {
    while (at_ < text_.size()) {
      if (const size_t length = ContinuationLength(at_)) {
        SkipContinuation(length);
      } else if (At(at_) == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (IsTokenBlank(At(at_)) || (is_test_ && At(at_) == '\n')) {
        line_ += At(at_++) == '\n' ? 1 : 0;
      } else {
        return true;
      }
    }
    return false;
  }

  void ReadToken() {
    const char byte = At(at_);
    if (byte == '\n') return ReadNewline();
    if (is_test_ && absl::StrContains("()<>|&", byte)) return ReadTestOperator();
    if (Holds("((")) return ReadArithmetic();
    if (byte == '<' || byte == '>' || Holds("&>")) {
      if ((byte == '<' || byte == '>') && At(at_ + 1) == '(') return ReadWord();
      return ReadRedirection();
    }
    for (const char* text : {"&&", "||", ";;&", ";;", ";&", "|&", ";", "&", "|", "(", ")"}) {
      if (!Holds(text)) continue;
      at_ += absl::string_view(text).size();
      Add(ShellToken::Kind::kOperator, text);
      return;
    }
    ReadWord();
  }

  void ReadTestOperator() {
    const size_t length = Holds("&&") || Holds("||") ? 2 : 1;
    Add(ShellToken::Kind::kWord, std::string(text_.substr(at_, length)));
    at_ += length;
  }

  void ReadNewline() {
    Add(ShellToken::Kind::kNewline, "");
    ++at_;
    ++line_;
    while (!documents_.empty() && status_.ok()) {
      ReadDocument(documents_.front());
      documents_.pop_front();
    }
  }

  void ReadArithmetic() {
    const size_t end = BracketEnd(text_, at_ + 1, ')', 0);
    if (end == kNotClosed || At(end - 2) != ')') return Fail("`((` is not closed");
    Add(ShellToken::Kind::kArithmetic, std::string(text_.substr(at_ + 2, end - at_ - 4)));
    Advance(end);
  }

  // Reads a redirection and its target. A digit before it belongs to it, and is a word so far.
  void ReadRedirection() {
    if (!result_.tokens.empty() && at_ > 0 && absl::ascii_isdigit(text_[at_ - 1])) {
      const ShellToken& last = result_.tokens.back();
      const bool is_number = last.kind == ShellToken::Kind::kWord && last.line == line_ &&
                             std::all_of(last.text.begin(), last.text.end(), absl::ascii_isdigit);
      if (is_number && word_end_ == at_) result_.tokens.pop_back();
    }
    const bool is_document = Holds("<<") && !Holds("<<<");
    const bool strips_tabs = Holds("<<-");
    while (absl::StrContains("<>&|", At(at_)) && At(at_) != '\0') ++at_;
    if (strips_tabs) ++at_;
    const bool is_descriptor = At(at_) == '-' || absl::ascii_isdigit(At(at_));
    if (is_descriptor && !is_document && at_ > 0 && text_[at_ - 1] == '&') {
      while (At(at_) == '-' || absl::ascii_isdigit(At(at_))) ++at_;
      Add(ShellToken::Kind::kRedirection, "");
      return;
    }
    if (!SkipBlanks()) return Fail("a redirection has no target");
    ReadWord();
    if (!status_.ok()) return;
    result_.tokens.back().kind =
        is_document ? ShellToken::Kind::kHereDocument : ShellToken::Kind::kRedirection;
    if (is_document) documents_.push_back({result_.tokens.size() - 1, strips_tabs});
  }

  struct Document {
    size_t token;
    bool strips_tabs;
  };

  // Reads the lines up to the delimiter, which is the text of the token so far.
  void ReadDocument(const Document& document) {
    ShellToken& token = result_.tokens[document.token];
    std::string delimiter = token.text;
    token.is_quoted = delimiter.find_first_of("'\"\\") != std::string::npos;
    std::erase_if(delimiter, [](char byte) { return absl::StrContains("'\"\\", byte); });
    token.text.clear();
    while (at_ < text_.size()) {
      const size_t end = std::min(text_.find('\n', at_), text_.size());
      absl::string_view row = text_.substr(at_, end - at_);
      at_ = std::min(end + 1, text_.size());
      ++line_;
      while (document.strips_tabs && absl::StartsWith(row, "\t")) row.remove_prefix(1);
      if (row == delimiter) return;
      absl::StrAppend(&token.text, row, "\n");
    }
    // Bash accepts a document that ends with the script.
  }

  void ReadWord() {
    const size_t begin = at_;
    const int line = line_;
    const bool is_pattern =
        is_test_ && !result_.tokens.empty() && result_.tokens.back().text == "=~";
    if (Holds("<(") || Holds(">(")) at_ = BracketEnd(text_, at_ + 2, ')', 0);
    while (at_ < text_.size() && status_.ok()) {
      if (ContinuationLength(at_) > 2) break;
      if (At(at_) == '(' && IsArrayStart(text_.substr(begin, at_ - begin))) {
        Advance(BracketEnd(text_, at_ + 1, ')', 0));
        continue;
      }
      const bool ends = is_pattern ? absl::ascii_isspace(static_cast<unsigned char>(At(at_))) != 0
                                   : absl::StrContains(" \t\n;&|<>()", At(at_));
      if (ends) break;
      Advance(ShellPieceEnd(text_, at_));
    }
    if (at_ == kNotClosed) return Fail("a parenthesis is not closed");
    if (!status_.ok()) return;
    Add(ShellToken::Kind::kWord, std::string(text_.substr(begin, at_ - begin))).line = line;
    word_end_ = at_;
    if (at_ == begin) return Fail("this text is not a shell command");
    if (result_.tokens.back().text == "[[") is_test_ = true;
    if (result_.tokens.back().text == "]]") is_test_ = false;
  }

  static bool IsArrayStart(absl::string_view word) {
    return !word.empty() && ShellAssignmentLength(word) == word.size();
  }

  void Advance(size_t end) {
    if (end == kNotClosed) return Fail("a quote, bracket or parenthesis is not closed");
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  void Fail(const std::string& what) {
    status_ = absl::InvalidArgumentError(absl::StrCat("line ", line_, ": ", what));
  }

  const absl::string_view text_;
  size_t at_ = 0;
  int line_;
  bool is_test_ = false;  // Between `[[` and `]]`.
  size_t word_end_ = 0;   // End of the last word.
  std::deque<Document> documents_;
  absl::Status status_;
  ShellTokens result_;
};

}  // namespace

bool IsShellNameByte(char byte) {
  return absl::ascii_isalnum(static_cast<unsigned char>(byte)) || byte == '_';
}

size_t ShellAssignmentLength(absl::string_view text) {
  size_t at = 0;
  while (at < text.size() && IsShellNameByte(text[at])) ++at;
  if (at == 0 || absl::ascii_isdigit(static_cast<unsigned char>(text[0]))) return 0;
  if (at < text.size() && text[at] == '[') {
    at = text.find(']', at);
    if (at == absl::string_view::npos) return 0;
    ++at;
  }
  if (at < text.size() && text[at] == '+') ++at;
  return at < text.size() && text[at] == '=' ? at + 1 : 0;
}

size_t ShellPieceEnd(absl::string_view text, size_t at) { return PieceEnd(text, at, 0); }

absl::StatusOr<ShellTokens> ReadShellTokens(absl::string_view text, int first_line) {
  return ShellTokenReader(text, first_line).Read();
}

}  // namespace trainyard::cli
