// Evaluates the syntax tree of a shell script.
#ifndef TRAINYARD_CLI_CONVERT_SHELL_SHELL_EVALUATOR_H_
#define TRAINYARD_CLI_CONVERT_SHELL_SHELL_EVALUATOR_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cli/convert/shell/shell_expansion.h"
#include "cli/convert/shell/shell_script.h"
#include "cli/convert/shell/shell_syntax.h"

namespace trainyard::cli {

class ShellEvaluator {
 public:
  explicit ShellEvaluator(ShellState state) : state_(std::move(state)) {}

  absl::Status Read(const std::string& text, int first_line);
  ShellScript Finish();

 private:
  // The exit status of a command.
  enum class Status {
    kTrue,
    kFalse,
    kRan,      // A program, which is assumed to succeed.
    kUnknown,  // A test that depends on something outside the script.
  };
  enum class Flow { kNext, kBreak, kContinue, kReturn, kExit };
  using Scope = std::vector<std::pair<std::string, ShellValue>>;

  Status RunList(const ShellList& list);
  Status Run(const ShellNode& node);
  Status RunIf(const ShellNode& node);
  Status RunCase(const ShellNode& node);
  Status RunFor(const ShellNode& node);
  Status RunForArithmetic(const ShellNode& node);
  Status RunWhile(const ShellNode& node);
  Status RunSubshell(const ShellNode& node);
  Status RunCondition(const ShellList& condition);
  // Runs the body of a loop once. Returns false if the loop ends.
  bool RunBody(const ShellList& body);
  Status TruthOf(const RawWord& expression);

  Status RunSimple(const ShellNode& node);
  Status RunWords(const ShellNode& node, std::vector<ShellText> words,
                  const std::vector<RawWord>& assignments);
  bool RunBuiltin(const std::vector<ShellText>& words, Status& status);
  bool RunJump(const std::vector<ShellText>& words);
  Status RunTest(const ShellNode& node, std::vector<ShellText> words);
  Status RunFunction(const ShellNode& body, const std::vector<ShellText>& words);
  Status RunText(const std::vector<ShellText>& words);
  void Declare(const ShellNode& node);
  // Returns the name of the variable.
  std::string Assign(const RawWord& assignment);
  void Export(const std::string& name, int line, int command);
  void Set(const std::vector<ShellText>& words);
  void MakeOpen(const std::string& name, int line);
  void WriteDocument(const ShellNode& node);
  void Emit(const ShellNode& node, const std::vector<ShellText>& words,
            const std::vector<RawWord>& assignments);
  void LeaveOut(const ShellNode& node, const std::string& what);

  // Counts one step. Returns false after the last one, or after an error.
  bool Step(int line);

  ShellState state_;
  ShellExpander expander_{state_};
  ShellScript script_;
  absl::Status status_;
  Flow flow_ = Flow::kNext;
  int jumps_ = 0;  // Loops that `break` or `continue` still leaves.
  int steps_ = 0;
  int depth_ = 0;
  std::vector<Scope> scopes_;  // Values that `local` has hidden, for each function.
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_CONVERT_SHELL_SHELL_EVALUATOR_H_
