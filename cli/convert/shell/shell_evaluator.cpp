#include "cli/convert/shell/shell_evaluator.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/convert/shell/shell_token.h"

namespace trainyard::cli {
namespace {

constexpr int kMaxSteps = 20000;
constexpr int kMaxRunDepth = 48;

// True for commands that have no effect on the run, such as a message before `exit`.
bool IsHarmless(const ShellList& list) {
  static const std::set<std::string> words = {"echo",  "exit",     "printf", "return",
                                              "mkdir", "true",     ":",      "usage",
                                              "sleep", "continue", "break"};
  return std::all_of(list.begin(), list.end(), [](const ShellNode& node) {
    const bool is_group = node.kind == ShellNode::Kind::kGroup;
    if (is_group) return IsHarmless(node.branches.front().body);
    return node.kind == ShellNode::Kind::kSimple && !node.words.empty() &&
           words.contains(node.words.front().text);
  });
}

// Returns the start of the command as it is written, such as "if [ -f x ]".
std::string WrittenStart(const ShellNode& node) {
  constexpr size_t kLongest = 80;
  const ShellNode* shown = &node;
  std::string text;
  if (node.kind == ShellNode::Kind::kIf) text = "if ";
  if (node.kind == ShellNode::Kind::kWhile) text = "while ";
  if (node.kind == ShellNode::Kind::kUntil) text = "until ";
  if (node.kind == ShellNode::Kind::kFor) absl::StrAppend(&text, "for ", node.name, " in ");
  if (node.kind == ShellNode::Kind::kCase) text = "case ";
  if (!node.branches.empty() && !node.branches.front().condition.empty()) {
    shown = &node.branches.front().condition.front();
  }
  absl::StrAppend(&text, shown->is_negated ? "! " : "",
                  absl::StrJoin(shown->words, " ", [](std::string* out, const RawWord& word) {
                    out->append(word.text);
                  }));
  if (node.kind == ShellNode::Kind::kForArithmetic || shown->kind == ShellNode::Kind::kArithmetic) {
    absl::StrAppend(&text, "((", shown->expression, "))");
  }
  if (text.size() > kLongest) text = absl::StrCat(text.substr(0, kLongest), "...");
  return absl::StrReplaceAll(text, {{"\n", " "}});
}

}  // namespace

absl::Status ShellEvaluator::Read(const std::string& text, int first_line) {
  std::vector<int> blanks;
  const absl::StatusOr<ShellList> list = ParseShell(text, first_line, blanks);
  if (!list.ok()) return list.status();
  for (const int line : blanks) {
    script_.notes.push_back(
        {line,
         "blanks follow the backslash, so that bash would end the command here; the next line "
         "is read as part of the command"});
  }
  RunList(*list);
  if (status_.ok() && expander_.is_exhausted()) {
    status_ = absl::ResourceExhaustedError("variables of the script grow without limit");
  }
  return status_;
}

ShellScript ShellEvaluator::Finish() {
  script_.used = expander_.used();
  script_.state = std::move(state_);
  return std::move(script_);
}

bool ShellEvaluator::Step(int line) {
  if (++steps_ > kMaxSteps && status_.ok()) {
    status_ = absl::ResourceExhaustedError(
        absl::StrCat("line ", line, ": the script runs for more than ", kMaxSteps, " commands"));
  }
  return status_.ok() && flow_ == Flow::kNext && !expander_.is_exhausted();
}

void ShellEvaluator::LeaveOut(const ShellNode& node, const std::string& what) {
  std::string lines;
  if (node.last_line > node.line) lines = absl::StrCat(" up to line ", node.last_line);
  script_.notes.push_back({node.line, absl::StrCat("`", WrittenStart(node), "`: ", what, lines)});
}

ShellEvaluator::Status ShellEvaluator::RunList(const ShellList& list) {
  Status status = Status::kTrue;
  bool skips = false;
  for (size_t i = 0; i < list.size(); ++i) {
    const ShellNode& node = list[i];
    if (!Step(node.line)) break;
    if (node.link == ShellNode::Link::kAnd) skips = status == Status::kFalse;
    if (node.link == ShellNode::Link::kOr) {
      skips = status == Status::kTrue || status == Status::kRan;
    }
    if (node.link == ShellNode::Link::kNone || node.link == ShellNode::Link::kPipe) skips = false;
    const bool is_chained = node.link == ShellNode::Link::kAnd || node.link == ShellNode::Link::kOr;
    if (is_chained && status == Status::kUnknown) {
      if (!IsHarmless({node})) {
        LeaveOut(node,
                 "left out, because the test before it depends on something outside the "
                 "script;");
      }
      continue;
    }
    if (!skips) status = Run(node);
  }
  return status;
}

ShellEvaluator::Status ShellEvaluator::Run(const ShellNode& node) {
  if (++depth_ > kMaxRunDepth) {
    status_ = absl::ResourceExhaustedError(
        absl::StrCat("line ", node.line, ": functions or commands are nested too deeply"));
  }
  Status status = Status::kTrue;
  if (status_.ok()) {
    switch (node.kind) {
      case ShellNode::Kind::kSimple:
        status = RunSimple(node);
        break;
      case ShellNode::Kind::kIf:
        status = RunIf(node);
        break;
      case ShellNode::Kind::kWhile:
      case ShellNode::Kind::kUntil:
        status = RunWhile(node);
        break;
      case ShellNode::Kind::kFor:
        status = RunFor(node);
        break;
      case ShellNode::Kind::kForArithmetic:
        status = RunForArithmetic(node);
        break;
      case ShellNode::Kind::kCase:
        status = RunCase(node);
        break;
      case ShellNode::Kind::kGroup:
        status = RunList(node.branches.front().body);
        break;
      case ShellNode::Kind::kSubshell:
        status = RunSubshell(node);
        break;
      case ShellNode::Kind::kFunction:
        state_.functions[node.name] = node.branches.front().body.front();
        break;
      case ShellNode::Kind::kArithmetic:
        status = TruthOf({node.expression, node.line});
        break;
    }
  }
  --depth_;
  if (!node.is_negated) return status;
  if (status == Status::kTrue) return Status::kFalse;
  return status == Status::kFalse ? Status::kTrue : Status::kUnknown;
}

ShellEvaluator::Status ShellEvaluator::TruthOf(const RawWord& expression) {
  const std::optional<int64_t> value = expander_.Arithmetic(expression);
  if (!value.has_value()) return Status::kUnknown;
  return *value != 0 ? Status::kTrue : Status::kFalse;
}

ShellEvaluator::Status ShellEvaluator::RunCondition(const ShellList& condition) {
  const size_t commands = script_.commands.size();
  const Status status = RunList(condition);
  // A program's result is known only when it runs. Its command is not part of the run.
  script_.commands.resize(commands);
  std::erase_if(script_.exports, [&](const ScriptVariable& variable) {
    return variable.command >= static_cast<int>(commands);
  });
  script_.readers.erase(script_.readers.lower_bound(static_cast<int>(commands)),
                        script_.readers.end());
  return status == Status::kRan ? Status::kUnknown : status;
}

ShellEvaluator::Status ShellEvaluator::RunIf(const ShellNode& node) {
  for (const ShellBranch& branch : node.branches) {
    const Status condition =
        branch.condition.empty() ? Status::kTrue : RunCondition(branch.condition);
    if (!status_.ok() || flow_ != Flow::kNext) return Status::kTrue;
    if (condition == Status::kTrue) return RunList(branch.body);
    if (condition == Status::kFalse) continue;
    const bool is_harmless =
        std::all_of(node.branches.begin(), node.branches.end(),
                    [](const ShellBranch& other) { return IsHarmless(other.body); });
    if (!is_harmless) {
      LeaveOut(node,
               "the condition depends on something outside the script, so none of its branches is "
               "converted; left out");
    }
    return Status::kUnknown;
  }
  return Status::kTrue;
}

ShellEvaluator::Status ShellEvaluator::RunCase(const ShellNode& node) {
  const ShellText subject = expander_.Value(node.words.front());
  if (!IsKnown(subject)) {
    LeaveOut(node, absl::StrCat("the value of ", OpenPart(subject),
                                " is not in the script, so no branch is converted; left out"));
    return Status::kUnknown;
  }
  for (const ShellBranch& branch : node.branches) {
    for (const RawWord& word : branch.patterns) {
      const ShellText pattern = expander_.Value(word);
      if (MatchesGlob(pattern, BytesOf(subject))) return RunList(branch.body);
    }
  }
  return Status::kTrue;
}

bool ShellEvaluator::RunBody(const ShellList& body) {
  RunList(body);
  if (flow_ == Flow::kBreak || flow_ == Flow::kContinue) {
    const bool is_outer = jumps_ > 1;
    const bool ends = is_outer || flow_ == Flow::kBreak;
    if (is_outer) --jumps_;
    if (!is_outer) flow_ = Flow::kNext;
    if (ends) return false;
  }
  return status_.ok() && flow_ == Flow::kNext;
}

ShellEvaluator::Status ShellEvaluator::RunFor(const ShellNode& node) {
  const std::vector<ShellText> items = expander_.Fields(node.words);
  for (const ShellText& item : items) {
    if (IsKnown(item)) continue;
    LeaveOut(node, absl::StrCat("the value of ", OpenPart(item),
                                " is not in the script; the loop is left out"));
    return Status::kUnknown;
  }
  for (const ShellText& item : items) {
    if (!Step(node.line)) break;
    state_.variables[node.name] = {{item}, false, false};
    if (!RunBody(node.branches.front().body)) break;
  }
  return Status::kTrue;
}

ShellEvaluator::Status ShellEvaluator::RunForArithmetic(const ShellNode& node) {
  std::vector<std::string> parts(1);
  for (const char byte : node.expression) {
    if (byte == ';') parts.emplace_back();
    if (byte != ';') parts.back() += byte;
  }
  parts.resize(3);
  expander_.Arithmetic({parts[0], node.line});
  while (Step(node.line)) {
    const Status condition = absl::StripAsciiWhitespace(parts[1]).empty()
                                 ? Status::kTrue
                                 : TruthOf({parts[1], node.line});
    if (condition == Status::kFalse) break;
    if (condition == Status::kUnknown) {
      LeaveOut(node, "the condition depends on something outside the script; left out");
      return condition;
    }
    if (!RunBody(node.branches.front().body)) break;
    expander_.Arithmetic({parts[2], node.line});
  }
  return Status::kTrue;
}

ShellEvaluator::Status ShellEvaluator::RunWhile(const ShellNode& node) {
  const Status ends = node.kind == ShellNode::Kind::kWhile ? Status::kFalse : Status::kTrue;
  while (Step(node.line)) {
    const Status condition = RunCondition(node.branches.front().condition);
    if (condition == ends) break;
    if (condition == Status::kUnknown) {
      LeaveOut(node, "the condition depends on something outside the script; left out");
      return condition;
    }
    const size_t commands = script_.commands.size();
    if (!RunBody(node.branches.front().body)) break;
    // Scripts often restart a program in a loop. A job restarts its program without a loop.
    if (script_.commands.size() > commands) {
      LeaveOut(node, "the loop is converted once; `restart` repeats a failed run;");
      break;
    }
  }
  return Status::kTrue;
}

ShellEvaluator::Status ShellEvaluator::RunSubshell(const ShellNode& node) {
  const ShellState before = state_;
  const Status status = RunList(node.branches.front().body);
  state_ = before;
  if (flow_ == Flow::kExit) flow_ = Flow::kNext;
  return status;
}

absl::StatusOr<ShellScript> EvaluateScript(const std::string& text, ShellState state) {
  ShellEvaluator evaluator(std::move(state));
  const absl::Status status = evaluator.Read(absl::StrReplaceAll(text, {{"\r\n", "\n"}}), 1);
  if (!status.ok()) return status;
  ShellScript script = evaluator.Finish();
  if (absl::StrContains(text, "\r\n")) {
    script.notes.insert(script.notes.begin(),
                        {0,
                         "the lines end with CR LF, which bash does not accept; they are read as "
                         "if they ended with LF"});
  }
  return script;
}

ShellState StateOf(const std::map<std::string, std::string>& variables) {
  ShellState state;
  for (const auto& [name, value] : variables) {
    state.variables[name] = {{KnownText(value, 1)}, false, false};
  }
  return state;
}

std::vector<std::string> ShellWordsOf(const std::string& line) {
  std::vector<std::string> words;
  const absl::StatusOr<ShellTokens> tokens = ReadShellTokens(line);
  if (!tokens.ok()) return words;
  ShellState state;
  ShellExpander expander(state);
  for (const ShellToken& token : tokens->tokens) {
    if (token.kind != ShellToken::Kind::kWord) continue;
    words.push_back(BytesOf(expander.Value({token.text, 1})));
  }
  return words;
}

}  // namespace trainyard::cli
