#include "cli/grammar/planning_grammar.h"

#include <memory>

#include "cli/convert/convert.h"

namespace trainyard::cli {
namespace {

// Returns the option of the device, which the others require.
CLI::Option* AddClusterOptions(CLI::App& command, ClusterOptions& options) {
  CLI::Option* device =
      command.add_option("--device", options.request.device,
                         "find the best layout on GPUs such as H200, without a controller");
  command.add_option("--nodes", options.request.nodes, "nodes of that cluster (resources.nodes)")
      ->check(CLI::Range(1, 16384))
      ->needs(device);
  command.add_option("--per-node", options.request.per_node, "GPUs of each of its nodes (8)")
      ->check(CLI::Range(1, 1024))
      ->needs(device);
  command
      .add_option("--network", options.request.network,
                  "network between its nodes, such as ndr or roce400 (the device's usual one)")
      ->needs(device);
  command
      .add_option("--storage", options.request.storage,
                  "of the token files: nvme, nfs or object (nvme)")
      ->needs(device);
  command
      .add_option("--calibration", options.calibration,
                  "file of `trainyard tune --calibrate`, by which times are corrected")
      ->needs(device)
      ->type_name("FILE");
  return device;
}

CLI::Option* AddSvgOption(CLI::App& command, std::string& path, const char* what) {
  return command.add_option("--svg", path, what)->type_name("FILE");
}

void AddScale(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<ScaleOptions>();
  CLI::App* command = parent.add_subcommand(
      "scale", "Divide a budget between parameters and tokens by scaling laws");
  command->add_option("--flops", options->flops, "operations, such as 1.36e21");
  command->add_option("--parameters", options->parameters, "such as 7B");
  command->add_option("--tokens", options->tokens, "such as 2T");
  command->add_option("--like", options->like, "also the best shape of this recipe's family");
  AddSvgOption(*command, options->svg, "write a figure of loss by operations");
  grammar.runners[command] = [options](Context& context) { return RunScale(*options, context); };
}

void AddFailureOptions(CLI::App& command, CostOptions& options) {
  const CLI::Range seconds(0.001, 1e9);
  command
      .add_option("--gpu-hours-per-failure", options.gpu_hours_per_failure,
                  "hours of one GPU for each unplanned stop (50,700: LLaMA 3's)")
      ->check(CLI::Range(1e-3, 1e12));
  command
      .add_option("--checkpoint-seconds", options.checkpoint_seconds,
                  "that training waits for a checkpoint (30)")
      ->check(seconds);
  command
      .add_option("--restart-seconds", options.restart_seconds,
                  "from a stop until training goes on (300)")
      ->check(seconds);
  command
      .add_option("--checkpoint-interval", options.checkpoint_interval,
                  "seconds between checkpoints (the best)")
      ->check(seconds);
}

void AddCost(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<CostOptions>();
  CLI::App* command =
      parent.add_subcommand("cost", "Days, GPU-hours, failures and dollars of a run");
  AddJobFileOptions(*command, options->job)->required(false);
  command->add_option("--parameters", options->parameters, "without a job file, such as 7B");
  command->add_option("--tokens", options->tokens, "without a job file, such as 2T");
  AddClusterOptions(*command, options->cluster)->required();
  command
      ->add_option("--layout", options->layout,
                   "best or written, which is the job file's (written where it can run)")
      ->check(CLI::IsMember({"best", "written"}));
  command->add_option("--mfu", options->mfu, "without a job file (0.45)")
      ->check(CLI::Range(0.001, 1.0));
  command->add_option("--price", options->price, "dollars for a GPU-hour (those of known clouds)")
      ->check(CLI::Range(1e-4, 1e6));
  AddSvgOption(*command, options->svg, "write a figure of goodput by checkpoint interval");
  AddFailureOptions(*command, *options);
  grammar.runners[command] = [options](Context& context) { return RunCost(*options, context); };
}

void AddConvert(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App* command = parent.add_subcommand(
      "convert", "Print a job file for another trainer's command, script or configuration");
  command
      ->add_option("files", options->files,
                   "command line, sbatch script, TOML, JSON or YAML of one run; - reads standard "
                   "input")
      ->required();
  command->add_option("--from", options->format, "the format, where it is not found by itself")
      ->check(CLI::IsMember(ConvertFormats()));
  command->add_option("--nodes", options->nodes, "for files that do not name a cluster")
      ->check(CLI::Range(1, 16384));
  command->add_option("--per-node", options->per_node, "GPUs on each of its nodes")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--keep-command", options->keeps_command,
                    "run the script's own program, also where trainyard-trainer could do its run");
  command->add_option("--name", options->name, "name of the job");
  grammar.runners[command] = [options](Context& context) { return RunConvert(*options, context); };
}

void AddRecipeCheck(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<RecipeCheckOptions>();
  CLI::App* command = noun.add_subcommand(
      "check", "Count parameters, and find settings and figures that cannot be");
  command->add_option("names", options->names, "recipes or job files");
  command->add_flag("--all", options->all, "every recipe");
  command->add_flag("--renew", options->renew, "write the lines `# Expected on` anew");
  grammar.runners[command] = [options](Context& context) {
    return RunRecipeCheck(*options, context);
  };
}

void AddRecipeNew(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<RecipeNewOptions>();
  CLI::App* command = noun.add_subcommand(
      "new", "Print a recipe for other hardware: layout, batch and learning rate");
  command->add_option("--like", options->like, "a recipe, or a number of parameters such as 3B")
      ->required();
  AddClusterOptions(*command, options->cluster)->required();
  command
      ->add_option("--global-batch", options->global_batch,
                   "samples of a step (in proportion to the GPUs)")
      ->check(CLI::Range(1, 16777216));
  command
      ->add_option("--lr-rule", options->rate_rule,
                   "how the learning rate follows the batch: sqrt, linear or keep")
      ->check(CLI::IsMember({"sqrt", "linear", "keep"}));
  command->add_option("--name", options->name, "name of the job");
  grammar.runners[command] = [options](Context& context) {
    return RunRecipeNew(*options, context);
  };
}

void AddRecipeCommands(CLI::App& app, Grammar& grammar) {
  const auto list = [](Context& context) { return RunRecipeList(context); };
  CLI::App* noun = app.add_subcommand("recipe", "Recipes: list, show, check, diff, new");
  noun->alias("recipes");
  noun->require_subcommand(0, 1);
  grammar.runners[noun] = list;
  grammar.runners[noun->add_subcommand("list", "List recipes")] = list;
  CLI::App* show = noun->add_subcommand("show", "Print a recipe");
  const auto name = std::make_shared<std::string>();
  show->add_option("name", *name, "name of the recipe")->required();
  grammar.runners[show] = [name](Context& context) { return RunRecipeShow(*name, context); };
  CLI::App* diff = noun->add_subcommand("diff", "Settings that differ between two recipes");
  const auto other = std::make_shared<std::string>();
  diff->add_option("a", *name, "recipe or job file")->required();
  diff->add_option("b", *other, "recipe or job file")->required();
  grammar.runners[diff] = [name, other](Context& context) {
    return RunRecipeDiff(*name, *other, context);
  };
  AddRecipeCheck(*noun, grammar);
  AddRecipeNew(*noun, grammar);
}

}  // namespace

CLI::Option* AddJobFileOptions(CLI::App& command, JobFileOptions& options) {
  CLI::Option* file =
      command.add_option("file", options.file, "job file, or the name of a recipe")->required();
  // No extra arguments, here and below: `--set a=1 file` must not treat the file as a setting.
  command
      .add_option("--set", options.sets, "override a setting, such as train.steps=200; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command.add_option("--name", options.name, "name of the job");
  return file;
}

void AddPlan(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* command =
      parent.add_subcommand("plan", "Show every setting with its origin, and where ranks would go");
  AddJobFileOptions(*command, options->job);
  command->add_flag("--offline", options->offline, "do not ask the controller");
  CLI::Option* device = AddClusterOptions(*command, options->cluster);
  command
      ->add_option("--layout", options->layout,
                   "with --device: plan the best layout or the written one, the job file's (best)")
      ->check(CLI::IsMember({"best", "written"}))
      ->needs(device);
  AddSvgOption(*command, options->svg, "write a figure of the step's time by part")->needs(device);
  grammar.runners[command] = [options, &grammar](Context& context) {
    options->job.command = grammar.command;
    return RunPlan(*options, context);
  };
}

void AddPlanningCommands(CLI::App& app, Grammar& grammar) {
  AddRecipeCommands(app, grammar);
  AddScale(app, grammar);
  AddCost(app, grammar);
  AddConvert(app, grammar);
}

}  // namespace trainyard::cli
