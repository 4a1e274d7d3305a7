#include "cli/recipes/shell_words.h"

#include <cctype>
#include <map>

namespace trainyard::cli {
namespace {

bool IsNameByte(char byte) { return std::isalnum(static_cast<unsigned char>(byte)) || byte == '_'; }

class Splitter {
 public:
  explicit Splitter(const std::string& script) : script_(script) {}

  std::vector<ScriptWord> Run() {
    for (; at_ < script_.size(); ++at_) Take(script_[at_]);
    End();
    return std::move(words_);
  }

 private:
  void Take(char byte) {
    if (byte == '\\' && quote_ != '\'' && at_ + 1 < script_.size()) {
      TakeEscaped(script_[++at_]);
    } else if (quote_ != '\0' && byte == quote_) {
      quote_ = '\0';
    } else if (quote_ == '\0' && (byte == '\'' || byte == '"')) {
      quote_ = byte;
      is_open_ = true;
    } else if (byte == '$' && quote_ != '\'') {
      TakeVariable();
    } else if (quote_ == '\0' && byte == '#' && !is_open_) {
      while (at_ + 1 < script_.size() && script_[at_ + 1] != '\n') ++at_;
    } else if (quote_ == '\0' && std::isspace(static_cast<unsigned char>(byte))) {
      End();
      if (byte == '\n') NextLine();
    } else {
      Add(byte);
    }
  }

  void NextLine() {
    ++line_;
    ++command_;
  }

  void TakeEscaped(char byte) {
    if (byte == '\n') {
      ++line_;
      End();
    } else {
      Add(byte);
    }
  }

  // A whole `$((...))` is one piece of a word, blanks or not.
  void TakeVariable() {
    size_t end = at_ + 1;
    if (end < script_.size() && script_[end] == '(') {
      int depth = 0;
      do {
        depth += script_[end] == '(' ? 1 : script_[end] == ')' ? -1 : 0;
        ++end;
      } while (depth > 0 && end < script_.size());
      return AddText(script_.substr(at_, end - at_), end);
    }
    const bool braced = end < script_.size() && script_[end] == '{';
    size_t begin = braced ? ++end : end;
    while (end < script_.size() && IsNameByte(script_[end])) ++end;
    const std::string name = script_.substr(begin, end - begin);
    if (braced && end < script_.size() && script_[end] == '}') ++end;
    const auto found = variables_.find(name);
    AddText(found == variables_.end() ? script_.substr(at_, end - at_) : found->second, end);
  }

  void AddText(const std::string& text, size_t end) {
    for (const char byte : text) Add(byte);
    is_open_ = true;
    at_ = end - 1;
  }

  void Add(char byte) {
    if (!is_open_) word_line_ = line_;
    is_open_ = true;
    word_ += byte;
  }

  void End() {
    if (!is_open_) return;
    const size_t equals = word_.find('=');
    bool is_assignment = equals != std::string::npos && equals > 0;
    for (size_t i = 0; is_assignment && i < equals; ++i) is_assignment = IsNameByte(word_[i]);
    if (is_assignment) {
      variables_[word_.substr(0, equals)] = word_.substr(equals + 1);
    } else {
      words_.push_back({word_, word_line_, command_});
    }
    word_.clear();
    is_open_ = false;
  }

  const std::string& script_;
  size_t at_ = 0;
  int line_ = 1;
  int word_line_ = 1;
  int command_ = 0;
  char quote_ = '\0';
  bool is_open_ = false;
  std::string word_;
  std::map<std::string, std::string> variables_;
  std::vector<ScriptWord> words_;
};

}  // namespace

std::vector<ScriptWord> SplitScript(const std::string& script) { return Splitter(script).Run(); }

}  // namespace trainyard::cli
