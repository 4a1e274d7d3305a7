// The part of ShellEvaluator that runs simple commands: assignments, builtins and functions.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/convert/shell/shell_condition.h"
#include "cli/convert/shell/shell_evaluator.h"
#include "cli/convert/shell/shell_token.h"

namespace trainyard::cli {
namespace {

bool IsDeclaration(const std::string& word) {
  static const std::set<std::string> words = {"export", "declare", "typeset", "local", "readonly"};
  return words.contains(word);
}

// True for words before a command that do not change it.
bool IsPrefix(const std::string& word) {
  static const std::set<std::string> words = {"time", "exec", "nohup", "command", "builtin", "env"};
  return words.contains(word);
}

int LineOf(const ShellText& text, int fallback) {
  return text.empty() ? fallback : text.front().line;
}

std::string NameIn(const std::string& assignment) {
  return assignment.substr(0, assignment.find_first_of("[+="));
}

}  // namespace

ShellEvaluator::Status ShellEvaluator::RunSimple(const ShellNode& node) {
  size_t first = 0;
  while (first < node.words.size() && ShellAssignmentLength(node.words[first].text) > 0) ++first;
  const auto begin = node.words.begin() + static_cast<std::ptrdiff_t>(first);
  const std::vector<RawWord> assignments(node.words.begin(), begin);
  if (first == node.words.size()) {
    for (const RawWord& assignment : assignments) Assign(assignment);
    return Status::kTrue;
  }
  if (IsDeclaration(begin->text)) {
    Declare(node);
    return Status::kTrue;
  }
  std::vector<ShellText> words;
  if (begin->text == "[[") {
    for (auto word = begin; word != node.words.end(); ++word) {
      words.push_back(expander_.Value(*word));
    }
  } else {
    words = expander_.Fields({begin, node.words.end()});
  }
  if (words.empty()) return Status::kTrue;
  return RunWords(node, std::move(words), assignments);
}

ShellEvaluator::Status ShellEvaluator::RunWords(const ShellNode& node, std::vector<ShellText> words,
                                                const std::vector<RawWord>& assignments) {
  std::vector<RawWord> variables = assignments;
  while (words.size() > 1 && IsPrefix(BytesOf(words.front()))) {
    const bool is_env = BytesOf(words.front()) == "env";
    words.erase(words.begin());
    while (is_env && words.size() > 1 && ShellAssignmentLength(BytesOf(words.front())) > 0) {
      variables.push_back({BytesOf(words.front()), LineOf(words.front(), node.line)});
      words.erase(words.begin());
    }
  }
  const std::string name = BytesOf(words.front());
  if (name == "[" || name == "[[" || name == "test") return RunTest(node, std::move(words));
  if (name == "eval") return RunText(words);
  if (const auto function = state_.functions.find(name); function != state_.functions.end()) {
    for (const RawWord& assignment : variables) Assign(assignment);
    const ShellNode body = function->second;  // Copied: the function may define itself again.
    return RunFunction(body, words);
  }
  Status status = Status::kTrue;
  if (RunBuiltin(words, status)) return status;
  WriteDocument(node);
  Emit(node, words, variables);
  return Status::kRan;
}

ShellEvaluator::Status ShellEvaluator::RunTest(const ShellNode& node,
                                               std::vector<ShellText> words) {
  const bool is_extended = BytesOf(words.front()) == "[[";
  const bool is_closed = BytesOf(words.front()) != "test";
  words.erase(words.begin());
  if (is_closed && !words.empty()) words.pop_back();
  std::set<std::string> unset;
  const std::optional<bool> truth = EvaluateTest(words, is_extended, unset);
  for (const std::string& variable : unset) {
    script_.notes.push_back(
        {node.line, absl::StrCat(variable,
                                 " is not set in the script and is taken as unset; pass "
                                 "--var NAME=VALUE if the caller sets it")});
  }
  if (!truth.has_value()) return Status::kUnknown;
  return *truth ? Status::kTrue : Status::kFalse;
}

bool ShellEvaluator::RunJump(const std::vector<ShellText>& words) {
  const std::string name = BytesOf(words.front());
  if (name == "exit") flow_ = Flow::kExit;
  if (name == "return") flow_ = Flow::kReturn;
  if (name == "break" || name == "continue") {
    flow_ = name == "break" ? Flow::kBreak : Flow::kContinue;
    if (words.size() < 2 || !absl::SimpleAtoi(BytesOf(words[1]), &jumps_)) jumps_ = 1;
  }
  return flow_ != Flow::kNext;
}

// Returns false if the command is not a builtin that the evaluation handles.
bool ShellEvaluator::RunBuiltin(const std::vector<ShellText>& words, Status& status) {
  const std::string name = BytesOf(words.front());
  if (name == "true" || name == ":" || RunJump(words)) return true;
  if (name == "false") {
    status = Status::kFalse;
  } else if (name == "shift") {
    int count = 1;
    if (words.size() > 1 && !absl::SimpleAtoi(BytesOf(words[1]), &count)) count = 0;
    const auto size = static_cast<int>(state_.arguments.size());
    state_.arguments.erase(state_.arguments.begin(),
                           state_.arguments.begin() + std::clamp(count, 0, size));
  } else if (name == "let") {
    for (size_t i = 1; i < words.size(); ++i) status = TruthOf({BytesOf(words[i]), 1});
  } else if (name == "unset") {
    for (size_t i = 1; i < words.size(); ++i) {
      const std::string variable = BytesOf(words[i]);
      // The script itself made it empty, so that it is not open.
      if (!absl::StartsWith(variable, "-"))
        state_.variables[variable] = {{ShellText()}, false, false};
    }
  } else if (name == "read" || name == "mapfile" || name == "readarray") {
    for (size_t i = 1; i < words.size(); ++i) {
      const std::string variable = BytesOf(words[i]);
      if (!absl::StartsWith(variable, "-")) MakeOpen(variable, LineOf(words[i], 1));
    }
  } else if (name == "set") {
    Set(words);
  } else {
    return false;
  }
  return true;
}

// `set -- a b` gives the script new arguments; other forms set options of the shell.
void ShellEvaluator::Set(const std::vector<ShellText>& words) {
  for (size_t i = 1; i < words.size(); ++i) {
    if (BytesOf(words[i]) != "--") continue;
    state_.arguments.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
    state_.has_arguments = true;
    return;
  }
}

ShellEvaluator::Status ShellEvaluator::RunFunction(const ShellNode& body,
                                                   const std::vector<ShellText>& words) {
  std::vector<ShellText> arguments(words.begin() + 1, words.end());
  std::swap(arguments, state_.arguments);
  const bool had_arguments = std::exchange(state_.has_arguments, true);
  scopes_.emplace_back();
  const Status status = Run(body);
  if (flow_ == Flow::kReturn) flow_ = Flow::kNext;
  for (auto& [name, value] : scopes_.back()) {
    if (value.items.empty() && !value.is_list) {
      state_.variables.erase(name);
    } else {
      state_.variables[name] = std::move(value);
    }
  }
  scopes_.pop_back();
  std::swap(arguments, state_.arguments);
  state_.has_arguments = had_arguments;
  return status;
}

// `eval` reads its arguments as a script.
ShellEvaluator::Status ShellEvaluator::RunText(const std::vector<ShellText>& words) {
  std::vector<std::string> parts;
  for (size_t i = 1; i < words.size(); ++i) parts.push_back(BytesOf(words[i]));
  if (parts.empty()) return Status::kTrue;
  const int line = LineOf(words[1], 1);
  std::vector<int> blanks;
  const absl::StatusOr<ShellList> list = ParseShell(absl::StrJoin(parts, " "), line, blanks);
  if (!list.ok()) {
    status_ = list.status();
    return Status::kUnknown;
  }
  return RunList(*list);
}

void ShellEvaluator::Declare(const ShellNode& node) {
  const std::string& kind = node.words.front().text;
  bool exports = kind == "export";
  for (size_t i = 1; i < node.words.size(); ++i) {
    const RawWord& word = node.words[i];
    if (absl::StartsWith(word.text, "-")) {
      exports = exports || absl::StrContains(word.text, 'x');
      continue;
    }
    const bool is_assignment = ShellAssignmentLength(word.text) > 0;
    const std::string name = NameIn(word.text);
    if (!std::all_of(name.begin(), name.end(), IsShellNameByte)) continue;
    if (kind == "local" && !scopes_.empty()) {
      const auto old = state_.variables.find(name);
      scopes_.back().emplace_back(name, old == state_.variables.end() ? ShellValue() : old->second);
      if (!is_assignment) state_.variables[name] = {{ShellText()}, false, false};
    }
    if (is_assignment) Assign(word);
    if (exports) Export(name, word.line, -1);
  }
}

std::string ShellEvaluator::Assign(const RawWord& assignment) {
  const size_t length = ShellAssignmentLength(assignment.text);
  const std::string name = NameIn(assignment.text);
  const bool appends = assignment.text[length - 2] == '+';
  const bool has_subscript = assignment.text[name.size()] == '[';
  const RawWord right = {assignment.text.substr(length), assignment.line};
  ShellValue value;
  value.is_list = absl::StartsWith(right.text, "(") && absl::EndsWith(right.text, ")");
  value.items =
      value.is_list ? expander_.Items(right) : std::vector<ShellText>{expander_.Value(right)};
  // Elements of lists are rarely set one by one. The list is open then.
  if (has_subscript) {
    MakeOpen(name, assignment.line);
    return name;
  }
  ShellValue& variable = state_.variables[name];
  if (!appends) {
    variable.items = std::move(value.items);
    variable.is_list = value.is_list;
  } else if (value.is_list || variable.items.empty()) {
    variable.items.insert(variable.items.end(), value.items.begin(), value.items.end());
    variable.is_list = variable.is_list || value.is_list;
  } else {
    ShellText& text = variable.items.front();
    text.insert(text.end(), value.items.front().begin(), value.items.front().end());
  }
  if (variable.is_exported) Export(name, assignment.line, -1);
  return name;
}

void ShellEvaluator::Export(const std::string& name, int line, int command) {
  const auto found = state_.variables.find(name);
  if (found == state_.variables.end()) return;  // The caller sets the variable.
  if (command < 0) found->second.is_exported = true;
  const ShellText text = found->second.items.empty() ? ShellText() : found->second.items.front();
  script_.exports.push_back({name, BytesOf(text), LineOf(text, line), command, OpenPart(text)});
}

void ShellEvaluator::MakeOpen(const std::string& name, int line) {
  state_.variables[name] = {{OpenText(absl::StrCat("$", name), line)}, false, false};
}

void ShellEvaluator::WriteDocument(const ShellNode& node) {
  if (!node.has_document || node.target.text.empty()) return;
  const ShellText text = node.is_document_quoted ? KnownText(node.document.text, node.document.line)
                                                 : expander_.Document(node.document);
  script_.files.push_back(
      {BytesOf(expander_.Value(node.target)), BytesOf(text), node.document.line});
}

void ShellEvaluator::Emit(const ShellNode& node, const std::vector<ShellText>& words,
                          const std::vector<RawWord>& assignments) {
  const auto index = static_cast<int>(script_.commands.size());
  if (!assignments.empty()) {
    const std::map<std::string, ShellValue> before = state_.variables;
    for (const RawWord& assignment : assignments) {
      Export(Assign(assignment), assignment.line, index);
    }
    state_.variables = before;
  }
  ScriptCommand command;
  for (const ShellText& word : words) {
    command.push_back({BytesOf(word), LineOf(word, node.line), OpenPart(word)});
  }
  if (node.has_document) script_.readers.insert(index);
  script_.commands.push_back(std::move(command));
}

}  // namespace trainyard::cli
