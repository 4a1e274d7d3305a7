// trainyard-worker: runs the ranks of this node for the controller. See worker/README.md.
#include <csignal>
#include <cstdio>
#include <string>
#include <string_view>

#include "CLI/CLI.hpp"
#include "proto/text/log_format.h"
#include "spdlog/sinks/stdout_color_sinks.h"
#include "spdlog/spdlog.h"
#include "worker/process/shim.h"
#include "worker/worker.h"

namespace {

constexpr int kStartFailed = 1;
constexpr int kBadFlags = 2;

struct Flags {
  trainyard::worker::WorkerOptions options;
  std::string log_level = "info";
};

// A job that exceeds one of these is ended and fails with the reason.
void DeclareLimits(CLI::App& app, trainyard::worker::RankLimits& limits) {
  const auto declare = [&](const char* flag, int64_t& limit, const char* what) {
    return app.add_option(flag, limit, what)->check(CLI::Range(int64_t{0}, int64_t{1} << 50));
  };
  declare(
      "--telemetry-limit", limits.telemetry_bytes,
      "Bytes of telemetry that a job may have written here and the controller not stored yet; at "
      "most an eighth of the disk; 0: no limit")
      ->capture_default_str();
  declare(
      "--telemetry-rate-limit", limits.telemetry_rate,
      "Bytes a second of telemetry that a job may write here, over 10 s; in these 10 s at most a "
      "sixteenth of the disk; 0: no limit")
      ->capture_default_str();
  declare("--log-rate-limit", limits.log_rate,
          "Bytes a second of output that a job may write here, over 10 s; 0: no limit")
      ->capture_default_str();
  declare("--run-dir-limit", limits.run_dir_bytes,
          "Bytes that a job may keep in its ranks' TRAINYARD_RUN_DIR, and beside them "
          "(default: a quarter of the disk)");
  declare("--run-dir-files-limit", limits.run_dir_files,
          "Files and directories that a job may have there, at most 999999 "
          "(default: a quarter of those that the disk can hold)");
  declare("--processes-limit", limits.processes,
          "Processes and threads that a rank may have, where ranks have control groups; at most "
          "half of those that the machine can hold; 0: no limit")
      ->capture_default_str();
}

void Declare(CLI::App& app, Flags& flags) {
  app.set_version_flag("--version", "trainyard-worker " TRAINYARD_VERSION);
  app.add_option("--controller", flags.options.controller, "Address of the controller, HOST:PORT")
      ->default_val("127.0.0.1:7070");
  app.add_option("--token-file", flags.options.token_file,
                 "File of the controller's token (default: $TRAINYARD_TOKEN_FILE, the token of "
                 "`trainyard dev`, or /var/lib/trainyard/token)");
  app.add_option("--data-dir", flags.options.data_dir,
                 "Directory for the node's identity, its attempts and their output")
      ->required();
  app.add_option("--secrets", flags.options.secrets_dir,
                 "Directory with a file, mode 0600, for each variable that a job may name in "
                 "`secrets` (default: DATA_DIR/secrets)");
  app.add_option("--node-name", flags.options.node_name,
                 "Name shown to people (default: host name)");
  app.add_option("--address", flags.options.address,
                 "Address at which peers reach this node (default: the route to the controller)");
  app.add_option("--cpu-slots", flags.options.cpu_slots,
                 "CPU slots to offer (default: the number of cores when there is no GPU, else 0)");
  app.add_option("--metrics-listen", flags.options.metrics_listen,
                 "IP:PORT for Prometheus (GET /metrics); port 0 picks a free one and writes it to "
                 "DATA_DIR/metrics_address; `off` serves none")
      ->capture_default_str();
  app.add_flag("--insecure", flags.options.insecure,
               "Let other machines read --metrics-listen: unencrypted, and without a token");
  app.add_flag("!--no-gpu-metrics", flags.options.gpu_metrics,
               "Leave the measuring of GPUs to dcgm-exporter");
  app.add_option("--spool-limit", flags.options.spool_bytes_max,
                 "Bytes that output and telemetry of the ranks may take on disk; beyond them, and "
                 "on a disk that is nearly full, the oldest output is dropped")
      ->check(CLI::Range(int64_t{1} << 20, int64_t{1} << 50))
      ->capture_default_str();
  app.add_option("--free-space-floor", flags.options.free_space_floor,
                 "Free bytes on the disk of the data directory below which the node takes no new "
                 "rank (default: 256 MiB, at most a fortieth of the disk)")
      ->check(CLI::Range(int64_t{0}, int64_t{1} << 50));
  DeclareLimits(app, flags.options.limits);
  app.add_flag("--stop-ranks-on-exit", flags.options.stop_ranks_on_exit,
               "Stop all ranks on SIGTERM or SIGINT; otherwise they train on");
  app.add_option("--log-level", flags.log_level, "Least level that is logged")
      ->default_val("info")
      ->check(CLI::IsMember({"debug", "info", "warn", "error"}));
}

int Serve(const Flags& flags) {
  spdlog::set_default_logger(spdlog::stderr_color_mt("worker"));
  spdlog::set_formatter(trainyard::LogFormat());
  spdlog::set_level(spdlog::level::from_str(flags.log_level));
  auto worker = trainyard::worker::Worker::Open(flags.options);
  if (!worker.ok()) {
    const std::string message(worker.status().message());
    std::fprintf(stderr, "trainyard-worker: %s\n", message.c_str());
    return kStartFailed;
  }
  (*worker)->Run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  // Done before anything that creates threads or opens files: the shim must stay small.
  if (argc > 1 && std::string_view(argv[1]) == "shim") {
    return trainyard::worker::RunShim(argc - 1, argv + 1);
  }
  std::signal(SIGPIPE, SIG_IGN);
  // Exceeding a file size limit must fail like a full disk, not end the worker.
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
