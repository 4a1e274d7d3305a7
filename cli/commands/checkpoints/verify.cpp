#include "cli/commands/checkpoints/verify.h"

#include <memory>

#include "cli/commands/checkpoints/checkpoint_program.h"

namespace trainyard::cli {

void AddCheckpointVerify(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<CheckpointVerifyOptions>();
  CLI::App* command = noun.add_subcommand("verify",
                                          "Read a checkpoint on this machine and verify every "
                                          "byte; exit 74 if the checkpoint is damaged");
  command->add_option("dir", options->directory, "a checkpoint, or a job's checkpoint directory")
      ->required();
  command->add_flag("-a,--all", options->all,
                    "verify every checkpoint in the directory, not only the newest");
  grammar.runners[command] = [options](Context& context) {
    return RunCheckpointVerify(*options, context);
  };
}

std::vector<std::string> VerifyWords(const CheckpointVerifyOptions& options) {
  std::vector<std::string> words = {"verify"};
  if (options.all) words.push_back("--all");
  // "--" is needed because a path may begin with '-'.
  words.insert(words.end(), {"--", options.directory});
  return words;
}

Outcome RunCheckpointVerify(const CheckpointVerifyOptions& options, Context& context) {
  if (!IsTable(context.format)) return RefuseFormat("table");
  return RunCheckpointProgram(VerifyWords(options), context);
}

}  // namespace trainyard::cli
