// The command `diff`.
#ifndef TRAINYARD_CLI_COMMANDS_JOBS_READING_CODE_DIFF_H_
#define TRAINYARD_CLI_COMMANDS_JOBS_READING_CODE_DIFF_H_

#include <string>

#include "cli/context/context.h"
#include "cli/grammar/grammar.h"

namespace trainyard::cli {

struct CodeDiffOptions {
  std::string before;
  std::string after;        // Empty: show the uncommitted changes of `before`.
  bool files_only = false;  // Do not show lines.
};

void AddCodeDiff(CLI::App& parent, Grammar& grammar);
Outcome RunCodeDiff(const CodeDiffOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_JOBS_READING_CODE_DIFF_H_
