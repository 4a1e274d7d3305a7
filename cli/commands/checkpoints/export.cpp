#include "cli/commands/checkpoints/export.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "cli/commands/checkpoints/checkpoint_program.h"

namespace trainyard::cli {

void AddCheckpointExport(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<CheckpointExportOptions>();
  CLI::App* command = noun.add_subcommand(
      "export", "Export a checkpoint's weights as a Hugging Face directory for transformers");
  command->add_option("in", options->from, "checkpoint to export")->required();
  command->add_option("dir", options->to, "directory to create")->required();
  command
      ->add_option("--dtype", options->dtype,
                   "data type of the exported weights (default: as stored)")
      ->check(CLI::IsMember({"fp32", "bf16"}));
  command
      ->add_option("--shard-bytes", options->shard_bytes,
                   "maximum bytes of tensors per file (default: 5000000000)")
      ->check(CLI::PositiveNumber);
  command->add_flag("--force", options->force, "replace an earlier export at DIR");
  grammar.runners[command] = [options](Context& context) {
    return RunCheckpointExport(*options, context);
  };
}

std::vector<std::string> ExportWords(const CheckpointExportOptions& options) {
  std::vector<std::string> words = {"export"};
  if (!options.dtype.empty()) words.push_back("--dtype=" + options.dtype);
  if (options.shard_bytes > 0) {
    words.push_back(absl::StrCat("--shard-bytes=", options.shard_bytes));
  }
  if (options.force) words.push_back("--force");
  words.insert(words.end(), {"--", options.from, options.to});
  return words;
}

Outcome RunCheckpointExport(const CheckpointExportOptions& options, Context& context) {
  if (!IsTable(context.format)) return RefuseFormat("table");
  return RunCheckpointProgram(ExportWords(options), context);
}

}  // namespace trainyard::cli
