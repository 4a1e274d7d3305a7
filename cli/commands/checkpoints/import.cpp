#include "cli/commands/checkpoints/import.h"

#include <memory>

#include "cli/commands/checkpoints/checkpoint_program.h"

namespace trainyard::cli {

void AddCheckpointImport(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<CheckpointImportOptions>();
  CLI::App* command = noun.add_subcommand(
      "import",
      "Create a checkpoint from a Hugging Face directory and print the job file's `model` section");
  command->add_option("dir", options->from, "directory with config.json and safetensors")
      ->required();
  command
      ->add_option("out", options->to,
                   "directory of the new checkpoint; to train from it, set checkpoint.resume_from "
                   "in the job file to this directory")
      ->required();
  command->add_flag("--force", options->force, "replace a checkpoint at OUT");
  grammar.runners[command] = [options](Context& context) {
    return RunCheckpointImport(*options, context);
  };
}

std::vector<std::string> ImportWords(const CheckpointImportOptions& options) {
  std::vector<std::string> words = {"import"};
  if (options.force) words.push_back("--force");
  words.insert(words.end(), {"--", options.from, options.to});
  return words;
}

Outcome RunCheckpointImport(const CheckpointImportOptions& options, Context& context) {
  if (!IsTable(context.format)) return RefuseFormat("table");
  return RunCheckpointProgram(ImportWords(options), context);
}

}  // namespace trainyard::cli
