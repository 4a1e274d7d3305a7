#include "cli/grammar/all_commands.h"

#include <memory>

#include "cli/data/data_command.h"
#include "cli/dev/dev.h"
#include "cli/grammar/completion.h"
#include "cli/grammar/operator_grammar.h"
#include "cli/grammar/planning_grammar.h"
#include "cli/grammar/trial_grammar.h"

namespace trainyard::cli {
namespace {

// CLI11 keeps pointers to the variables filled by options. The runner of each command owns its
// variables through a shared_ptr, so that they live as long as the grammar.

constexpr char kJobHelp[] = "number, name or @last";
constexpr char kJobOrAttemptHelp[] = "number, name, NAME@ATTEMPT or @last";

void AddSubmit(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<SubmitOptions>();
  CLI::App* command =
      parent.add_subcommand("submit", "Submit a job; `-- COMMAND...` sets its command");
  AddJobFileOptions(*command, options->job);
  command->add_flag("-f,--follow", options->follow,
                    "stay and show progress until the job has ended");
  command->add_flag("--wait", options->wait, "stay without progress until the job has ended");
  command->add_flag("--dry-run", options->dry_run, "the same as plan");
  command->add_flag("--hold", options->hold, "do not start before `trainyard resume`");
  command->add_option("--timeout", options->timeout, "longest stay, such as 30m; the job goes on");
  command->add_option("--request-id", options->request_id,
                      "repeating a submit with the same id makes no second job");
  grammar.runners[command] = [options, &grammar](Context& context) {
    options->job.command = grammar.command;  // Removed from the arguments before the parse.
    return RunSubmit(*options, context);
  };
}

// Options of `ps` and `job list`, and of `job` itself, which lists jobs if no command follows.
void AddListOptions(CLI::App& command, PsOptions& options) {
  command.add_flag("-a,--all", options.all, "also jobs that have ended");
  command.add_option("-u,--user", options.user, "only jobs of this user");
  command.add_option("--state", options.states, "only jobs in this state; repeatable")
      ->allow_extra_args(false);
  command.add_option("--limit", options.limit, "at most this many jobs")
      ->check(CLI::Range(1, 100000));
}

void AddPs(CLI::App& command, Grammar& grammar) {
  const auto options = std::make_shared<PsOptions>();
  AddListOptions(command, *options);
  grammar.runners[&command] = [options](Context& context) { return RunPs(*options, context); };
}

// Fills a command whose only argument is a job.
void AddJobCommand(CLI::App& command, const char* help, Grammar& grammar,
                   Outcome (*run)(const std::string&, Context&)) {
  const auto job = std::make_shared<std::string>();
  command.add_option("job", *job, help)->required();
  grammar.runners[&command] = [job, run](Context& context) { return run(*job, context); };
}

void AddLogs(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<LogsOptions>();
  CLI::App* command =
      parent.add_subcommand("logs", "Print what the ranks wrote, as `[ATTEMPT.RANK] line`");
  command->add_option("job", options->job, kJobOrAttemptHelp)->required();
  command->add_flag("-f,--follow", options->follow,
                    "stay and print new lines until the job has ended");
  command->add_option("--rank", options->ranks, "only these ranks, such as 0 or 0,8-15")
      ->type_name("RANKS");
  command->add_option("--attempt", options->attempt, "only this attempt")
      ->check(CLI::PositiveNumber);
  command->add_option("--grep", options->grep, "only lines that hold this text");
  command->add_option("--tail", options->tail, "only the last lines; 0 with -f: only new ones")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("-t,--timestamps", options->timestamps, "the time of each line before it");
  grammar.runners[command] = [options](Context& context) { return RunLogs(*options, context); };
}

void AddMetrics(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<MetricsOptions>();
  CLI::App* command = parent.add_subcommand("metrics", "Print a job's metric series by step");
  command->add_option("job", options->job, kJobOrAttemptHelp)->required();
  CLI::Option* keys = command->add_option("key", options->keys,
                                          "metrics, such as loss lr; when none is named, tables "
                                          "show the main ones and other formats all");
  command->add_flag("--all", options->all, "show every metric")->excludes(keys);
  command->add_option("--from", options->from_step, "first step")->check(CLI::NonNegativeNumber);
  command->add_option("--to", options->to_step, "last step")->check(CLI::NonNegativeNumber);
  command
      ->add_option("--buckets", options->buckets,
                   "merge into at most this many points; 0 for every point (20 for tables, else 0)")
      ->check(CLI::Range(0, 10000));
  grammar.runners[command] = [options](Context& context) { return RunMetrics(*options, context); };
}

void AddStop(CLI::App& parent, bool kill, Grammar& grammar) {
  const auto options = std::make_shared<StopOptions>();
  options->kill = kill;
  CLI::App* command = kill ? parent.add_subcommand("kill", "End jobs at once, without a checkpoint")
                           : parent.add_subcommand("stop", "Save a checkpoint, then stop");
  command->add_option("job", options->jobs, kJobHelp)->required();
  command->add_flag("-y,--yes", options->yes, "do not ask");
  grammar.runners[command] = [options](Context& context) { return RunStop(*options, context); };
}

void AddPause(CLI::App& parent, bool resume, Grammar& grammar) {
  const auto options = std::make_shared<PauseOptions>();
  options->resume = resume;
  CLI::App* command =
      resume ? parent.add_subcommand("resume", "Put paused or held jobs back into the queue")
             : parent.add_subcommand("pause",
                                     "Save a checkpoint and give the slots back until "
                                     "`resume`; holds a job that has not started");
  command->add_option("job", options->jobs, kJobHelp)->required();
  grammar.runners[command] = [options](Context& context) { return RunPause(*options, context); };
}

void AddDelete(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<DeleteOptions>();
  CLI::App* command = parent.add_subcommand(
      "delete", "Remove ended jobs with their events, metrics and output; shows what first");
  command->add_option("job", options->jobs, kJobHelp)->required();
  command->add_flag("--checkpoints", options->checkpoints,
                    "also their checkpoints, where the controller may and can");
  command->add_flag("-y,--yes", options->yes, "do it; without this nothing is removed");
  grammar.runners[command] = [options](Context& context) { return RunDelete(*options, context); };
}

void AddWait(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<WaitOptions>();
  CLI::App* command =
      parent.add_subcommand("wait", "Wait until jobs have ended; exit 5 when one did not succeed");
  command->add_option("job", options->jobs, kJobHelp)->required();
  command->add_flag("-f,--follow", options->progress, "show progress meanwhile");
  command->add_option("--timeout", options->timeout, "longest wait, such as 30m");
  grammar.runners[command] = [options](Context& context) { return RunWait(*options, context); };
}

void AddReport(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = parent.add_subcommand(
      "report", "Judge the loss curve of a job, or with --by sum up the time of many jobs");
  command->add_option("job", options->job, kJobHelp);
  command->add_option("--by", options->by, "time by phase of: cluster, user, job or week")
      ->check(CLI::IsMember({"cluster", "user", "job", "week"}));
  command->add_option("--since", options->since, "only the newest time, such as 7d (all)");
  command->add_option("--user", options->user, "only jobs of this user");
  command->add_option("--limit", options->limit, "groups to show; the rest is summed up (100)")
      ->check(CLI::Range(1, 1000));
  grammar.runners[command] = [options](Context& context) { return RunReport(*options, context); };
}

// The daily commands, added at top level and under `job`.
void AddJobCommands(CLI::App& parent, Grammar& grammar) {
  AddSubmit(parent, grammar);
  AddPlan(parent, grammar);
  AddJobCommand(*parent.add_subcommand("describe", "Show all that is known of a job"),
                kJobOrAttemptHelp, grammar, RunDescribe);
  AddJobCommand(*parent.add_subcommand("why", "Say why a job waits, or why it ended"), kJobHelp,
                grammar, RunWhy);
  AddReport(parent, grammar);
  AddLogs(parent, grammar);
  AddMetrics(parent, grammar);
  AddStop(parent, false, grammar);
  AddStop(parent, true, grammar);
  AddPause(parent, false, grammar);
  AddPause(parent, true, grammar);
  AddDelete(parent, grammar);
  AddWait(parent, grammar);
}

void AddCordon(CLI::App& node, bool cordoned, Grammar& grammar) {
  const auto options = std::make_shared<CordonOptions>();
  options->cordoned = cordoned;
  CLI::App* command =
      cordoned ? node.add_subcommand("cordon", "Keep new ranks off a node; those that run go on")
               : node.add_subcommand("uncordon", "Let new ranks on a node again");
  command->add_option("node", options->node, "a node's name or id")->required();
  if (cordoned) command->add_option("--reason", options->reason, "why, for everyone who asks");
  grammar.runners[command] = [options](Context& context) { return RunCordon(*options, context); };
}

// A noun with 0 or 1 commands (node, job, server, recipes) lists or shows its objects if no command
// follows.
void AddNodeCommands(CLI::App& app, Grammar& grammar) {
  const auto run = [](Context& context) { return RunNodes(context); };
  grammar.runners[app.add_subcommand("nodes", "List nodes and their slots")] = run;
  CLI::App* node =
      app.add_subcommand("node", "Nodes: list, describe, cordon, uncordon, release, remove");
  node->require_subcommand(0, 1);
  grammar.runners[node] = run;
  grammar.runners[node->add_subcommand("list", "The same as nodes")] = run;
  const auto name = std::make_shared<std::string>();
  CLI::App* describe = node->add_subcommand("describe", "Show all that is known of a node");
  describe->add_option("node", *name, "a node's name or id")->required();
  grammar.runners[describe] = [name](Context& context) { return RunNodeDescribe(*name, context); };
  AddCordon(*node, true, grammar);
  AddCordon(*node, false, grammar);
  AddReleaseNode(*node, grammar);
  AddRemoveNode(*node, grammar);
}

void AddCheckpointVerify(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<CheckpointVerifyOptions>();
  CLI::App* command = noun.add_subcommand(
      "verify", "Read every byte of a checkpoint, on this machine; exit 74 when it is damaged");
  command->add_option("dir", options->directory, "a checkpoint, or a job's checkpoint directory")
      ->required();
  command->add_flag("-a,--all", options->all, "every checkpoint of the directory, not the newest");
  grammar.runners[command] = [options](Context& context) {
    return RunCheckpointVerify(*options, context);
  };
}

void AddCheckpointDiff(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<CheckpointDiffOptions>();
  CLI::App* command = noun.add_subcommand(
      "diff", "Compare two checkpoints, whatever layouts wrote them; exit 1 when they differ");
  command->add_option("a", options->a, "a checkpoint")->required();
  command->add_option("b", options->b, "another one")->required();
  command
      ->add_option("--tolerance", options->tolerance,
                   "relative L2 difference |B - A| / |A| of a tensor that counts as the same (0: "
                   "every bit counts)")
      ->check(CLI::NonNegativeNumber)
      ->type_name("NUMBER");
  command->add_option("--only", options->only, "weights, optimizer, or the beginning of names")
      ->check([](const std::string& only) {
        return only.empty() ? "must not be empty; is a shell variable unset?" : "";
      })
      ->type_name("WHAT");
  command->add_flag("-a,--all", options->all, "list equal tensors, too");
  grammar.runners[command] = [options](Context& context) {
    return RunCheckpointDiff(*options, context);
  };
}

void AddCheckpointReshard(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<CheckpointReshardOptions>();
  CLI::App* command =
      noun.add_subcommand("reshard", "Write a checkpoint with the same contents in other files");
  command->add_option("in", options->from, "a checkpoint")->required();
  command->add_option("out", options->to, "directory to make")->required();
  command->add_option("--files", options->files, "number of files (so that one has about 4 GiB)")
      ->check(CLI::Range(1, 99999));
  command->add_flag("--weights-only", options->weights_only,
                    "leave out the optimizer's state; nothing can resume from that");
  command->add_flag("--force", options->force, "replace a checkpoint that is at OUT");
  grammar.runners[command] = [options](Context& context) {
    return RunCheckpointReshard(*options, context);
  };
}

void AddCheckpointImport(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<CheckpointImportOptions>();
  CLI::App* command = noun.add_subcommand(
      "import", "Make a checkpoint of a Hugging Face directory, and print a job file's `model`");
  command->add_option("dir", options->from, "directory with config.json and safetensors")
      ->required();
  command->add_option("out", options->to, "checkpoint to make, for checkpoint.resume_from")
      ->required();
  command->add_flag("--force", options->force, "replace a checkpoint that is at OUT");
  grammar.runners[command] = [options](Context& context) {
    return RunCheckpointImport(*options, context);
  };
}

void AddCheckpointExport(CLI::App& noun, Grammar& grammar) {
  const auto options = std::make_shared<CheckpointExportOptions>();
  CLI::App* command = noun.add_subcommand(
      "export", "Write a checkpoint's weights as a Hugging Face directory, for transformers");
  command->add_option("in", options->from, "a checkpoint")->required();
  command->add_option("dir", options->to, "directory to make")->required();
  command->add_option("--dtype", options->dtype, "type of the weights (as stored)")
      ->check(CLI::IsMember({"fp32", "bf16"}));
  command
      ->add_option("--shard-bytes", options->shard_bytes,
                   "bytes of tensors in one file, at most (5000000000)")
      ->check(CLI::PositiveNumber);
  command->add_flag("--force", options->force, "replace an earlier export that is at DIR");
  grammar.runners[command] = [options](Context& context) {
    return RunCheckpointExport(*options, context);
  };
}

void AddCheckpointCommands(CLI::App& app, Grammar& grammar) {
  CLI::App* noun =
      app.add_subcommand("ckpt", "Checkpoints: list, verify, diff, reshard, import, export");
  noun->require_subcommand(1);
  const auto options = std::make_shared<CheckpointListOptions>();
  CLI::App* list = noun->add_subcommand("list", "List the checkpoints of a job");
  list->add_option("job", options->job, kJobHelp)->required();
  list->add_flag("-a,--all", options->all, "also those that retention has deleted");
  grammar.runners[list] = [options](Context& context) {
    return RunCheckpointList(*options, context);
  };
  AddCheckpointVerify(*noun, grammar);
  AddCheckpointDiff(*noun, grammar);
  AddCheckpointReshard(*noun, grammar);
  AddCheckpointImport(*noun, grammar);
  AddCheckpointExport(*noun, grammar);
}

// The commands server backup and server restore.
void AddStoreCopies(CLI::App& server, Grammar& grammar) {
  const auto backup = std::make_shared<StoreCopyOptions>();
  CLI::App* command = server.add_subcommand(
      "backup", "Copy the controller's store, on its machine, while it runs or not");
  command->add_option("dir", backup->directory, "directory to make")->required();
  command->add_option("--data-dir", backup->data_dir,
                      "the controller's data directory (asked of the one that runs)");
  grammar.runners[command] = [backup](Context& context) {
    return RunServerBackup(*backup, context);
  };
  const auto restore = std::make_shared<StoreCopyOptions>();
  command = server.add_subcommand(
      "restore", "Verify a backup and put it into a data directory that has no store");
  command->add_option("dir", restore->directory, "a backup")->required();
  command
      ->add_option("--data-dir", restore->data_dir,
                   "data directory of a controller that is stopped")
      ->required();
  grammar.runners[command] = [restore](Context& context) {
    return RunServerRestore(*restore, context);
  };
}

void AddServerCommands(CLI::App& app, Grammar& grammar) {
  const auto run = [](Context& context) { return RunServerStatus(context); };
  CLI::App* noun =
      app.add_subcommand("server", "The controller: status, check, sessions, backup, restore");
  noun->require_subcommand(0, 1);
  grammar.runners[noun] = run;
  grammar.runners[noun->add_subcommand("status", "Version, data directory and age")] = run;
  AddServerCheck(*noun, grammar);
  AddServerSessions(*noun, grammar);
  AddStoreCopies(*noun, grammar);
  const auto client_only = std::make_shared<bool>(false);
  CLI::App* version = app.add_subcommand("version", "Versions of this program and the controller");
  version->add_flag("--client", *client_only, "do not ask the controller");
  grammar.runners[version] = [client_only](Context& context) {
    return RunVersion(*client_only, context);
  };
}

// The commands explain, schema and completion.
void AddDocumentCommands(CLI::App& app, Grammar& grammar) {
  const auto key = std::make_shared<std::string>();
  CLI::App* explain = app.add_subcommand("explain", "Explain a setting of job files, or all");
  explain->add_option("key", *key, "such as train.seq_length");
  grammar.runners[explain] = [key](Context& context) { return RunExplain(*key, context); };
  grammar.runners[app.add_subcommand("schema", "Print the JSON Schema of job files")] =
      [](Context& context) { return RunSchema(context); };
  const auto shell = std::make_shared<std::string>();
  CLI::App* completion = app.add_subcommand(
      "completion", "Print a completion script: source <(trainyard completion bash)");
  completion->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  grammar.runners[completion] = [shell, &grammar](Context& context) {
    return RunCompletion(*shell, grammar.app, context);
  };
}

void AddDev(CLI::App& app, Grammar& grammar) {
  const auto options = std::make_shared<DevOptions>();
  CLI::App* command =
      app.add_subcommand("dev", "Run a controller and workers on this machine until Ctrl-C");
  command->add_option("--nodes", options->nodes, "number of workers")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  command->add_option("--slots", options->slots_per_node, "CPU slots of each")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command->add_option("--data-dir", options->data_dir,
                      "where all state goes (~/.local/share/trainyard/dev)");
  command->add_option("--listen", options->listen, "address of the controller")
      ->capture_default_str()
      ->type_name("HOST:PORT");
  grammar.runners[command] = [options](Context& context) { return RunDev(*options, context); };
}

void AddData(CLI::App& app, Grammar& grammar) {
  const auto options = std::make_shared<DataPrepareOptions>();
  grammar.runners[AddDataCommands(app, options.get())] = [options](Context&) -> Outcome {
    return static_cast<ExitCode>(RunDataPrepare(*options));
  };
}

// Options accepted by every command.
void AddShared(Grammar& grammar) {
  CLI::App& app = grammar.app;
  app.add_option("-s,--server", grammar.shared.server,
                 "controller's address ($TRAINYARD_SERVER, else 127.0.0.1:7070)")
      ->type_name("HOST:PORT");
  std::vector<std::string> names;
  for (const auto& [name, format] : OutputFormats()) names.push_back(name);
  app.add_option("-o,--output", grammar.shared.output, "table, wide, json, yaml, name or csv")
      ->check(CLI::IsMember(names))
      ->type_name("FORMAT");
  app.add_option("--recipes", grammar.shared.recipe_directories, "folder of recipes; repeatable")
      ->allow_extra_args(false)
      ->check(CLI::ExistingDirectory)
      ->type_name("DIR");
  app.set_version_flag("--version", std::string("trainyard ") + TRAINYARD_VERSION);
}

}  // namespace

void BuildGrammar(Grammar& grammar) {
  CLI::App& app = grammar.app;
  app.require_subcommand(1);
  // Shared options may also follow a command: `ps -o json` means `-o json ps`. Every command added
  // below inherits this.
  app.fallthrough();
  AddShared(grammar);
  AddDev(app, grammar);
  AddPs(*app.add_subcommand("ps", "List jobs"), grammar);
  AddJobCommands(app, grammar);
  CLI::App* job = app.add_subcommand("job", "Jobs: list, and every command about a job");
  job->require_subcommand(0, 1);
  AddPs(*job, grammar);
  AddPs(*job->add_subcommand("list", "The same as ps"), grammar);
  AddJobCommands(*job, grammar);
  AddNodeCommands(app, grammar);
  AddCheckpointCommands(app, grammar);
  AddServerCommands(app, grammar);
  AddPlanningCommands(app, grammar);
  AddTrialCommands(app, grammar);
  AddOperatorCommands(app, grammar);
  AddDocumentCommands(app, grammar);
  AddData(app, grammar);
}

}  // namespace trainyard::cli
