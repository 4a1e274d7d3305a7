#include "cli/commands/checkpoints/reshard.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "cli/commands/checkpoints/checkpoint_program.h"

namespace trainyard::cli {

void AddCheckpointReshard(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<CheckpointReshardOptions>();
  CLI::App* command =
      noun.add_subcommand("reshard", "Copy a checkpoint into a different number of files");
  command->add_option("in", options->from, "checkpoint to copy")->required();
  command->add_option("out", options->to, "directory to create")->required();
  command
      ->add_option("--files", options->files,
                   "number of files (default: enough for about 4 GiB per file)")
      ->check(CLI::Range(1, 99999));
  command->add_flag("--weights-only", options->weights_only,
                    "omit the optimizer state; no job can resume from the result");
  command->add_flag("--force", options->force, "replace a checkpoint at OUT");
  grammar.runners[command] = [options](Context& context) {
    return RunCheckpointReshard(*options, context);
  };
}

std::vector<std::string> ReshardWords(const CheckpointReshardOptions& options) {
  std::vector<std::string> words = {"reshard"};
  if (options.files > 0) words.push_back(absl::StrCat("--files=", options.files));
  if (options.weights_only) words.push_back("--weights-only");
  if (options.force) words.push_back("--force");
  words.insert(words.end(), {"--", options.from, options.to});
  return words;
}

Outcome RunCheckpointReshard(const CheckpointReshardOptions& options, Context& context) {
  if (!IsTable(context.format)) return RefuseFormat("table");
  return RunCheckpointProgram(ReshardWords(options), context);
}

}  // namespace trainyard::cli
