#include "tests/tidy/cpp_text.h"

#include <algorithm>
#include <cctype>
#include <regex>

#include "tests/tidy/source_tree.h"

namespace trainyard::tidy {
namespace {

bool IsWord(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_';
}

std::string_view Trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

// Replaces comments and literals with spaces, one after the other.
class Blanker {
 public:
  explicit Blanker(std::string_view text) : text_(text), result_(text) {}

  std::string Run() {
    while (at_ < text_.size()) {
      if (Starts("//")) {
        BlankTo(EndOfLine());
      } else if (Starts("/*")) {
        BlankTo(After("*/", at_ + 2));
      } else if (Starts("R\"") && !FollowsWord()) {
        BlankRawString();
      } else if (text_[at_] == '"' || (text_[at_] == '\'' && !FollowsWord())) {
        BlankLiteral();
      } else {
        ++at_;
      }
    }
    return std::move(result_);
  }

 private:
  bool Starts(std::string_view token) const { return text_.substr(at_, token.size()) == token; }

  // True after a word character. There, a ' (as in 1'000) begins no character literal, and R"x" (as
  // in FOOR"x") begins no raw string.
  bool FollowsWord() const { return at_ > 0 && IsWord(text_[at_ - 1]); }

  std::size_t EndOfLine() const { return std::min(text_.find('\n', at_), text_.size()); }

  std::size_t After(std::string_view token, std::size_t from) const {
    const std::size_t found = text_.find(token, from);
    return found == std::string_view::npos ? text_.size() : found + token.size();
  }

  void BlankTo(std::size_t end) {
    for (; at_ < end; ++at_) {
      if (text_[at_] != '\n') result_[at_] = ' ';
    }
  }

  void BlankRawString() {
    const std::size_t open = text_.find('(', at_);
    const std::string close = ")" + std::string(text_.substr(at_ + 2, open - at_ - 2)) + "\"";
    BlankInside(After(close, at_));
  }

  void BlankLiteral() {
    const char quote = text_[at_];
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    BlankInside(std::min(end + 1, text_.size()));
  }

  // Blanks the text inside a literal but keeps its quotes, so that the result is still an
  // expression.
  void BlankInside(std::size_t end) {
    const char quote = text_[end - 1];
    BlankTo(end);
    if (quote != '\n') result_[end - 1] = quote;
  }

  std::string_view text_;
  std::string result_;
  std::size_t at_ = 0;
};

void BlankPreprocessor(std::string& text) {
  bool continued = false;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const bool directive = continued || (!Trim(line).empty() && Trim(line).front() == '#');
    continued = directive && !line.empty() && line.back() == '\\';
    if (directive) std::fill(text.begin() + begin, text.begin() + end, ' ');
    begin = end + 1;
  }
}

// Returns the position after "template <typename T>" at the beginning of a header; 0 if the header
// has no such prefix.
std::size_t AfterTemplate(std::string_view header) {
  static constexpr std::string_view kTemplate = "template";
  std::size_t at = header.find_first_not_of(" \n");
  if (at == std::string_view::npos || !header.substr(at).starts_with(kTemplate)) return 0;
  int depth = 0;
  for (at += kTemplate.size(); at < header.size(); ++at) {
    if (header[at] == '<') ++depth;
    if (header[at] == '>' && --depth == 0) return at + 1;
  }
  return 0;
}

enum class Scope { kOuter, kFunction, kInitializer };

// Returns the kind of block that an opening brace begins. `header` is the text between the last
// statement at this level and the brace.
Scope ScopeAfter(std::string_view header) {
  static const std::regex kOuter(R"(^\s*(inline\s+)?(namespace|extern|class|struct|union|enum)\b)");
  static const std::regex kBody(
      R"((\)|\)[^()=]*->\s*[^()=]+|\)\s*(const|noexcept|override|final|mutable|try|&|\s)+)\s*$)");
  static const std::regex kMemberInitializer(R"(\)\s*:[^:])");
  const std::string text(header.substr(AfterTemplate(header)));
  if (std::regex_search(text, kOuter) && text.find('(') == std::string::npos) return Scope::kOuter;
  const auto open = std::count(text.begin(), text.end(), '(');
  const auto closed = std::count(text.begin(), text.end(), ')');
  if (open == 0 || open != closed) return Scope::kInitializer;
  if (std::regex_search(text, kBody)) return Scope::kFunction;
  // After one initializer, as in "Name(...) : a_(1), b_", another initializer may follow. The body
  // comes after the last initializer.
  const bool after_initializer = Trim(text).back() == '}';
  const bool in_constructor = std::regex_search(text, kMemberInitializer);
  return in_constructor && after_initializer ? Scope::kFunction : Scope::kInitializer;
}

// If a brace after `text` begins the body of a lambda, returns the position of the lambda's
// introducer ("["); otherwise npos. Brackets after a word belong to an array.
std::size_t LambdaBefore(const std::string& text) {
  if (text.find('[') == std::string::npos) return std::string::npos;
  static const std::regex kLambda(
      R"((^|[=(,{?:&|!]|\breturn)\s*)"                                       // Not after a word.
      R"((\[[^\[\]]*\]\s*(\([^{}]*\)\s*)?(mutable|noexcept|constexpr|\s)*)"  // [captures](...)
      R"((->[^(){}=;]+)?)$)");                                               // -> type
  std::smatch match;
  return std::regex_search(text, match, kLambda) ? static_cast<std::size_t>(match.position(2))
                                                 : std::string::npos;
}

// Finds functions by following the braces of blanked code.
class FunctionFinder {
 public:
  explicit FunctionFinder(std::string text) : text_(std::move(text)) {}

  std::vector<FunctionBody> Run() {
    for (std::size_t at = 0; at < text_.size(); ++at) {
      const char byte = text_[at];
      if (byte == '\n') ++line_;
      if (byte == '{') {
        Open(at);
      } else if (byte == '}') {
        Close();
      } else if (InOuter()) {
        Note(byte, at);
      }
      if (byte == '{' || byte == '}' || byte == ';') statement_ = at + 1;
    }
    return std::move(functions_);
  }

 private:
  // An open brace. `function` is the index of the
  // function whose body begins here; -1 if none.
  struct Brace {
    Scope scope;
    int function = -1;
    bool is_lambda = false;
  };

  bool InOuter() const { return braces_.empty() || braces_.back().scope == Scope::kOuter; }

  void Open(std::size_t at) {
    if (!braces_.empty() && braces_.back().scope == Scope::kFunction) {
      braces_.push_back({Scope::kFunction});
      return;
    }
    const std::string before = text_.substr(statement_, at - statement_);
    if (const std::size_t lambda = LambdaBefore(before); lambda != std::string::npos) {
      OpenFunction(before.substr(lambda), statement_ + lambda, /*is_lambda=*/true);
    } else if (!InOuter()) {
      braces_.push_back({Scope::kInitializer});
    } else if (const Scope scope = ScopeAfter(header_); scope == Scope::kFunction) {
      OpenFunction(header_, NameAt(), /*is_lambda=*/false);
    } else {
      braces_.push_back({scope});
      if (scope == Scope::kOuter) header_.clear();
    }
  }

  void OpenFunction(const std::string& signature, std::size_t name_at, bool is_lambda) {
    const auto after_name = text_.begin() + static_cast<std::ptrdiff_t>(name_at);
    const auto line = 1 + static_cast<int>(std::count(text_.begin(), after_name, '\n'));
    braces_.push_back({Scope::kFunction, static_cast<int>(functions_.size()), is_lambda});
    functions_.push_back({std::string(Trim(signature)), line, 0});
  }

  // Returns the position of the parenthesis after the function's name in the header header_.
  std::size_t NameAt() const { return text_.find('(', header_at_ + AfterTemplate(header_)); }

  void Close() {
    if (braces_.empty()) return;
    const Brace brace = braces_.back();
    braces_.pop_back();
    if (brace.function >= 0) functions_[brace.function].last_line = line_;
    if (!InOuter()) return;
    if (brace.scope == Scope::kInitializer || brace.is_lambda) {
      header_ += '}';
    } else {
      header_.clear();
    }
  }

  // Adds a character to the header, which is the text before the next brace. A statement or an
  // access label ends this text.
  void Note(char byte, std::size_t at) {
    static const std::regex kLabel(R"(\s*(public|private|protected)\s*)");
    const bool label = byte == ':' && std::regex_match(header_, kLabel) && text_[at + 1] != ':';
    if (byte == ';' || label) {
      header_.clear();
    } else {
      if (header_.empty()) header_at_ = at;
      header_ += byte;
    }
  }

  std::string text_;
  std::string header_;
  std::size_t header_at_ = 0;  // Position of the beginning of header_.
  std::size_t statement_ = 0;  // Position after the newest brace or semicolon.
  std::vector<Brace> braces_;
  std::vector<FunctionBody> functions_;
  int line_ = 1;
};

}  // namespace

std::string BlankCommentsAndLiterals(std::string_view text) { return Blanker(text).Run(); }

std::vector<Include> IncludesOf(std::string_view text) {
  static const std::regex kInclude(R"re(^\s*#\s*include\s*["<]([^">]+)[">])re");
  std::vector<Include> includes;
  int line_number = 0;
  for (const std::string_view line : SplitLines(text)) {
    ++line_number;
    std::match_results<std::string_view::const_iterator> match;
    if (std::regex_search(line.begin(), line.end(), match, kInclude)) {
      includes.push_back({line_number, match[1].str()});
    }
  }
  return includes;
}

std::vector<FunctionBody> FunctionsOf(std::string_view text) {
  std::string blanked = BlankCommentsAndLiterals(text);
  BlankPreprocessor(blanked);
  return FunctionFinder(std::move(blanked)).Run();
}

}  // namespace trainyard::tidy
