#include "cli/convert/source/shell_script.h"

#include <cctype>

#include "absl/strings/match.h"

namespace trainyard::cli {
namespace {

constexpr size_t kMaxExpandedBytes = 1 << 20;

// A text with the source line of each byte, so that each word keeps its line number after
// expansion.
struct LinedText {
  std::string text;
  std::vector<int> lines;
};

bool IsNameByte(char byte) { return std::isalnum(static_cast<unsigned char>(byte)) || byte == '_'; }

bool IsBlank(char byte) { return std::isspace(static_cast<unsigned char>(byte)) != 0; }

class Splitter {
 public:
  Splitter(const std::string& script, const std::map<std::string, std::string>& variables)
      : script_(script) {
    for (const auto& [name, value] : variables) {
      variables_[name] = {value, std::vector<int>(value.size(), 1)};
    }
  }

  absl::StatusOr<ShellScript> Run() {
    for (; at_ < script_.size() && expanded_ <= kMaxExpandedBytes; ++at_) Take(script_[at_]);
    if (expanded_ > kMaxExpandedBytes) {
      return absl::ResourceExhaustedError("variables of the script grow without limit");
    }
    EndCommand();
    return std::move(result_);
  }

 private:
  char Next() const { return at_ + 1 < script_.size() ? script_[at_ + 1] : '\0'; }
  bool IsPlain() const { return quote_ == '\0'; }

  void Take(char byte) {
    if (byte == '\\' && quote_ != '\'' && at_ + 1 < script_.size()) {
      TakeEscaped(script_[++at_]);
    } else if (!IsPlain() && byte == quote_) {
      quote_ = '\0';
    } else if (IsPlain() && (byte == '\'' || byte == '"')) {
      quote_ = byte;
      is_open_ = true;
    } else if (byte == '$' && quote_ != '\'') {
      TakeVariable();
    } else if (IsPlain() && byte == '#' && !is_open_) {
      while (at_ + 1 < script_.size() && script_[at_ + 1] != '\n') ++at_;
    } else if (IsPlain() && (IsBlank(byte) || absl::StrContains("();&|<>", byte))) {
      TakeSeparator(byte);
    } else {
      if (byte == '\n') ++line_;
      Add(byte, line_);
    }
  }

  void TakeSeparator(char byte) {
    if (byte == '(' && is_open_ && IsAssignment() && word_.text.back() == '=') {
      is_list_ = true;
      list_name_ = word_.text.substr(0, word_.text.size() - 1);
      Clear();
    } else if (byte == ')' && is_list_) {
      EndWord();
      variables_[list_name_] = list_;
      list_ = {};
      is_list_ = false;
    } else if (byte == '<' || byte == '>' || (byte == '&' && Next() == '>')) {
      TakeRedirection();
    } else {
      EndWord();
      if (byte == '\n') ++line_;
      if (!is_list_ && !(IsBlank(byte) && byte != '\n')) EndCommand();
    }
  }

  // Drops a redirection, including the file descriptor before it and the word after it.
  void TakeRedirection() {
    if (word_.text.find_first_not_of("0123456789") == std::string::npos) Clear();
    EndWord();
    while (Next() == '<' || Next() == '>' || Next() == '&') ++at_;
    skips_word_ = true;
  }

  void TakeEscaped(char byte) {
    if (byte == '\n') {
      ++line_;
      if (IsPlain()) EndWord();
      if (!IsPlain()) Add(' ', line_);
    } else {
      Add(byte, line_);
    }
  }

  // Reads `$` and the text it expands. A `$((...))` belongs to a single word even if it contains
  // blanks.
  void TakeVariable() {
    if (Next() == '(') return KeepSubstitution();
    const bool braced = Next() == '{';
    const size_t begin = at_ + (braced ? 2 : 1);
    size_t end = begin;
    while (end < script_.size() && IsNameByte(script_[end])) ++end;
    const std::string name = script_.substr(begin, end - begin);
    std::string rest;
    if (braced) {
      const size_t close = script_.find('}', end);
      if (close == std::string::npos) return Add('$', line_);
      rest = script_.substr(end, close - end);
      end = close + 1;
    }
    const std::string written = script_.substr(at_, end - at_);
    at_ = end - 1;
    Expand(name, rest, written);
  }

  void KeepSubstitution() {
    size_t end = at_ + 1;
    int depth = 0;
    do {
      depth += script_[end] == '(' ? 1 : script_[end] == ')' ? -1 : 0;
      ++end;
    } while (depth > 0 && end < script_.size());
    for (const char byte : script_.substr(at_, end - at_)) {
      if (byte == '\n') ++line_;
      Add(byte, line_);
    }
    at_ = end - 1;
  }

  // `rest`: the text after the name within the braces, such as `[@]` and `:-8`.
  void Expand(const std::string& name, const std::string& rest, const std::string& written) {
    const auto found = variables_.find(name);
    const bool is_list = rest == "[@]" || rest == "[*]";
    const bool has_default = absl::StartsWith(rest, ":-") || absl::StartsWith(rest, ":=");
    if (found != variables_.end() && (rest.empty() || is_list || has_default)) {
      AddText(found->second, is_list || (IsPlain() && !IsAssignment()));
    } else if (has_default) {
      AddText({rest.substr(2), std::vector<int>(rest.size() - 2, line_)}, false);
    } else {
      AddText({written, std::vector<int>(written.size(), line_)}, false);
    }
  }

  void AddText(const LinedText& text, bool splits) {
    const LinedText copy = text;  // Copied: a variable's new value may contain its old one.
    if (!splits) is_open_ = true;
    for (size_t i = 0; i < copy.text.size() && expanded_ <= kMaxExpandedBytes; ++i, ++expanded_) {
      if (splits && IsBlank(copy.text[i])) {
        EndWord();
      } else {
        Add(copy.text[i], copy.lines[i]);
      }
    }
  }

  void Add(char byte, int line) {
    is_open_ = true;
    word_.text += byte;
    word_.lines.push_back(line);
  }

  void Clear() {
    word_ = {};
    is_open_ = false;
  }

  // True for `NAME=...` before the program or after `export`.
  bool IsAssignment() const {
    const size_t equals = word_.text.find('=');
    if (!(command_.empty() || exports_) || is_list_ || equals == std::string::npos || equals == 0) {
      return false;
    }
    for (size_t i = 0; i < equals; ++i) {
      if (!IsNameByte(word_.text[i])) return false;
    }
    return true;
  }

  void EndWord() {
    if (!is_open_) return;
    const int word_line = word_.lines.empty() ? line_ : word_.lines.front();
    if (skips_word_) {
      skips_word_ = false;
    } else if (is_list_) {
      list_.text += word_.text + "\n";
      word_.lines.push_back(word_line);
      list_.lines.insert(list_.lines.end(), word_.lines.begin(), word_.lines.end());
    } else if (IsAssignment()) {
      Assign(word_line);
    } else if (command_.empty() && (word_.text == "export" || word_.text == "declare")) {
      exports_ = true;
    } else if (!exports_) {
      command_.push_back({word_.text, word_line});
    }
    Clear();
  }

  void Assign(int line) {
    const size_t equals = word_.text.find('=');
    const std::string name = word_.text.substr(0, equals);
    const auto after = static_cast<std::ptrdiff_t>(equals + 1);
    variables_[name] = {word_.text.substr(equals + 1),
                        {word_.lines.begin() + after, word_.lines.end()}};
    assigned_.push_back({name, variables_[name].text, line, -1});
  }

  // An assignment without a program sets a variable of the script itself.
  void EndCommand() {
    EndWord();
    for (ScriptVariable& variable : assigned_) {
      if (!exports_ && command_.empty()) break;
      variable.command = exports_ ? -1 : static_cast<int>(result_.commands.size());
      result_.exports.push_back(std::move(variable));
    }
    if (!command_.empty()) result_.commands.push_back(std::move(command_));
    command_.clear();
    assigned_.clear();
    exports_ = false;
    skips_word_ = false;
  }

  const std::string& script_;
  size_t at_ = 0;
  size_t expanded_ = 0;  // Bytes inserted so far by expanding variables.
  int line_ = 1;
  char quote_ = '\0';
  bool is_open_ = false;
  bool is_list_ = false;
  bool exports_ = false;
  bool skips_word_ = false;
  LinedText word_;
  LinedText list_;
  std::string list_name_;
  ScriptCommand command_;
  std::vector<ScriptVariable> assigned_;
  std::map<std::string, LinedText> variables_;
  ShellScript result_;
};

}  // namespace

absl::StatusOr<ShellScript> SplitScript(const std::string& script,
                                        const std::map<std::string, std::string>& variables) {
  return Splitter(script, variables).Run();
}

}  // namespace trainyard::cli
