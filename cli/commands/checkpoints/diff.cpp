#include "cli/commands/checkpoints/diff.h"

#include <memory>

#include "cli/commands/checkpoints/checkpoint_program.h"

namespace trainyard::cli {

void AddCheckpointDiff(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<CheckpointDiffOptions>();
  CLI::App* command = noun.add_subcommand(
      "diff", "Compare two checkpoints, whose layouts may differ; exit 1 if the contents differ");
  command->add_option("a", options->a, "first checkpoint")->required();
  command->add_option("b", options->b, "second checkpoint")->required();
  command
      ->add_option("--tolerance", options->tolerance,
                   "treat two tensors as equal if their relative L2 difference |B - A| / |A| is at "
                   "most NUMBER (default: 0, which requires identical bits)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("NUMBER");
  command
      ->add_option("--only", options->only,
                   "compare only these tensors: weights, optimizer, or a prefix of tensor names")
      ->check([](const std::string& only) {
        return only.empty() ? "must not be empty; check for an unset shell variable" : "";
      })
      ->type_name("WHAT");
  command->add_flag("-a,--all", options->all, "also list equal tensors");
  grammar.runners[command] = [options](Context& context) {
    return RunCheckpointDiff(*options, context);
  };
}

std::vector<std::string> DiffWords(const CheckpointDiffOptions& options, OutputFormat format) {
  std::vector<std::string> words = {"diff"};
  if (!options.tolerance.empty()) words.push_back("--tolerance=" + options.tolerance);
  if (!options.only.empty()) words.push_back("--only=" + options.only);
  if (options.all) words.push_back("--all");
  if (format == OutputFormat::kJson) words.push_back("--output=json");
  words.insert(words.end(), {"--", options.a, options.b});
  return words;
}

Outcome RunCheckpointDiff(const CheckpointDiffOptions& options, Context& context) {
  const bool is_known = IsTable(context.format) || context.format == OutputFormat::kJson;
  if (!is_known) return RefuseFormat("table or json");
  return RunCheckpointProgram(DiffWords(options, context.format), context);
}

}  // namespace trainyard::cli
