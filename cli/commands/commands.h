// The functions of the commands, called through the grammar (app.h). Each returns an exit code, or
// an error that the app prints and converts (process/exit_code.h). Data goes to console.out,
// everything else to console.err.
#ifndef TRAINYARD_CLI_COMMANDS_COMMANDS_H_
#define TRAINYARD_CLI_COMMANDS_COMMANDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/client/client.h"
#include "cli/commands/environment.h"
#include "cli/output/table.h"
#include "cli/process/exit_code.h"
#include "controller/planner/answer/cluster_request.h"
#include "controller/planner/run_cost.h"

namespace trainyard::cli {

using Outcome = absl::StatusOr<ExitCode>;

// Arguments of every command: the environment and the options shared by all commands.
struct Context {
  Environment& environment;
  Console& console;
  Client& client;
  OutputFormat format = OutputFormat::kTable;
  std::vector<std::string> recipe_directories;
};

// A job file and its overrides from the command line.
struct JobFileOptions {
  std::string file;
  std::vector<std::string> sets;
  std::string name;
  // Words after `--`. They replace the job's command.
  std::vector<std::string> command;
};

struct SubmitOptions {
  JobFileOptions job;
  bool follow = false;
  bool wait = false;
  bool dry_run = false;
  bool hold = false;
  std::string timeout;
  std::string request_id;
};

// Describes the cluster to plan for. The cluster need not exist.
struct ClusterOptions {
  planner::ClusterRequest request;
  std::string calibration;  // File of measured corrections; empty for none.
};

struct PlanOptions {
  JobFileOptions job;
  bool offline = false;
  // Cluster to find a layout for; no device: none.
  ClusterOptions cluster;
  std::string layout = "best";  // Layout to plan: best or written.
  std::string svg;              // File for a figure of the step; empty for none.
};

// The loss curve of one job or, with `by`, the ledger of many.
struct ReportOptions {
  std::string job;
  std::string by;     // cluster, user, job or week.
  std::string since;  // A duration, such as 7d; empty for all time.
  std::string user;   // Only this user's jobs.
  int limit = 0;      // Number of groups; 0: 100.
};

struct ReleaseOptions {
  std::string node;
  std::string reason;
};

struct RecipeCheckOptions {
  std::vector<std::string> names;
  bool all = false;
  bool renew = false;  // Rewrites the `# Expected on` lines.
};

struct RecipeNewOptions {
  std::string like;  // A recipe, or a number of parameters such as 3B.
  ClusterOptions cluster;
  int64_t global_batch = 0;  // 0: in proportion to the devices.
  std::string rate_rule = "sqrt";
  std::string name;
};

// Amounts as typed, such as 7B and 1.36e21; empty if not given.
struct ScaleOptions {
  std::string flops;
  std::string parameters;
  std::string tokens;
  std::string like;  // A recipe whose family determines the shape.
  std::string svg;   // File for a figure; empty for none.
};

struct CostOptions {
  JobFileOptions job;  // Without a file: parameters and tokens.
  std::string parameters;
  std::string tokens;
  ClusterOptions cluster;
  std::string layout;  // best or written; empty: written if it can run, else best.
  double mfu = 0.45;
  double price = 0;  // Dollars per GPU-hour; 0: prices of known clouds.
  double gpu_hours_per_failure = planner::kGpuHoursPerFailure;
  double checkpoint_seconds = planner::Interruptions().checkpoint_seconds;
  double restart_seconds = planner::Interruptions().restart_seconds;
  double checkpoint_interval = 0;  // Seconds; 0: the best one.
  std::string svg;                 // File for a figure; empty for none.
};

// Short jobs on real slots.
struct SmokeOptions {
  JobFileOptions job;
  int64_t steps = 10;
  std::string random_data;  // Directory for random tokens that replace the job's data.
  std::string calibration;  // File; empty for none.
};

struct TuneOptions {
  JobFileOptions job;
  int64_t steps = 10;  // Of each run.
  int64_t runs = 8;    // Maximum, not counting runs with other attention.
  std::string random_data;
  std::string calibration;
  std::string write;      // Overlay file to write; empty for none.
  std::string calibrate;  // Calibration file to write; empty for none.
  // Without daemons: `sweep` is the file of runs to write, for slots of `device`; `measured` is
  // such a file with measurements.
  std::string sweep;
  std::string device;
  std::string measured;
};

struct ExtrapolateOptions {
  std::string job;
  std::string tokens;  // As typed, such as 85B.
};

struct ConvertOptions {
  std::vector<std::string> files;  // Files of one run; "-": standard input.
  std::string format;              // Empty: detected from the text.
  std::string name;                // Empty: taken from the files.
  int64_t nodes = 0;               // With per_node: for files that name no cluster.
  int64_t per_node = 0;
  bool keeps_command = false;  // The job runs the script's own program.
};

struct PsOptions {
  bool all = false;
  std::string user;
  std::vector<std::string> states;
  int limit = 100;
};

struct LogsOptions {
  std::string job;
  bool follow = false;
  bool timestamps = false;
  std::string ranks;
  int64_t attempt = 0;
  std::string grep;
  // Unset: every line.
  std::optional<int64_t> tail;
};

struct MetricsOptions {
  std::string job;
  std::vector<std::string> keys;
  bool all = false;  // Every series, not only the main ones.
  int64_t from_step = 0;
  int64_t to_step = 0;
  // -1: 20 for tables, every point for other formats.
  int buckets = -1;
};

struct StopOptions {
  std::vector<std::string> jobs;
  bool kill = false;
  bool yes = false;
};

struct PauseOptions {
  std::vector<std::string> jobs;
  bool resume = false;
};

struct DeleteOptions {
  std::vector<std::string> jobs;
  bool checkpoints = false;
  bool yes = false;  // Without it nothing is deleted.
};

struct WaitOptions {
  std::vector<std::string> jobs;
  bool progress = false;
  std::string timeout;
};

struct CordonOptions {
  std::string node;  // Name or id.
  std::string reason;
  // False lifts the cordon.
  bool cordoned = true;
};

// Lists the sessions if there are no ids and end_all is false.
struct SessionsOptions {
  std::vector<std::string> ended_ids;
  bool end_all = false;
};

struct StoreCopyOptions {
  std::string directory;
  // Empty: the data directory of the controller that answers.
  std::string data_dir;
};

struct CheckpointListOptions {
  std::string job;
  bool all = false;
};

struct CheckpointVerifyOptions {
  std::string directory;
  bool all = false;
};

struct CheckpointDiffOptions {
  std::string a;
  std::string b;
  std::string tolerance;  // As typed, so that no digit is lost. Empty: every bit counts.
  std::string only;
  bool all = false;
};

struct CheckpointReshardOptions {
  std::string from;
  std::string to;
  int files = 0;  // 0: as many as needed for files of about 4 GiB.
  bool weights_only = false;
  bool force = false;
};

struct CheckpointImportOptions {
  std::string from;
  std::string to;
  bool force = false;
};

struct CheckpointExportOptions {
  std::string from;
  std::string to;
  std::string dtype;        // Empty: as stored.
  int64_t shard_bytes = 0;  // 0: 5 GB.
  bool force = false;
};

Outcome RunSubmit(const SubmitOptions& options, Context& context);
Outcome RunPlan(const PlanOptions& options, Context& context);
Outcome RunScale(const ScaleOptions& options, Context& context);
Outcome RunCost(const CostOptions& options, Context& context);
Outcome RunSmoke(const SmokeOptions& options, Context& context);
Outcome RunTune(const TuneOptions& options, Context& context);
Outcome RunExtrapolate(const ExtrapolateOptions& options, Context& context);
Outcome RunConvert(const ConvertOptions& options, Context& context);
Outcome RunPs(const PsOptions& options, Context& context);
Outcome RunDescribe(const std::string& job, Context& context);
Outcome RunWhy(const std::string& job, Context& context);
Outcome RunReport(const ReportOptions& options, Context& context);
Outcome RunLogs(const LogsOptions& options, Context& context);
Outcome RunMetrics(const MetricsOptions& options, Context& context);
Outcome RunStop(const StopOptions& options, Context& context);
Outcome RunPause(const PauseOptions& options, Context& context);
Outcome RunDelete(const DeleteOptions& options, Context& context);
Outcome RunWait(const WaitOptions& options, Context& context);
Outcome RunNodes(Context& context);
// `name`: a node's name or id.
Outcome RunNodeDescribe(const std::string& name, Context& context);
Outcome RunCordon(const CordonOptions& options, Context& context);
Outcome RunReleaseNode(const ReleaseOptions& options, Context& context);
Outcome RunRemoveNode(const std::string& node, Context& context);
Outcome RunDoctor(Context& context);
Outcome RunDashboard(Context& context);
Outcome RunCheckpointList(const CheckpointListOptions& options, Context& context);
// These replace this process by trainyard-ckpt and return only on failure.
Outcome RunCheckpointVerify(const CheckpointVerifyOptions& options, Context& context);
Outcome RunCheckpointDiff(const CheckpointDiffOptions& options, Context& context);
Outcome RunCheckpointReshard(const CheckpointReshardOptions& options, Context& context);
Outcome RunCheckpointImport(const CheckpointImportOptions& options, Context& context);
Outcome RunCheckpointExport(const CheckpointExportOptions& options, Context& context);
Outcome RunServerStatus(Context& context);
Outcome RunServerBackup(const StoreCopyOptions& options, Context& context);
// `data_dir`: of a stopped controller; empty: the controller that answers checks its own.
Outcome RunServerCheck(const std::string& data_dir, Context& context);
Outcome RunServerCheckOnline(Context& context);
Outcome RunServerSessions(const SessionsOptions& options, Context& context);
Outcome RunServerRestore(const StoreCopyOptions& options, Context& context);
Outcome RunVersion(bool client_only, Context& context);
Outcome RunExplain(const std::string& key, Context& context);
Outcome RunSchema(Context& context);
Outcome RunRecipeList(Context& context);
Outcome RunRecipeShow(const std::string& name, Context& context);
Outcome RunRecipeCheck(const RecipeCheckOptions& options, Context& context);
Outcome RunRecipeDiff(const std::string& a, const std::string& b, Context& context);
Outcome RunRecipeNew(const RecipeNewOptions& options, Context& context);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_COMMANDS_COMMANDS_H_
