// trainyard-controller: the daemon that queues jobs, places gangs and decides what happens when
// something breaks.
#include <pthread.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/controller.h"
#include "controller/rpc/server.h"
#include "controller/store/backup.h"
#include "proto/support/clock.h"
#include "spdlog/spdlog.h"

// Read by jemalloc when the process starts (jemalloc(3), TUNING). The thread that writes snapshots
// builds the whole state a second time and then rests for long: only a thread of jemalloc's own gives
// back what it has freed.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true";
}

namespace {

constexpr int kExitStartFailed = 1;
constexpr int kExitBadFlags = 2;
// `trainyard dev` waits 10 s before it kills.
constexpr std::chrono::seconds kStopLimit{7};

struct Flags {
  trainyard::controller::ControllerOptions options;
  std::string log_level = "info";
  std::string listen_file;
  std::string http_listen;
  std::string config;
  // Of `backup` and `restore`.
  std::string backup_directory;
  CLI::App* backup = nullptr;
  CLI::App* restore = nullptr;
};

// The port after gRPC's on the same host; a free one where gRPC takes a free one.
std::string HttpListen(const Flags& flags) {
  if (flags.http_listen == "off") return "";
  if (!flags.http_listen.empty()) return flags.http_listen;
  const std::string& listen = flags.options.listen;
  const std::size_t colon = listen.rfind(':');
  int port = 0;
  // A malformed address is refused later, as an error of --listen.
  if (colon == std::string::npos || !absl::SimpleAtoi(listen.substr(colon + 1), &port)) return "";
  return absl::StrCat(listen.substr(0, colon + 1), port == 0 || port >= 65535 ? 0 : port + 1);
}

void DefineFlags(CLI::App& app, Flags& flags) {
  app.set_version_flag("--version", TRAINYARD_VERSION);
  app.add_option("--listen", flags.options.listen, "HOST:PORT to serve on; port 0 picks a free one")
      ->capture_default_str();
  app.add_option("--data-dir", flags.options.data_dir, "directory of the controller's store")
      ->required();
  app.add_option(
      "--checkpoint-root", flags.options.checkpoint_root,
      "directory for jobs without checkpoint.dir, seen by every node [DATA_DIR/checkpoints]");
  app.add_option("--config", flags.config,
                 "YAML file with the section `retention` (deploy/README.md)");
  app.add_option("--listen-file", flags.listen_file,
                 "file to write the real HOST:PORT to once serving");
  app.add_option("--http-listen", flags.http_listen,
                 "HOST:PORT of the dashboard and the REST API; port 0 picks a free one, and off "
                 "turns them off [the port after --listen's]");
  app.add_option("--http-host", flags.options.http.own_names,
                 "a further host name under which browsers reach the dashboard; repeatable");
  app.add_option("--web-root", flags.options.http.web_root,
                 "serve the dashboard's files from this directory (for its development)");
  app.add_option("--log-level", flags.log_level, "least level that is logged")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "critical", "off"}))
      ->capture_default_str();
}

void DefineCommands(CLI::App& app, Flags& flags) {
  // `backup DIR --data-dir D` is `--data-dir D backup DIR`.
  app.fallthrough();
  flags.backup = app.add_subcommand(
      "backup", "copy the store to a new directory and end; a controller may run meanwhile");
  flags.backup->add_option("dir", flags.backup_directory, "directory to make")->required();
  flags.restore = app.add_subcommand(
      "restore", "put a backup into a data directory that has no store, and end");
  flags.restore->add_option("dir", flags.backup_directory, "a backup")->required();
  app.require_subcommand(0, 1);
}

void SetUpLog(const std::string& level) {
  spdlog::set_default_logger(spdlog::default_logger()->clone("controller"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  spdlog::set_level(spdlog::level::from_str(level));
  trainyard::controller::RouteGrpcLog();
}

int Fail(const std::string& message) {
  std::fprintf(stderr, "trainyard-controller: %s\n", message.c_str());
  return kExitStartFailed;
}

int BackUpOrRestore(const Flags& flags) {
  namespace controller = trainyard::controller;
  const std::string& data_dir = flags.options.data_dir;
  const bool restores = flags.restore->parsed();
  const auto done = restores ? controller::Restore(flags.backup_directory, data_dir,
                                                   trainyard::SystemClock().Now())
                             : controller::BackUp(data_dir, flags.backup_directory);
  if (!done.ok()) return Fail(std::string(done.status().message()));
  std::printf("%s %s: events up to %llu, %lld bytes, verified\n",
              restores ? "restored from" : "backed up to", done->directory.c_str(),
              static_cast<unsigned long long>(done->last_sequence),
              static_cast<long long>(done->bytes));
  if (restores) {
    std::printf(
        "Jobs that were submitted after the backup run on where they run, unmanaged: their nodes\n"
        "are cordoned when they attach (`trainyard nodes` says why), their output stays there.\n"
        "Jobs that ended or were restarted after it run again from the newest checkpoint in it.\n");
  }
  return 0;
}

// Error to print; empty when all is well or no file is named.
std::string ReadConfig(Flags& flags) {
  if (flags.config.empty()) return "";
  std::ifstream file(flags.config);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) return "cannot read --config " + flags.config;
  const auto policy = trainyard::controller::ParseRetention(text);
  if (!policy.ok()) return flags.config + ": " + std::string(policy.status().message());
  flags.options.retention.policy = *policy;
  return "";
}

// Writes the file atomically: readers never see a part of it.
bool WriteListenFile(const std::string& path, const std::string& address) {
  const std::string temporary = path + ".new";
  std::ofstream file(temporary);
  file << address << "\n";
  file.close();
  return file.good() && std::rename(temporary.c_str(), path.c_str()) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app("The Trainyard controller: queues jobs, places them, and keeps them alive.");
  DefineFlags(app, flags);
  DefineCommands(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitBadFlags;
  }
  if (flags.backup->parsed() || flags.restore->parsed()) return BackUpOrRestore(flags);
  if (const std::string error = ReadConfig(flags); !error.empty()) {
    Fail(error);
    return kExitBadFlags;
  }
  SetUpLog(flags.log_level);
  flags.options.http.listen = HttpListen(flags);

  // Before any thread starts: all of them inherit the mask, and sigwait gets the signals.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  // The stores treat a limit on file sizes as a full disk; it must not end the process.
  signal(SIGXFSZ, SIG_IGN);

  const trainyard::SystemClock clock;
  auto controller = trainyard::controller::Controller::Start(flags.options, clock);
  if (!controller.ok()) return Fail(std::string(controller.status().message()));
  if (!flags.listen_file.empty() && !WriteListenFile(flags.listen_file, (*controller)->address())) {
    return Fail("cannot write --listen-file " + flags.listen_file);
  }
  if (!flags.listen_file.empty() &&
      !WriteListenFile(flags.listen_file + ".http", (*controller)->http_address())) {
    return Fail("cannot write --listen-file " + flags.listen_file + ".http");
  }

  int received = 0;
  sigwait(&signals, &received);
  spdlog::info("stopping on {}; running jobs go on", received == SIGINT ? "SIGINT" : "SIGTERM");
  // A second signal ends the process at once.
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  trainyard::controller::Controller::StopWithin(kStopLimit, *std::move(controller));
  return 0;
}
