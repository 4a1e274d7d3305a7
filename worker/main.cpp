// trainyard-worker: runs the ranks of this node for the controller. See worker/README.md.
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include "CLI/CLI.hpp"
#include "proto/access/controller_list.h"
#include "proto/text/log_format.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"
#include "worker/core/environment_options.h"
#include "worker/environment/environment.h"
#include "worker/exec/exec_program.h"
#include "worker/process/shim.h"
#include "worker/worker.h"

namespace {

constexpr int kStartFailed = 1;
constexpr int kBadFlags = 2;

struct Flags {
  trainyard::worker::WorkerOptions options;
  std::string controllers = "127.0.0.1:7070";
  std::string log_level = "info";
};

// Declares the options for the limits of a job. A job that exceeds a limit is ended and fails; its
// failure reason names the limit.
void DeclareLimits(CLI::App& app, trainyard::worker::RankLimits& limits) {
  const auto declare = [&](const char* flag, int64_t& limit, const char* what) {
    return app.add_option(flag, limit, what)->check(CLI::Range(int64_t{0}, int64_t{1} << 50));
  };
  declare("--telemetry-limit", limits.telemetry_bytes,
          "Limit, in bytes, on a job's telemetry that the controller has not stored yet; at most "
          "an eighth of the disk; 0: no limit")
      ->capture_default_str();
  declare("--telemetry-rate-limit", limits.telemetry_rate,
          "Limit on a job's telemetry in bytes per second, averaged over 10 s; lowered if 10 s at "
          "this rate would fill more than a sixteenth of the disk; 0: no limit")
      ->capture_default_str();
  declare("--log-rate-limit", limits.log_rate,
          "Limit on a job's output in bytes per second, averaged over 10 s; 0: no limit")
      ->capture_default_str();
  declare("--run-dir-limit", limits.run_dir_bytes,
          "Limit, in bytes, on a job's files in and beside the run directories (TRAINYARD_RUN_DIR) "
          "of its ranks (default: a quarter of the disk)");
  declare(
      "--run-dir-files-limit", limits.run_dir_files,
      "Limit on the number of a job's files and directories in and beside the run directories "
      "(TRAINYARD_RUN_DIR) of its ranks; at most 999999 (default: a quarter of the disk's inodes)");
  declare("--processes-limit", limits.processes,
          "Limit on the processes and threads of a rank, enforced only if ranks have control "
          "groups; at most half of the machine's limit; 0: no limit")
      ->capture_default_str();
}

void Declare(CLI::App& app, Flags& flags) {
  app.set_version_flag("--version", "trainyard-worker " TRAINYARD_VERSION);
  app.add_option("--controller", flags.controllers,
                 "Address of the controller, HOST:PORT, or of all controllers on one database: "
                 "HOST:PORT,HOST:PORT")
      ->capture_default_str();
  app.add_option("--token-file", flags.options.token_file,
                 "Token file of the controller (default: $TRAINYARD_TOKEN_FILE, the token of "
                 "`trainyard dev`, or /var/lib/trainyard/token)");
  app.add_option("--data-dir", flags.options.data_dir,
                 "Directory for the node's identity, and for attempts and their output")
      ->required();
  app.add_option("--secrets", flags.options.secrets_dir,
                 "Directory with one file (mode 0600) per secret; jobs name these files in "
                 "`secrets` (default: DATA_DIR/secrets)");
  app.add_option("--node-name", flags.options.node_name,
                 "Name of this node in lists and messages (default: host name)");
  app.add_option("--address", flags.options.address,
                 "Address at which other nodes reach this node (default: the local address of the "
                 "route to the controller)");
  app.add_option(
         "--label", flags.options.labels,
         "Label of this node, NAME=VALUE; repeat the option for more labels. Jobs select nodes "
         "by `placement.labels`")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--cpu-slots", flags.options.cpu_slots,
                 "CPU slots to offer (default: the number of cores when there is no GPU, else 0)");
  app.add_option("--metrics-listen", flags.options.metrics_listen,
                 "IP:PORT at which Prometheus reads the metrics of this worker (GET /metrics). "
                 "Port 0 picks a free port and writes the address to DATA_DIR/metrics_address; "
                 "`off` disables the metrics")
      ->capture_default_str();
  app.add_option("--code-listen", flags.options.code_listen,
                 "IP:PORT at which other nodes fetch the code of jobs from this node, encrypted "
                 "and only with the controller's token. 0.0.0.0:PORT listens on all addresses, and "
                 "other nodes use --address. `off`: all nodes fetch from the controller")
      ->capture_default_str();
  app.add_flag("--insecure", flags.options.insecure,
               "Allow other machines to read the metrics at --metrics-listen, unencrypted and "
               "without a token");
  app.add_flag("!--no-gpu-metrics", flags.options.gpu_metrics,
               "Do not export GPU metrics. Use this flag on nodes that run dcgm-exporter");
  app.add_option("--spool-limit", flags.options.spool_bytes_max,
                 "Limit, in bytes, on the output and telemetry of ranks on disk. Above the limit, "
                 "or if the disk is nearly full, the worker drops the oldest output")
      ->check(CLI::Range(int64_t{1} << 20, int64_t{1} << 50))
      ->capture_default_str();
  app.add_option("--free-space-floor", flags.options.free_space_floor,
                 "Minimum free space, in bytes, on the disk of the data directory. With less, the "
                 "node accepts no new ranks (default: 256 MiB, at most a fortieth of the disk)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 50));
  DeclareLimits(app, flags.options.limits);
  app.add_flag("--stop-ranks-on-exit", flags.options.stop_ranks_on_exit,
               "Stop all ranks on SIGTERM or SIGINT (default: they continue)");
  app.add_option("--log-level", flags.log_level, "Minimum level to log")
      ->default_val("info")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
}

int Fail(const absl::Status& status, int exit_code) {
  const std::string message(status.message());
  std::fprintf(stderr, "trainyard-worker: %s\n", message.c_str());
  return exit_code;
}

int Serve(Flags& flags) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("worker"));
  spdlog::set_formatter(trainyard::LogFormat());
  spdlog::set_level(spdlog::level::from_str(flags.log_level));
  auto controllers = trainyard::SplitControllers(flags.controllers);
  if (!controllers.ok()) return Fail(controllers.status(), kBadFlags);
  flags.options.controllers = *std::move(controllers);
  auto worker = trainyard::worker::Worker::Open(flags.options);
  if (!worker.ok()) return Fail(worker.status(), kStartFailed);
  (*worker)->Run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Check for the shim before anything creates threads or opens files, because the shim must stay
  // small.
  if (argc > 1 && std::string_view(argv[1]) == "shim") {
    return trainyard::worker::RunShim(argc - 1, argv + 1);
  }
  // This process becomes the program of a rank, so it must not change how it handles signals.
  if (argc > 1 && std::string_view(argv[1]) == trainyard::worker::kEnvironmentMode) {
    return trainyard::worker::RunEnvironment(argc - 1, argv + 1);
  }
  // This process forks before it starts threads.
  if (argc > 1 && std::string_view(argv[1]) == trainyard::worker::kExecMode) {
    return trainyard::worker::RunExec();
  }
  std::signal(SIGPIPE, SIG_IGN);
  // A write beyond a file size limit must fail with an error, as on a full disk, and not end the
  // worker.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app("Runs the ranks of this node for the Trainyard controller.", "trainyard-worker");
  Flags flags;
  Declare(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadFlags;
  }
  return Serve(flags);
}
