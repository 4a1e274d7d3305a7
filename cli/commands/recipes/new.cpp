#include "cli/commands/recipes/new.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <memory>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "cli/commands/planning/plan_layout.h"
#include "cli/grammar/cluster_options.h"
#include "cli/output/terminal/readable.h"
#include "cli/recipes/expected_line.h"
#include "controller/planner/amount.h"
#include "controller/planner/answer/layout_plan.h"
#include "controller/planner/device_rates.h"
#include "controller/planner/run_findings.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/loader.h"
#include "proto/jobspec/recipe_files.h"
#include "proto/model/model_size.h"
#include "proto/rules/batch_plan.h"
#include "proto/rules/fp8_products.h"
#include "proto/rules/run_rules.h"
#include "proto/support/job_kind.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

struct Base {
  std::string name;  // As written in `extends`.
  RunConfig config;
};

absl::StatusOr<Base> ReadBase(const std::string& name, const Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(
      const ResolvedSpec resolved,
      ResolveJobFile(name, {}, FileSystemReader(context.recipe_directories)));
  if (!RunsOurTrainer(resolved.spec)) {
    return absl::InvalidArgumentError(
        absl::StrCat("`", name, "` ", ProgramRulesOf(resolved.spec).text,
                     ", but --like requires a recipe of trainyard-trainer"));
  }
  return Base{name, RunConfigOf(resolved.spec)};
}

// Returns the GPU recipe whose model size is nearest to `parameters` by ratio. Recipes in FP8 are
// skipped, because each has a counterpart in bf16.
absl::StatusOr<Base> NearestBase(double parameters, const Context& context) {
  absl::StatusOr<Base> nearest = absl::NotFoundError("no recipe for GPUs found");
  double distance = 0;
  for (const Recipe& recipe : FindRecipes(context.recipe_directories)) {
    const absl::StatusOr<Base> base = ReadBase(recipe.name, context);
    if (!base.ok() || base->config.resources.device != DeviceKind::kGpu) continue;
    if (HasFp8(base->config.train)) continue;
    const auto count = static_cast<double>(ParameterCount(base->config.model));
    const double away = std::abs(std::log(count / parameters));
    if (nearest.ok() && away >= distance) continue;
    nearest = base;
    distance = away;
  }
  return nearest;
}

absl::StatusOr<Base> FindBase(const std::string& like, const Context& context) {
  const std::optional<planner::Amount> size = planner::ReadAmount(like);
  if (size.has_value() && size->value > 0) return NearestBase(size->value, context);
  return ReadBase(like, context);
}

int64_t DevicesOf(const RunConfig& config) {
  return config.resources.nodes * config.resources.slots_per_node;
}

// Returns the base's batch size, scaled in proportion to the number of devices. With the rest of
// the layout unchanged, the data-parallel size grows in the same proportion.
int64_t ScaledBatch(const RunConfig& base, int64_t devices) {
  const double target = static_cast<double>(base.train.global_batch) *
                        static_cast<double>(devices) / static_cast<double>(DevicesOf(base));
  const int64_t unit = target >= static_cast<double>(devices) ? devices : 1;
  return std::max<int64_t>(std::llround(target / static_cast<double>(unit)), 1) * unit;
}

// "llama3-8b-4x8-h200".
std::string NameOn(const std::string& name, const planner::Cluster& cluster) {
  std::string device(cluster.device->rating->name);
  for (char& letter : device) {
    letter = letter == ' ' ? '-' : static_cast<char>(std::tolower(letter));
  }
  return absl::StrCat(name, "-", cluster.nodes, "x", cluster.per_node, "-", device);
}

double RateFactor(const std::string& rule, double batches) {
  if (rule == "keep") return 1;
  return rule == "linear" ? batches : std::sqrt(batches);
}

// Rejects a learning rate that is higher than in any published run of a model of this size. Scaling
// rules for the learning rate hold only up to an unknown batch size.
absl::Status CheckRate(const RunConfig& base, const RecipeNewOptions& options, double factor) {
  const double rate = base.optimizer.lr * factor;
  const double highest = std::max(planner::HighestUsualRate(base.model), base.optimizer.lr);
  if (rate <= highest) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--lr-rule ", options.rate_rule, " raises the learning rate to ", NumberText(rate, 3), " (",
      NumberText(base.optimizer.lr, 3), " for the reference batch of ", base.train.global_batch,
      " samples, times ", NumberText(factor, 3),
      "), but no published run of a model of this size uses more than ", NumberText(highest, 3),
      "\npass a smaller --global-batch, --lr-rule sqrt or --lr-rule keep"));
}

// A new job file and the recipe that it extends.
struct Made {
  Base base;
  planner::LayoutPlan plan;
  double rate = 1;  // Factor by which learning rates are multiplied.
  std::string name;
};

// Sets the length of the run so that the number of samples stays the same. Lengths in steps are
// converted to samples with the base's batch size.
void SetLength(const RunConfig& base, RunConfig& config) {
  const int64_t samples = BatchPlan(base.train).SamplesThrough(base.train.steps);
  if (base.train.tokens == 0) config.train.samples = samples;
  config.train.steps = 0;
  FillDerived(DevicesOf(config), config);  // Sets the number of steps for the new batch size.
  const int64_t batch = base.train.global_batch;
  ScheduleConfig& schedule = config.schedule;
  if (schedule.warmup_steps > 0) schedule.warmup_samples = schedule.warmup_steps * batch;
  if (schedule.decay_steps > 0) schedule.decay_samples = schedule.decay_steps * batch;
  schedule.warmup_steps = 0;
  schedule.decay_steps = 0;
}

void RemoveFp8(TrainConfig& train) {
  const TrainConfig usual;
  train.fp8 = usual.fp8;
  train.fp8_amax_history_len = usual.fp8_amax_history_len;
  train.fp8_amax_compute_algo = usual.fp8_amax_compute_algo;
}

RunConfig ScaledConfig(const RunConfig& base, const planner::Cluster& cluster, int64_t batch) {
  RunConfig config = base;
  config.resources.nodes = cluster.nodes;
  config.resources.slots_per_node = cluster.per_node;
  config.train.global_batch = batch;
  // Removes the batch ramp-up. A ramp-up is designed for one batch size, and its increments may not
  // divide another batch size.
  config.train.rampup_batch_start = 0;
  config.train.rampup_batch_increment = 0;
  config.train.rampup_batch_samples = 0;
  SetLength(base, config);
  if (cluster.device->fp8_flops == 0) RemoveFp8(config.train);
  return config;
}

std::string Entry(const char* key, int64_t value) {
  return value > 0 ? absl::StrCat(", ", key, ": ", value) : "";
}

std::string NumberOf(double value) { return NumberText(value, 4); }

// Returns a line with all settings that the layout search determines. A setting that is missing
// here would keep the base's value.
std::string LayoutLine(const RunConfig& base, const LayoutConfig& layout) {
  const std::string ep = HasExperts(base.model) ? absl::StrCat(", ep: ", layout.ep) : std::string();
  return absl::StrCat("layout: {tp: ", layout.tp, ", cp: ", layout.cp, ep, ", pp: ", layout.pp,
                      ", vpp: ", layout.vpp, ", zero: ", layout.zero,
                      ", micro_batch: ", layout.micro_batch,
                      ", recompute: ", SettingNameOf(layout.recompute),
                      ", zero_bubble: ", layout.zero_bubble ? "true" : "false",
                      base.layout.recompute_num_layers > 0 ? ", recompute_num_layers: null" : "",
                      base.layout.zero_size > 0 ? ", zero_size: null" : "", "}\n");
}

std::string TrainLine(const RunConfig& base, const RunConfig& config) {
  const bool in_tokens = base.train.tokens > 0;
  return absl::StrCat("train: {global_batch: ", config.train.global_batch,
                      in_tokens ? "" : Entry("samples", config.train.samples),
                      base.train.rampup_batch_start > 0
                          ? ", rampup_batch_start: null, rampup_batch_increment: null, "
                            "rampup_batch_samples: null"
                          : "",
                      config.train.fp8 == base.train.fp8
                          ? ""
                          : ", fp8: none, fp8_amax_history_len: null, fp8_amax_compute_algo: null",
                      "}\n");
}

std::string ScheduleLine(const RunConfig& base, const RunConfig& config) {
  if (base.schedule.warmup_steps == 0 && base.schedule.decay_steps == 0) return "";
  const std::string entries = absl::StrCat(
      base.schedule.warmup_steps > 0 ? Entry("warmup_samples", config.schedule.warmup_samples) : "",
      base.schedule.decay_steps > 0 ? Entry("decay_samples", config.schedule.decay_samples) : "");
  return absl::StrCat("schedule: {", entries.substr(2), "}\n");
}

std::string Comments(const Made& made) {
  const RunConfig& base = made.base.config;
  const RunConfig& config = made.plan.config;
  const planner::Cluster& cluster = made.plan.cluster;
  const double lr = base.optimizer.lr;
  return absl::StrCat(
      "# ", made.base.name, " on ", planner::ClusterText(cluster), ", by `trainyard recipe new`.\n",
      ExpectedText(config, cluster), "\n# - layout: the fastest of ", made.plan.search.tried,
      " layouts, as predicted by the planner.\n# - batch: ", made.base.name, " has ",
      base.train.global_batch, " samples on ", DevicesOf(base), " GPUs; this recipe is for ",
      cluster.devices(), " GPUs.\n# - learning rate: ", NumberOf(lr), " x ", NumberOf(made.rate),
      ", because the batch is ",
      NumberOf(static_cast<double>(config.train.global_batch) /
               static_cast<double>(base.train.global_batch)),
      " times the reference batch of ", base.train.global_batch, " samples.\n",
      base.train.rampup_batch_start > 0
          ? "# - the batch ramp-up is omitted, because it depends on the original batch size.\n"
          : "");
}

std::string TextOf(const Made& made) {
  const RunConfig& base = made.base.config;
  const RunConfig& config = made.plan.config;
  return absl::StrCat(
      Comments(made), "name: ", made.name, "\nextends: ", made.base.name,
      "\nresources: {nodes: ", config.resources.nodes,
      ", slots_per_node: ", config.resources.slots_per_node, "}\n", LayoutLine(base, config.layout),
      TrainLine(base, config), "optimizer: {lr: ", NumberOf(base.optimizer.lr * made.rate),
      ", min_lr: ", NumberOf(base.optimizer.min_lr * made.rate), "}\n", ScheduleLine(base, config));
}

// Rejects a text that `submit` would reject, for example because the name is too long.
absl::Status CheckText(const std::string& text, const Context& context) {
  const JobFileReader recipes = FileSystemReader(context.recipe_directories);
  const auto reader = [&](const std::string& reference,
                          const std::string& from) -> absl::StatusOr<JobFileText> {
    if (from.empty()) return JobFileText{"the new recipe", text};
    return recipes(reference, from == "the new recipe" ? "" : from);
  };
  return ResolveJobFile("new", {}, reader).status();
}

}  // namespace

void AddRecipeNew(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<RecipeNewOptions>();
  CLI::App* command = noun.add_subcommand(
      "new", "Print a recipe with layout, batch and learning rate adapted to other hardware");
  command
      ->add_option("--like", options->like,
                   "recipe to adapt, or a number of parameters, such as 3B")
      ->required();
  AddClusterOptions(*command, options->cluster)->required();
  command
      ->add_option("--global-batch", options->global_batch,
                   "samples per step (default: the recipe's batch, scaled with the number of GPUs)")
      ->check(CLI::Range(1, 16777216));
  command
      ->add_option("--lr-rule", options->rate_rule,
                   "how the learning rate scales with the batch: sqrt, linear or keep")
      ->check(CLI::IsMember({"sqrt", "linear", "keep"}));
  command->add_option("--name", options->name, "name of the job");
  grammar.runners[command] = [options](Context& context) {
    return RunRecipeNew(*options, context);
  };
}

Outcome RunRecipeNew(const RecipeNewOptions& options, Context& context) {
  Made made;
  TRAINYARD_ASSIGN_OR_RETURN(made.base, FindBase(options.like, context));
  const RunConfig& base = made.base.config;
  planner::LayoutPlan& plan = made.plan;
  TRAINYARD_ASSIGN_OR_RETURN(const planner::ClusterRequest request,
                             ClusterRequestOf(options.cluster));
  TRAINYARD_ASSIGN_OR_RETURN(plan.cluster, planner::ClusterFor(request, base.resources.nodes));
  PrintDeviceNote(plan.cluster, context.console);
  const int64_t batch =
      options.global_batch > 0 ? options.global_batch : ScaledBatch(base, plan.cluster.devices());
  plan.config = ScaledConfig(base, plan.cluster, batch);
  plan.config.resources.device = DeviceKind::kGpu;
  if (plan.config.train.fp8 != base.train.fp8) {
    PrintNote(context.console,
              absl::StrCat("note: the ", std::string(plan.cluster.device->rating->name),
                           " does not support FP8, so the new recipe trains in bf16"));
  }
  if (planner::PeakFlops(base.train.precision, *plan.cluster.device) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("the ", std::string(plan.cluster.device->rating->name), " does not support ",
                     SettingNameOf(base.train.precision), "; choose another --device"));
  }
  planner::FindLayout(plan);
  if (plan.problem.has_value()) {
    PrintError(context.console, planner::ProblemText(*plan.problem));
    return ExitCode::kFailed;
  }
  made.rate = RateFactor(options.rate_rule,
                         static_cast<double>(batch) / static_cast<double>(base.train.global_batch));
  TRAINYARD_RETURN_IF_ERROR(CheckRate(base, options, made.rate));
  made.name = options.name.empty() ? NameOn(made.base.config.name, plan.cluster) : options.name;
  const std::string text = TextOf(made);
  TRAINYARD_RETURN_IF_ERROR(CheckText(text, context));
  *context.console.out << text;
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
