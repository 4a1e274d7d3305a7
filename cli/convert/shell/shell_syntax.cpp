#include "cli/convert/shell/shell_syntax.h"

#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/convert/shell/shell_token.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

using TokenKind = ShellToken::Kind;

// Words that end a list of commands.
const std::set<std::string>& ListEnds() {
  static const std::set<std::string> ends = {"then", "elif", "else", "fi",
                                             "do",   "done", "esac", "}"};
  return ends;
}

class ShellParser {
 public:
  explicit ShellParser(std::vector<ShellToken> tokens) : tokens_(std::move(tokens)) {}

  absl::StatusOr<ShellList> Parse() {
    ShellList list = TakeList();
    if (status_.ok() && Now().kind != TokenKind::kEnd) FailAtToken();
    if (!status_.ok()) return status_;
    return list;
  }

 private:
  static constexpr int kMaxDepth = 64;

  const ShellToken& Now() const { return tokens_[at_]; }
  const ShellToken& Next() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  bool IsOperator(const std::string& text) const {
    return Now().kind == TokenKind::kOperator && Now().text == text;
  }
  bool IsWord(const std::string& text) const {
    return Now().kind == TokenKind::kWord && Now().text == text;
  }
  void Advance() {
    if (at_ + 1 < tokens_.size()) ++at_;
  }

  void Fail(int line, const std::string& what) {
    if (status_.ok()) status_ = absl::InvalidArgumentError(absl::StrCat("line ", line, ": ", what));
    at_ = tokens_.size() - 1;
  }

  void FailAtToken() {
    const bool is_end = Now().kind == TokenKind::kEnd;
    Fail(Now().line, is_end ? "the script ends before a command is complete"
                            : absl::StrCat("`", Now().text, "` is not expected here"));
  }

  void Expect(const std::string& word) {
    if (IsWord(word)) return Advance();
    Fail(Now().line, absl::StrCat("`", word, "` is missing"));
  }

  void SkipNewlines() {
    while (Now().kind == TokenKind::kNewline) Advance();
  }

  bool AtListEnd() const {
    return Now().kind == TokenKind::kEnd || IsOperator(")") || IsOperator(";;") ||
           IsOperator(";&") || IsOperator(";;&") ||
           (Now().kind == TokenKind::kWord && ListEnds().contains(Now().text));
  }

  ShellList TakeList() {
    ShellList list;
    ShellNode::Link link = ShellNode::Link::kNone;
    if (++depth_ > kMaxDepth) {
      Fail(Now().line, "the script is nested too deeply");
      status_ = absl::ResourceExhaustedError(status_.message());
    }
    for (SkipNewlines(); status_.ok() && !AtListEnd(); SkipNewlines()) {
      list.push_back(TakeCommand());
      list.back().link = link;
      list.back().last_line = at_ > 0 ? tokens_[at_ - 1].line : 1;
      link = TakeLink();
    }
    --depth_;
    return list;
  }

  // Reads the operator after a command.
  ShellNode::Link TakeLink() {
    const std::string text = Now().kind == TokenKind::kOperator ? Now().text : "";
    if (text == "&&" || text == "||" || text == "|" || text == "|&") {
      Advance();
      SkipNewlines();
      if (AtListEnd()) FailAtToken();
      if (text == "&&") return ShellNode::Link::kAnd;
      return text == "||" ? ShellNode::Link::kOr : ShellNode::Link::kPipe;
    }
    if (text == ";" || text == "&" || Now().kind == TokenKind::kNewline) {
      Advance();
    } else if (status_.ok() && !AtListEnd()) {
      FailAtToken();
    }
    return ShellNode::Link::kNone;
  }

  ShellNode TakeCommand() {
    ShellNode node;
    for (; IsWord("!"); Advance()) node.is_negated = !node.is_negated;
    node.line = Now().line;
    if (Now().kind == TokenKind::kArithmetic) {
      node.kind = ShellNode::Kind::kArithmetic;
      node.expression = Now().text;
      Advance();
    } else if (IsOperator("(")) {
      node.kind = ShellNode::Kind::kSubshell;
      Advance();
      node.branches.push_back({{}, {}, TakeList()});
      if (!IsOperator(")")) Fail(node.line, "`(` is not closed");
      Advance();
    } else if (IsWord("if")) {
      TakeIf(node);
    } else if (IsWord("while") || IsWord("until")) {
      TakeWhile(node);
    } else if (IsWord("for") || IsWord("select")) {
      TakeFor(node);
    } else if (IsWord("case")) {
      TakeCase(node);
    } else if (IsWord("{")) {
      TakeGroup(node);
    } else if (IsFunction()) {
      TakeFunction(node);
    } else {
      TakeSimple(node);
      return node;
    }
    TakeRedirections(node);
    return node;
  }

  bool IsFunction() const {
    if (IsWord("function")) return true;
    return Now().kind == TokenKind::kWord && at_ + 2 < tokens_.size() &&
           Next().kind == TokenKind::kOperator && Next().text == "(" &&
           tokens_[at_ + 2].kind == TokenKind::kOperator && tokens_[at_ + 2].text == ")";
  }

  // Reads a redirection or a here-document. Returns false for other tokens.
  bool TakeRedirection(ShellNode& node) {
    if (Now().kind == TokenKind::kRedirection) {
      if (!Now().text.empty()) node.target = {Now().text, Now().line};
    } else if (Now().kind == TokenKind::kHereDocument) {
      node.document = {Now().text, Now().line + 1};
      node.has_document = true;
      node.is_document_quoted = Now().is_quoted;
    } else {
      return false;
    }
    Advance();
    return true;
  }

  void TakeRedirections(ShellNode& node) {
    while (TakeRedirection(node)) {
    }
  }

  void TakeSimple(ShellNode& node) {
    while (status_.ok()) {
      if (TakeRedirection(node)) continue;
      if (Now().kind != TokenKind::kWord) break;
      node.words.push_back({Now().text, Now().line});
      Advance();
    }
    const bool is_empty = node.words.empty() && node.target.text.empty() && !node.has_document;
    if (is_empty && tokens_[at_ > 0 ? at_ - 1 : 0].kind != TokenKind::kRedirection) FailAtToken();
  }

  void TakeIf(ShellNode& node) {
    node.kind = ShellNode::Kind::kIf;
    do {
      Advance();
      ShellList condition = TakeList();
      Expect("then");
      node.branches.push_back({std::move(condition), {}, TakeList()});
    } while (status_.ok() && IsWord("elif"));
    if (IsWord("else")) {
      Advance();
      node.branches.push_back({{}, {}, TakeList()});
    }
    Expect("fi");
  }

  void TakeWhile(ShellNode& node) {
    node.kind = IsWord("while") ? ShellNode::Kind::kWhile : ShellNode::Kind::kUntil;
    Advance();
    ShellList condition = TakeList();
    Expect("do");
    node.branches.push_back({std::move(condition), {}, TakeList()});
    Expect("done");
  }

  void TakeFor(ShellNode& node) {
    Advance();
    if (Now().kind == TokenKind::kArithmetic) {
      node.kind = ShellNode::Kind::kForArithmetic;
      node.expression = Now().text;
    } else {
      node.kind = ShellNode::Kind::kFor;
      node.name = Now().text;
    }
    Advance();
    SkipNewlines();
    if (IsWord("in")) {
      for (Advance(); Now().kind == TokenKind::kWord; Advance()) {
        node.words.push_back({Now().text, Now().line});
      }
    } else if (node.kind == ShellNode::Kind::kFor) {
      node.words.push_back({"\"$@\"", node.line});
    }
    if (IsOperator(";")) Advance();
    SkipNewlines();
    Expect("do");
    node.branches.push_back({{}, {}, TakeList()});
    Expect("done");
  }

  void TakeCase(ShellNode& node) {
    node.kind = ShellNode::Kind::kCase;
    Advance();
    node.words.push_back({Now().text, Now().line});
    Advance();
    SkipNewlines();
    Expect("in");
    for (SkipNewlines(); status_.ok() && !IsWord("esac"); SkipNewlines()) {
      ShellBranch branch;
      if (IsOperator("(")) Advance();
      for (; Now().kind == TokenKind::kWord; Advance()) {
        branch.patterns.push_back({Now().text, Now().line});
        if (Next().kind == TokenKind::kOperator && Next().text == "|") Advance();
      }
      if (!IsOperator(")")) FailAtToken();
      Advance();
      branch.body = TakeList();
      node.branches.push_back(std::move(branch));
      if (IsOperator(";&") || IsOperator(";;&")) FailAtToken();
      if (IsOperator(";;")) Advance();
    }
    Expect("esac");
  }

  void TakeGroup(ShellNode& node) {
    node.kind = ShellNode::Kind::kGroup;
    Advance();
    node.branches.push_back({{}, {}, TakeList()});
    Expect("}");
  }

  void TakeFunction(ShellNode& node) {
    if (IsWord("function")) Advance();
    node.kind = ShellNode::Kind::kFunction;
    node.name = Now().text;
    Advance();
    if (IsOperator("(")) {
      Advance();
      if (!IsOperator(")")) FailAtToken();
      Advance();
    }
    SkipNewlines();
    if (++depth_ > kMaxDepth) return Fail(node.line, "the script is nested too deeply");
    if (status_.ok()) node.branches.push_back({{}, {}, {TakeCommand()}});
    --depth_;
  }

  std::vector<ShellToken> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<ShellList> ParseShell(absl::string_view text, int first_line,
                                     std::vector<int>& blank_after_backslash) {
  TRAINYARD_ASSIGN_OR_RETURN(ShellTokens tokens, ReadShellTokens(text, first_line));
  blank_after_backslash.insert(blank_after_backslash.end(), tokens.blank_after_backslash.begin(),
                               tokens.blank_after_backslash.end());
  return ShellParser(std::move(tokens.tokens)).Parse();
}

}  // namespace trainyard::cli
