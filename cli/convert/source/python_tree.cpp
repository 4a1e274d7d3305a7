// Reads literals of Python code as a SourceTree.
#include <cctype>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "cli/convert/source/source_tree.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

struct PythonToken {
  enum class Kind { kName, kNumber, kString, kSign, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;
  int line = 0;
};

bool IsPythonNameByte(char byte) {
  return std::isalnum(static_cast<unsigned char>(byte)) != 0 || byte == '_';
}

// The tokens of a text, without comments and line ends. A string token is its raw source text, with
// escape sequences unresolved.
class PythonTokens {
 public:
  explicit PythonTokens(const std::string& text) : text_(text) {}

  std::vector<PythonToken> Split() {
    while (at_ < text_.size()) Step();
    tokens_.push_back({PythonToken::Kind::kEnd, "", line_});
    return std::move(tokens_);
  }

 private:
  void Step() {
    const char byte = text_[at_];
    if (byte == '\n') ++line_;
    if (byte == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (byte == '"' || byte == '\'') {
      TakeString(byte);
    } else if (std::isspace(static_cast<unsigned char>(byte)) != 0 || byte == '\\') {
      ++at_;
    } else if (IsPythonNameByte(byte)) {
      TakeWord();
    } else {
      tokens_.push_back({PythonToken::Kind::kSign, std::string(1, byte), line_});
      ++at_;
    }
  }

  // Reads a name or a number. A number may contain a decimal point and a sign in its exponent.
  void TakeWord() {
    const size_t begin = at_;
    const bool is_number = std::isdigit(static_cast<unsigned char>(text_[at_])) != 0;
    while (at_ < text_.size()) {
      const bool is_exponent_sign = is_number && (text_[at_] == '-' || text_[at_] == '+') &&
                                    (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
      if (!IsPythonNameByte(text_[at_]) && !(is_number && text_[at_] == '.') && !is_exponent_sign) {
        break;
      }
      ++at_;
    }
    tokens_.push_back({is_number ? PythonToken::Kind::kNumber : PythonToken::Kind::kName,
                       text_.substr(begin, at_ - begin), line_});
  }

  void TakeString(char quote) {
    const int line = line_;
    std::string end(1, quote);
    if (text_.compare(at_, 3, std::string(3, quote)) == 0) end = std::string(3, quote);
    const size_t begin = at_ + end.size();
    const size_t found = text_.find(end, begin);
    const size_t stop = found == std::string::npos ? text_.size() : found;
    const std::string value = text_.substr(begin, stop - begin);
    for (const char byte : value) line_ += byte == '\n' ? 1 : 0;
    at_ = std::min(stop + end.size(), text_.size());
    tokens_.push_back({PythonToken::Kind::kString, value, line});
  }

  const std::string& text_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<PythonToken> tokens_;
};

class PythonReader {
 public:
  explicit PythonReader(std::vector<PythonToken> tokens) : tokens_(std::move(tokens)) {}

  absl::StatusOr<std::vector<SourceTree>> Read() {
    while (!IsEnd()) {
      const std::vector<std::string> target = IsAssignment() ? TargetBefore() : NoTarget();
      ++at_;
      if (target.empty()) continue;
      TRAINYARD_RETURN_IF_ERROR(target.size() == 1 ? Begin(target[0]) : Add(target));
    }
    std::vector<SourceTree> trees;
    for (auto& [name, tree] : trees_) {
      if (!tree.values().empty() || !tree.call().empty()) trees.push_back(std::move(tree));
    }
    if (!trees.empty()) return trees;
    return absl::InvalidArgumentError(
        "is Python code without a dictionary or a call that contains settings; the code is "
        "not executed");
  }

 private:
  static std::vector<std::string> NoTarget() { return {}; }

  // True for `=`, false for `==` and `+=`.
  bool IsAssignment() const {
    if (!Is("=") || IsAt(at_ + 1, "=") || at_ == 0) return false;
    const PythonToken& before = tokens_[at_ - 1];
    return before.kind == PythonToken::Kind::kName || IsAt(at_ - 1, "]");
  }

  // Returns the parts of the assignment target before the `=`, as in `config.model.n_layers` and
  // `config["lr"]`.
  std::vector<std::string> TargetBefore() const {
    std::vector<std::string> parts;
    size_t at = at_;
    while (at > 0) {
      const PythonToken& last = tokens_[at - 1];
      const bool is_key = IsAt(at - 1, "]") && at >= 3 && IsAt(at - 3, "[") &&
                          tokens_[at - 2].kind == PythonToken::Kind::kString;
      if (!is_key && last.kind != PythonToken::Kind::kName) return {};
      parts.insert(parts.begin(), is_key ? tokens_[at - 2].text : last.text);
      at -= is_key ? 3 : 1;
      const bool goes_on = is_key ? at > 0 : IsAt(at - 1, ".") && at > 0;
      if (!goes_on) return parts;
      if (!is_key) --at;
    }
    return {};
  }

  // Reads `name = {...}` and `name = Call(...)`.
  absl::Status Begin(const std::string& name) {
    if (!Is("{") && !IsCall()) return absl::OkStatus();
    SourceTree tree;
    if (!Is("{")) tree.SetCall(CallName(), Now().line);
    tree_ = &trees_.emplace_back(name, std::move(tree)).second;
    return TakeValue("", 0);
  }

  // Reads `name.key = value`, and adds the value to the newest tree with this name.
  absl::Status Add(const std::vector<std::string>& target) {
    for (auto tree = trees_.rbegin(); tree != trees_.rend(); ++tree) {
      if (tree->first != target[0]) continue;
      tree_ = &tree->second;
      const bool has_brackets = Is("{") || Is("[") || IsTuple() || IsCall();
      statement_line_ = has_brackets ? 0 : Now().line;
      const absl::Status status =
          TakeValue(absl::StrJoin(target.begin() + 1, target.end(), "."), 0);
      statement_line_ = 0;
      return status;
    }
    return absl::OkStatus();
  }

  std::string CallName() const {
    std::string name;
    for (size_t at = at_; !IsAt(at, "("); ++at) name += tokens_[at].text;
    return name;
  }

  const PythonToken& Now() const { return tokens_[std::min(at_, tokens_.size() - 1)]; }
  bool Is(const char* sign) const {
    return Now().kind == PythonToken::Kind::kSign && Now().text == sign;
  }
  bool IsAt(size_t at, const char* sign) const {
    return at < tokens_.size() && tokens_[at].kind == PythonToken::Kind::kSign &&
           tokens_[at].text == sign;
  }
  bool IsEnd() const { return Now().kind == PythonToken::Kind::kEnd; }

  // True at `name(` and at `module.name(`.
  bool IsCall() const {
    size_t at = at_;
    while (at < tokens_.size() && tokens_[at].kind == PythonToken::Kind::kName) {
      if (IsAt(at + 1, "(")) return true;
      if (!IsAt(at + 1, ".")) return false;
      at += 2;
    }
    return false;
  }

  absl::Status TakeValue(const std::string& path, int depth) {
    if (depth > kMaxSourceDepth) {
      return absl::ResourceExhaustedError(
          absl::StrCat("line ", Now().line, ": is nested deeper than ", kMaxSourceDepth));
    }
    if (Is("{")) return TakeEntries(path, "}", depth);
    if (Is("[")) return TakeEntries(absl::StrCat(path, "[]"), "]", depth);
    if (IsTuple()) return TakeEntries(absl::StrCat(path, "[]"), ")", depth);
    if (!IsCall()) return TakeScalar(path);
    while (!Is("(")) ++at_;
    return TakeEntries(path, ")", depth);
  }

  // True for parentheses with a comma at their own nesting level. Other parentheses belong to an
  // expression.
  bool IsTuple() const {
    if (!Is("(")) return false;
    int depth = 0;
    for (size_t at = at_; at < tokens_.size(); ++at) {
      if (IsAt(at, "(") || IsAt(at, "[")) ++depth;
      if ((IsAt(at, ")") || IsAt(at, "]")) && --depth == 0) return false;
      if (IsAt(at, ",") && depth == 1) return true;
    }
    return false;
  }

  // Reads entries up to `close`. An entry is `"key": value`, `key=value` or a value alone.
  absl::Status TakeEntries(const std::string& path, const char* close, int depth) {
    ++at_;
    while (!Is(close)) {
      if (IsEnd()) {
        return absl::InvalidArgumentError(
            absl::StrCat("line ", Now().line, ": the text ends before `", close, "`"));
      }
      const bool has_key = (Now().kind == PythonToken::Kind::kString && IsAt(at_ + 1, ":")) ||
                           (Now().kind == PythonToken::Kind::kName && IsAt(at_ + 1, "="));
      std::string below = path;
      if (has_key) {
        below = path.empty() ? Now().text : absl::StrCat(path, ".", Now().text);
        at_ += 2;
      }
      const size_t before = at_;
      TRAINYARD_RETURN_IF_ERROR(TakeValue(below, depth + 1));
      if (Is(",")) {
        ++at_;
      } else if (at_ == before && !Is(close)) {
        ++at_;  // Skips punctuation that cannot begin a value.
      }
    }
    ++at_;
    return absl::OkStatus();
  }

  // Reads a value up to the next comma or closing bracket.
  absl::Status TakeScalar(const std::string& path) {
    const int line = Now().line;
    std::vector<PythonToken> parts;
    for (int depth = 0; !IsEnd(); ++at_) {
      if (depth == 0 && statement_line_ > 0 && Now().line > statement_line_) break;
      if (depth == 0 && (Is(",") || Is(")") || Is("]") || Is("}"))) break;
      if (Is("(") || Is("[") || Is("{")) ++depth;
      if (Is(")") || Is("]") || Is("}")) --depth;
      parts.push_back(Now());
    }
    if (parts.empty()) return absl::OkStatus();
    if (parts.size() == 1 && parts[0].kind == PythonToken::Kind::kString) {
      return tree_->Add({path, parts[0].text, SourceKind::kText, line});
    }
    const std::string text = absl::StrJoin(
        parts, "", [](std::string* out, const PythonToken& token) { out->append(token.text); });
    if (const std::optional<double> product = ProductOf(parts); product.has_value()) {
      const bool is_one = parts.size() == 1;
      return tree_->Add(
          {path, is_one ? text : absl::StrFormat("%.15g", *product), SourceKind::kNumber, line});
    }
    const SourceKind kind = PlainKind(text);
    return tree_->Add({path, text, kind == SourceKind::kText ? SourceKind::kOpen : kind, line});
  }

  // Returns the value of a product such as `8/3`, `4 * 1024` or `-1`; nullopt for other
  // expressions.
  static std::optional<double> ProductOf(const std::vector<PythonToken>& parts) {
    const bool is_negative = parts[0].text == "-";
    const size_t first = is_negative ? 1 : 0;
    if ((parts.size() - first) % 2 == 0) return std::nullopt;
    double product = is_negative ? -1 : 1;
    for (size_t i = first; i < parts.size(); i += 2) {
      const std::optional<double> number = NumberOf(parts[i].text);
      if (!number.has_value() || parts[i].kind != PythonToken::Kind::kNumber) return std::nullopt;
      if (i == first || parts[i - 1].text == "*") {
        product *= *number;
      } else if (parts[i - 1].text == "/" && *number != 0) {
        product /= *number;
      } else {
        return std::nullopt;
      }
    }
    return product;
  }

  std::vector<PythonToken> tokens_;
  size_t at_ = 0;
  std::vector<std::pair<std::string, SourceTree>> trees_;
  SourceTree* tree_ = nullptr;  // The tree to which values are added.
  int statement_line_ = 0;      // Last line of a value that is not in brackets; 0 for no limit.
};

}  // namespace

absl::StatusOr<std::vector<SourceTree>> ReadPythonTrees(const std::string& text) {
  return PythonReader(PythonTokens(text).Split()).Read();
}

}  // namespace trainyard::cli
