#include "cli/grammar/trial_grammar.h"

#include <memory>

#include "cli/grammar/planning_grammar.h"

namespace trainyard::cli {
namespace {

void AddTrialOptions(CLI::App& command, int64_t& steps, std::string& random_data,
                     std::string& calibration) {
  command.add_option("--steps", steps, "steps of a run (10)")->check(CLI::Range(5, 100000));
  command
      .add_option("--random-data", random_data,
                  "train on random tokens, written into this directory, which every node must see")
      ->type_name("DIR");
  command
      .add_option("--calibration", calibration,
                  "file of `trainyard tune --calibrate`, by which predictions are corrected")
      ->type_name("FILE");
}

void AddSmoke(CLI::App& app, Grammar& grammar) {
  const auto options = std::make_shared<SmokeOptions>();
  CLI::App* command = app.add_subcommand(
      "smoke", "Run ten steps of a job, and check loss, memory, speed and checkpoint");
  AddJobFileOptions(*command, options->job);
  AddTrialOptions(*command, options->steps, options->random_data, options->calibration);
  grammar.runners[command] = [options](Context& context) { return RunSmoke(*options, context); };
}

// Options for machines without daemons.
void AddSweepFiles(CLI::App& command, TuneOptions& options) {
  CLI::Option* sweep =
      command.add_option("--sweep", options.sweep,
                         "write the runs into this file and submit nothing: tests/gpu/sweep.py "
                         "runs them on a machine without daemons");
  sweep->type_name("FILE")->excludes("--random-data");
  command.add_option("--device", options.device, "with --sweep: its GPUs, such as H200")
      ->needs(sweep);
  command
      .add_option("--measured", options.measured,
                  "judge the runs of --sweep, which sweep.py has measured, and submit nothing")
      ->type_name("FILE")
      ->excludes(sweep)
      ->excludes("--random-data")
      ->excludes("--steps")
      ->excludes("--runs");
}

void AddTune(CLI::App& app, Grammar& grammar) {
  const auto options = std::make_shared<TuneOptions>();
  CLI::App* command = app.add_subcommand(
      "tune", "Measure micro-batch, recomputation, ZeRO and attention in short jobs, and choose");
  AddJobFileOptions(*command, options->job);
  AddTrialOptions(*command, options->steps, options->random_data, options->calibration);
  command
      ->add_option("--runs", options->runs,
                   "layouts to measure at most (8); attention comes on top")
      ->check(CLI::Range(2, 100));
  AddSweepFiles(*command, *options);
  command
      ->add_option("--write", options->write,
                   "write the chosen settings into a file that extends "
                   "the job")
      ->type_name("FILE");
  command
      ->add_option("--calibrate", options->calibrate,
                   "write what was measured into a file for --calibration")
      ->type_name("FILE");
  command->get_option("--sweep")->excludes("--write")->excludes("--calibrate");
  grammar.runners[command] = [options](Context& context) { return RunTune(*options, context); };
}

void AddExtrapolate(CLI::App& app, Grammar& grammar) {
  const auto options = std::make_shared<ExtrapolateOptions>();
  CLI::App* command = app.add_subcommand(
      "extrapolate", "Expect loss, days and cost of a job at more tokens, from what it has done");
  command->add_option("job", options->job, "number, name or @last")->required();
  command->add_option("--tokens", options->tokens, "tokens of the whole run, such as 85B")
      ->required();
  grammar.runners[command] = [options](Context& context) {
    return RunExtrapolate(*options, context);
  };
}

}  // namespace

void AddTrialCommands(CLI::App& app, Grammar& grammar) {
  AddSmoke(app, grammar);
  AddTune(app, grammar);
  AddExtrapolate(app, grammar);
}

}  // namespace trainyard::cli
