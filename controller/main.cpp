// trainyard-controller: the daemon that queues jobs, places gangs and decides how to react to
// failures.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/access/restored_access.h"
#include "controller/cluster_member.h"
#include "controller/controller.h"
#include "controller/hand_over_exit.h"
#include "controller/price_setting.h"
#include "controller/rpc/server.h"
#include "controller/storage/store_setting.h"
#include "controller/store/files/backup.h"
#include "controller/store/files/data_directory.h"
#include "controller/store/files/moved_mark.h"
#include "controller/store/files/store_check.h"
#include "controller/store/store_move.h"
#include "grpc/grpc.h"
#include "proto/access/token_file.h"
#include "proto/support/clock.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/text/log_format.h"
#include "spdlog/spdlog.h"

// jemalloc reads this at process start (jemalloc(3), TUNING). The snapshot thread builds and frees
// a second copy of the state, and is then idle for a long time. During that time only jemalloc's
// background thread returns the freed memory to the system. By default, jemalloc also returns
// blocks of 8 MiB and more at once. Packs of code need such blocks one after another, and the page
// faults of new ones took two thirds of the controller's time for a pack.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "background_thread:true,oversize_threshold:0";
}

namespace {

constexpr int kExitStartFailed = 1;
constexpr int kExitBadFlags = 2;
// `trainyard dev` kills the controller after 10 s, so this limit must be shorter.
constexpr std::chrono::seconds kStopLimit{7};
// Must be longer than a worker's delay between two attempts to attach.
constexpr int64_t kConfirmLogMs = 5000;
// Wakes the main thread for a hand-over.
constexpr int kHandOverSignal = SIGUSR1;

std::atomic<bool> hand_over_due = false;

struct Flags {
  trainyard::controller::ControllerOptions options;
  std::string log_level = "info";
  std::string listen_file;
  std::string http_listen;
  std::string config;
  trainyard::controller::PriceSetting price;
  int64_t growth_interval_s = 1800;
  // Empty: use DATA_DIR/token.
  std::string token_file;
  std::string tls_certificate;
  std::string tls_key;
  // The directory that `backup` writes and `restore` reads.
  std::string backup_directory;
  CLI::App* backup = nullptr;
  CLI::App* restore = nullptr;
  CLI::App* check = nullptr;
  CLI::App* migrate = nullptr;
  std::string migrate_to;
};

// Returns the default HTTP address: the host of the gRPC address, with the gRPC port plus 1. If the
// gRPC port is 0 or 65535, any free port.
std::string HttpListen(const Flags& flags) {
  if (flags.http_listen == "off") return "";
  if (!flags.http_listen.empty()) return flags.http_listen;
  const std::string& listen = flags.options.listen;
  const std::size_t colon = listen.rfind(':');
  int port = 0;
  // A malformed address is reported later, as an error of --listen.
  if (colon == std::string::npos || !absl::SimpleAtoi(listen.substr(colon + 1), &port)) return "";
  return absl::StrCat(listen.substr(0, colon + 1), port == 0 || port >= 65535 ? 0 : port + 1);
}

void DefineTlsFlags(CLI::App& app, Flags& flags) {
  auto* certificate = app.add_option("--tls-cert", flags.tls_certificate,
                                     "PEM file with this controller's certificate (and its chain)");
  app.add_option("--tls-key", flags.tls_key, "PEM file with the private key of the certificate")
      ->needs(certificate);
  certificate->needs(app.get_option("--tls-key"));
}

void DefineFlags(CLI::App& app, Flags& flags) {
  app.set_version_flag("--version", TRAINYARD_VERSION);
  app.add_option("--listen", flags.options.listen,
                 "HOST:PORT to serve on; port 0 picks a free port")
      ->capture_default_str();
  app.add_option("--data-dir", flags.options.data_dir, "directory of the controller's store")
      ->required();
  app.add_option("--postgres", flags.options.postgres,
                 "connection string of a PostgreSQL database for jobs, metrics and output, such as "
                 "service=trainyard; default: SQLite in the data directory");
  app.add_flag("--accept-lost-events", flags.options.accept_lost_events,
               "continue with a PostgreSQL database that has lost acknowledged events, such as "
               "after a fail-over to an asynchronous replica; needed at one start only");
  app.add_option("--checkpoint-root", flags.options.checkpoint_root,
                 "directory for the checkpoints of jobs without checkpoint.dir; every node must "
                 "see it [DATA_DIR/checkpoints]");
  app.add_option(
      "--config", flags.config,
      "YAML file with the sections `retention`, `hooks`, `cost` and `store` (deploy/README.md)");
  app.add_option("--gpu-hour-price", flags.price.gpu_hour_price,
                 "price of one GPU for one hour, such as 2.10; reports then show costs");
  app.add_option("--currency", flags.price.currency, "currency of --gpu-hour-price, such as USD");
  app.add_option("--growth-interval", flags.growth_interval_s,
                 "minimum age in seconds of an attempt of an elastic job before the job may get "
                 "more nodes")
      ->check(CLI::Range(0, 86400))
      ->capture_default_str();
  app.add_option(
         "--promised-heads", flags.options.loop.core.promised_heads,
         "number of first jobs in line that are promised a time for their slots; later jobs "
         "start only if they delay none of them")
      ->check(CLI::Range(1, trainyard::controller::kMostPromisedHeads))
      ->capture_default_str();
  app.add_option("--listen-file", flags.listen_file,
                 "file to which the controller writes its actual HOST:PORT once it accepts calls");
  app.add_option("--advertise", flags.options.advertise,
                 "HOST:PORT at which workers, users and other controllers on the same database "
                 "reach this controller [the address of --listen]");
  app.add_option("--http-listen", flags.http_listen,
                 "HOST:PORT of the dashboard and the REST API; port 0 picks a free port, and off "
                 "disables both [the port of --listen plus 1]");
  app.add_option(
      "--token-file", flags.token_file,
      "file with the token that every caller must send; created if missing [DATA_DIR/token]");
  app.add_flag("--token-for-group", flags.options.token_for_group,
               "let the group of this process read the token file and connect to the local socket");
  DefineTlsFlags(app, flags);
  app.add_flag("--insecure", flags.options.insecure,
               "allow connections from other machines without TLS; every page of the dashboard "
               "shows a warning");
  app.add_option("--http-host", flags.options.http.own_names,
                 "another host name under which browsers reach the dashboard; may be repeated");
  app.add_option("--web-root", flags.options.http.web_root,
                 "serve the dashboard's files from this directory (for dashboard development)");
  app.add_option("--log-level", flags.log_level, "minimum level to log")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "critical", "off"}))
      ->capture_default_str();
}

void DefineCommands(CLI::App& app, Flags& flags) {
  // Allows options of the controller after the command, as in `backup DIR --data-dir D`.
  app.fallthrough();
  flags.backup = app.add_subcommand(
      "backup",
      "copy the store to a new directory, then exit; works while a controller is running");
  flags.backup->add_option("dir", flags.backup_directory, "directory to create")->required();
  flags.restore = app.add_subcommand(
      "restore", "restore a backup to a data directory that contains no store files, then exit");
  flags.restore->add_option("dir", flags.backup_directory, "directory of the backup")->required();
  flags.check = app.add_subcommand(
      "check", "verify every page of a stopped controller's store, then exit (1 if damaged)");
  flags.migrate = app.add_subcommand(
      "migrate", "move a stopped controller's store to the other kind of database, then exit");
  flags.migrate
      ->add_option("--to", flags.migrate_to,
                   "postgres (the database of --postgres or store.postgres), or sqlite (files in "
                   "the data directory)")
      ->check(CLI::IsMember({"postgres", "sqlite"}))
      ->required();
  app.require_subcommand(0, 1);
}

void SetUpLog(const std::string& level) {
  spdlog::set_default_logger(spdlog::default_logger()->clone("controller"));
  spdlog::set_formatter(trainyard::LogFormat());
  spdlog::set_level(spdlog::level::from_str(level));
  trainyard::controller::RouteGrpcLog();
}

int Fail(const std::string& message) {
  std::fprintf(stderr, "trainyard-controller: %s\n", message.c_str());
  return kExitStartFailed;
}

std::string TokenFile(const Flags& flags) {
  if (!flags.token_file.empty()) return flags.token_file;
  return absl::StrCat(flags.options.data_dir, "/", trainyard::kTokenFileName);
}

absl::StatusOr<trainyard::controller::BackupSummary> CopyStores(const Flags& flags) {
  namespace controller = trainyard::controller;
  const controller::StorePlaces places{.data_directory = flags.options.data_dir,
                                       .postgres = flags.options.postgres};
  const int64_t now_ms = trainyard::SystemClock().Now();
  if (places.postgres.empty()) {
    return flags.restore->parsed()
               ? controller::Restore(flags.backup_directory, places.data_directory, now_ms)
               : controller::BackUp(places.data_directory, flags.backup_directory);
  }
  return flags.restore->parsed()
             ? controller::RestoreToPostgres(flags.backup_directory, places, now_ms)
             : controller::BackUpPostgres(places.postgres, flags.backup_directory);
}

int BackUpOrRestore(const Flags& flags) {
  const bool restores = flags.restore->parsed();
  const auto done = CopyStores(flags);
  if (!done.ok()) return Fail(std::string(done.status().message()));
  std::printf("%s %s: events up to %llu, %lld bytes, verified\n",
              restores ? "restored from" : "backed up to", done->directory.c_str(),
              static_cast<unsigned long long>(done->last_sequence),
              static_cast<long long>(done->bytes));
  if (restores) {
    std::printf(
        "Jobs that were submitted after the backup continue to run, but the controller does "
        "not\nmanage them. It cordons their nodes when the workers attach (`trainyard nodes` shows "
        "why),\nand the output of these jobs stays on the nodes. If a job ended or was restarted "
        "after\nthe backup, the job runs again from the newest checkpoint that the backup "
        "lists.\n");
    std::fputs(trainyard::controller::RestoredAccessText(TokenFile(flags)).c_str(), stdout);
  }
  return 0;
}

int CheckStores(const std::string& data_dir) {
  // Check that the directory exists, because DataDirectory::Open would create it.
  std::error_code error;
  if (!std::filesystem::exists(absl::StrCat(data_dir, "/events.db"), error) &&
      !std::filesystem::exists(absl::StrCat(data_dir, "/cluster_id"), error)) {
    return Fail(absl::StrCat("there is no controller store in ", data_dir,
                             "; set --data-dir to its data directory"));
  }
  if (const absl::Status files = trainyard::controller::CheckStoresAreFiles(data_dir);
      !files.ok()) {
    return Fail(std::string(files.message()));
  }
  // Lock the directory, because a controller that started during the check would change the files.
  const auto directory = trainyard::controller::DataDirectory::Open(data_dir);
  if (!directory.ok()) {
    return Fail(absl::StrCat(directory.status().message(),
                             "; for a running controller, use: trainyard server check"));
  }
  int problems = 0;
  std::string first_id;
  for (const char* name : {"events", "metrics", "logs"}) {
    auto result = trainyard::controller::CheckDatabase(absl::StrCat(data_dir, "/", name, ".db"));
    if (first_id.empty()) first_id = result.cluster_id;
    if (!result.cluster_id.empty() && result.cluster_id != first_id) {
      result.problems.push_back(absl::StrCat(name, ".db belongs to cluster ", result.cluster_id,
                                             ", but events.db belongs to cluster ", first_id));
    }
    std::printf("%s.db: %lld bytes, %s\n", name, static_cast<long long>(result.bytes),
                result.problems.empty() ? "ok" : "DAMAGED");
    for (const std::string& problem : result.problems) std::printf("  %s\n", problem.c_str());
    problems += static_cast<int>(result.problems.size());
  }
  return problems == 0 ? 0 : kExitStartFailed;
}

int Migrate(const Flags& flags) {
  namespace controller = trainyard::controller;
  if (flags.options.postgres.empty()) {
    return Fail("set --postgres, or store.postgres in the file of --config, to the database");
  }
  const bool to_postgres = flags.migrate_to == "postgres";
  const controller::StorePlaces places{.data_directory = flags.options.data_dir,
                                       .postgres = flags.options.postgres};
  const auto moved =
      to_postgres ? controller::MoveToPostgres(places) : controller::MoveToFiles(places);
  if (!moved.ok()) return Fail(std::string(moved.status().message()));
  std::printf("%-14s %12s  %s\n", "table", "rows", "hash of source and copy");
  for (const controller::MovedTable& table : *moved) {
    std::printf("%-14s %12lld  %016llx\n", table.name.c_str(), static_cast<long long>(table.rows),
                static_cast<unsigned long long>(table.hash));
  }
  std::printf("The store is now in %s. Start the controller %s.\n",
              to_postgres ? "PostgreSQL" : flags.options.data_dir.c_str(),
              to_postgres ? "with the same --postgres or --config; its SQLite files may be removed"
                          : "without --postgres and without store.postgres");
  return 0;
}

// Reads the configuration file, if one is named, and applies the flags that replace its values.
// Returns the error to print, or an empty string on success.
std::string ReadConfig(Flags& flags) {
  std::string text;
  if (!flags.config.empty()) {
    std::ifstream file(flags.config);
    text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (!file.is_open() || file.bad()) return "cannot read --config " + flags.config;
    const auto policy = trainyard::controller::ParseRetention(text);
    if (!policy.ok()) return flags.config + ": " + std::string(policy.status().message());
    flags.options.retention.policy = *policy;
    auto hooks = trainyard::controller::ParseHooks(text);
    if (!hooks.ok()) return flags.config + ": " + std::string(hooks.status().message());
    flags.options.hooks = *std::move(hooks);
  }
  auto price = trainyard::controller::ReadGpuPrice(text, flags.price);
  if (!price.ok()) return std::string(price.status().message());
  flags.options.loop.core.gpu_price = *std::move(price);
  auto postgres = trainyard::controller::ReadPostgresSetting(text, flags.options.postgres);
  if (!postgres.ok()) return flags.config + ": " + std::string(postgres.status().message());
  flags.options.postgres = *std::move(postgres);
  return "";
}

// Reads the token, the certificate and the key. Creates the token at the first start. Returns the
// error to print, or an empty string on success.
std::string ReadAccess(Flags& flags) {
  if (flags.token_file.empty()) {
    // Create the data directory now, because the token is stored in it. The stores are opened only
    // later.
    if (const absl::Status made = trainyard::controller::MakeDataDirectory(flags.options.data_dir);
        !made.ok()) {
      return std::string(made.message());
    }
    flags.token_file = TokenFile(flags);
  }
  auto token = trainyard::ReadOrMakeToken(flags.token_file, flags.options.token_for_group);
  if (!token.ok()) return std::string(token.status().message());
  flags.options.token = *std::move(token);
  flags.options.token_file = flags.token_file;
  for (const auto& [path, text] :
       {std::pair(&flags.tls_certificate, &flags.options.tls.certificate),
        std::pair(&flags.tls_key, &flags.options.tls.key)}) {
    if (path->empty()) continue;
    auto read = trainyard::ReadSmallFile(*path);
    if (!read.ok()) return std::string(read.status().message());
    *text = *std::move(read);
  }
  return "";
}

// Writes the address atomically, so that readers never see a partial file.
bool WriteListenFile(const std::string& path, const std::string& address) {
  const std::string temporary = path + ".new";
  std::ofstream file(temporary);
  file << address << "\n";
  file.close();
  return file.good() && std::rename(temporary.c_str(), path.c_str()) == 0;
}

// Returns the error to print, or an empty string on success. Writes nothing if `path` is empty.
std::string WriteListenFiles(const std::string& path,
                             const trainyard::controller::Controller& controller) {
  if (path.empty()) return "";
  if (!WriteListenFile(path, controller.address())) return "cannot write --listen-file " + path;
  if (WriteListenFile(path + ".http", controller.http_address())) return "";
  return "cannot write --listen-file " + path + ".http";
}

// Blocks the signals that the main thread waits for, and ignores others. Call before any thread
// starts, because threads inherit the mask. Only sigwait then receives the blocked signals. Returns
// the signals that ask the process to stop.
sigset_t SetUpSignals() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  sigset_t blocked = stop;
  sigaddset(&blocked, kHandOverSignal);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  signal(SIGPIPE, SIG_IGN);
  // Ignore SIGXFSZ, which would end the process. The stores handle a file size limit like a full
  // disk.
  signal(SIGXFSZ, SIG_IGN);
  return stop;
}

// Starts the controller. With a database, waits first until this controller leads. `stop_signals`
// are blocked; one of them ends the wait, and the controller is then null.
absl::StatusOr<trainyard::controller::ClusterMember> StartServing(const Flags& flags,
                                                                  const trainyard::Clock& clock,
                                                                  const sigset_t& stop_signals) {
  using trainyard::controller::ClusterMember;
  if (!flags.options.postgres.empty()) {
    return trainyard::controller::StartMember(
        flags.options, clock,
        {.stop_requested =
             [&stop_signals](std::chrono::milliseconds time) {
               const timespec limit{time.count() / 1000, time.count() % 1000 * 1'000'000};
               return sigtimedwait(&stop_signals, nullptr, &limit) > 0;
             },
         .on_hand_over =
             [] {
               hand_over_due = true;
               kill(getpid(), kHandOverSignal);
             }});
  }
  ClusterMember alone;
  TRAINYARD_ASSIGN_OR_RETURN(alone.controller,
                             trainyard::controller::Controller::Start(flags.options, clock));
  return alone;
}

// Waits until the process is asked to stop, or until a hand-over is due. Returns the signal.
int WaitForEnd(const sigset_t& stop_signals) {
  sigset_t signals = stop_signals;
  sigaddset(&signals, kHandOverSignal);
  int received = 0;
  do {
    sigwait(&signals, &received);
    // Other processes can send this signal as well.
  } while (received == kHandOverSignal && !hand_over_due);
  return received;
}

}  // namespace

int main(int argc, char** argv) {
  Flags flags;
  CLI::App app(
      "The Trainyard controller: queues jobs, places them on nodes, and restarts them after "
      "failures.");
  DefineFlags(app, flags);
  DefineCommands(app, flags);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kExitBadFlags;
  }
  if (flags.check->parsed()) return CheckStores(flags.options.data_dir);
  if (const std::string error = ReadConfig(flags); !error.empty()) {
    Fail(error);
    return kExitBadFlags;
  }
  if (flags.backup->parsed() || flags.restore->parsed()) return BackUpOrRestore(flags);
  if (flags.migrate->parsed()) return Migrate(flags);
  if (const std::string error = ReadAccess(flags); !error.empty()) return Fail(error);
  SetUpLog(flags.log_level);
  flags.options.http.listen = HttpListen(flags);

  const sigset_t stop_signals = SetUpSignals();
  flags.options.loop.core.confirm_log_ms = kConfirmLogMs;
  flags.options.loop.core.growth_interval_ms = 1000 * flags.growth_interval_s;
  const trainyard::SystemClock clock;
  // Keeps gRPC initialized until the process ends. Otherwise, gRPC's last shutdown might wait 10 s
  // for its backup poller, and the stores would not be closed within kStopLimit.
  grpc_init();
  auto member = StartServing(flags, clock, stop_signals);
  if (!member.ok()) return Fail(std::string(member.status().message()));
  if (member->controller == nullptr) return 0;
  if (const std::string error = WriteListenFiles(flags.listen_file, *member->controller);
      !error.empty()) {
    return Fail(error);
  }

  const int received = WaitForEnd(stop_signals);
  if (received == kHandOverSignal) {
    trainyard::controller::ExitToHandOver(*member->controller);
  }
  spdlog::info("stopping on {}; running jobs continue", received == SIGINT ? "SIGINT" : "SIGTERM");
  // From now on, a second signal ends the process immediately.
  pthread_sigmask(SIG_UNBLOCK, &stop_signals, nullptr);
  trainyard::controller::Controller::StopWithin(kStopLimit, std::move(member->controller));
  return 0;
}
