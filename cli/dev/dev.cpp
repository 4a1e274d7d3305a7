#include "cli/dev/dev.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/dev/daemon.h"
#include "proto/access/token_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kPollInterval{50};
constexpr milliseconds kStartTimeout{20000};
// Time limit for stopping a worker. The limit exceeds the default stop_grace of jobs (60 s), in
// which ranks save a checkpoint. Jobs with a longer stop_grace do not extend the limit.
constexpr milliseconds kWorkerStopTimeout{90000};
constexpr milliseconds kControllerStopTimeout{10000};

// Creates the directory if it is missing. A new directory is private, because the environments of
// jobs are stored below it and may contain secrets.
absl::Status MakeDirectory(const fs::path& path) {
  std::error_code error;
  const bool fresh = fs::create_directories(path, error);
  if (!error && fresh) fs::permissions(path, fs::perms::owner_all, error);
  if (error) {
    return absl::ErrnoToStatus(
        error.value(),
        absl::StrCat("cannot create ", path.string(), "; choose another folder with --data-dir"));
  }
  return absl::OkStatus();
}

// A lock held while `dev` runs. The lock prevents a second `dev` in the same directory: the second
// `dev` would remove the address file of the first.
class DirectoryLock {
 public:
  ~DirectoryLock() {
    if (fd_ >= 0) close(fd_);
  }

  // Returns FAILED_PRECONDITION if another process holds the lock.
  absl::Status Take(const fs::path& directory) {
    fd_ = open((directory / "dev.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd_ < 0) {
      return absl::PermissionDeniedError(absl::StrCat("cannot write in ", directory.string(), ": ",
                                                      std::strerror(errno),
                                                      "\nchoose another folder with --data-dir"));
    }
    if (flock(fd_, LOCK_EX | LOCK_NB) == 0) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat("another `trainyard dev` is running in ", directory.string(),
                     "\nstop it, or choose another folder with --data-dir"));
  }

 private:
  int fd_ = -1;
};

// The daemons of one run of `trainyard dev`.
class LocalCluster {
 public:
  LocalCluster(const DevOptions& options, fs::path data_dir, Context& context)
      : options_(options), data_dir_(std::move(data_dir)), context_(context) {}
  ~LocalCluster() { Stop(); }
  LocalCluster(const LocalCluster&) = delete;
  LocalCluster& operator=(const LocalCluster&) = delete;

  // Returns false if the user pressed Ctrl-C.
  absl::StatusOr<bool> Start() {
    TRAINYARD_RETURN_IF_ERROR(MakeDirectory(data_dir_));
    TRAINYARD_RETURN_IF_ERROR(lock_.Take(data_dir_));
    TRAINYARD_RETURN_IF_ERROR(MakeDirectory(data_dir_ / "logs"));
    TRAINYARD_RETURN_IF_ERROR(MakeDirectory(data_dir_ / "secrets"));
    TRAINYARD_RETURN_IF_ERROR(StartController());
    TRAINYARD_ASSIGN_OR_RETURN(
        bool serving, WaitUntil("the controller to answer", [this] { return ReadAddress(); }));
    for (int i = 0; serving && i < options_.nodes; ++i) TRAINYARD_RETURN_IF_ERROR(StartWorker(i));
    if (!serving) return false;
    // Stores the token under the controller's address, where later commands of this user find it.
    if (!context_.environment.home.empty()) {
      TRAINYARD_RETURN_IF_ERROR(LinkToken(context_.environment.home, address_, TokenFile()));
    }
    Client client({address_}, context_.environment.limits, {.token_file = TokenFile()});
    return WaitUntil("the workers to connect",
                     [&] { return ReadyNodes(client) >= options_.nodes; });
  }

  // Restarts daemons that die. Returns OK after Ctrl-C. If a daemon dies too often, returns an
  // error with its name and the cause.
  absl::Status Watch() {
    while (!context_.environment.interrupt->WaitFor(kPollInterval)) {
      for (auto* group : {&controller_, &workers_}) {
        for (Daemon& daemon : *group) {
          TRAINYARD_ASSIGN_OR_RETURN(const std::string note, daemon.Keep(steady_clock::now()));
          if (!note.empty()) PrintNote(context_.console, note);
        }
      }
    }
    return absl::OkStatus();
  }

  // Stops the workers before the controller, because the workers need the controller until they
  // have stopped. A second call does nothing.
  void Stop() {
    for (Daemon& worker : workers_) worker.process().Signal(SIGTERM);
    const auto deadline = steady_clock::now() + kWorkerStopTimeout;
    for (Daemon& worker : workers_) WaitOrKill(worker.process(), deadline);
    workers_.clear();
    for (Daemon& controller : controller_) {
      controller.process().Signal(SIGTERM);
      WaitOrKill(controller.process(), steady_clock::now() + kControllerStopTimeout);
      RemoveAddressFiles();
    }
    controller_.clear();
    if (context_.environment.home.empty() || address_.empty()) return;
    std::error_code ignored;
    fs::remove(TokenLink(context_.environment.home, address_), ignored);
  }

  const std::string& address() const { return address_; }
  // The address of the dashboard, as "host:port".
  const std::string& http_address() const { return http_address_; }
  // Returns the daemons' names and process ids, so that users can kill a daemon and watch the
  // effect.
  std::vector<std::pair<std::string, pid_t>> Pids() {
    std::vector<std::pair<std::string, pid_t>> pids;
    for (auto* group : {&controller_, &workers_}) {
      for (Daemon& daemon : *group) {
        pids.emplace_back(daemon.process().name(), daemon.process().pid());
      }
    }
    return pids;
  }

 private:
  std::string LogPath(const std::string& name) const {
    return (data_dir_ / "logs" / (name + ".log")).string();
  }
  // Returns the path of a program in the same directory as this one.
  std::string ProgramPath(const std::string& name) const {
    return (fs::path(context_.environment.program_directory) / name).string();
  }
  std::string TokenFile() const { return (data_dir_ / "controller" / kTokenFileName).string(); }
  fs::path AddressFile() const { return data_dir_ / "controller.address"; }
  // The controller writes its HTTP address to this file, next to its --listen-file.
  fs::path HttpAddressFile() const { return data_dir_ / "controller.address.http"; }

  void RemoveAddressFiles() const {
    std::error_code ignored;
    fs::remove(AddressFile(), ignored);
    fs::remove(HttpAddressFile(), ignored);
  }

  absl::Status StartController() {
    RemoveAddressFiles();  // A killed run may have left address files.
    return AddDaemon(controller_, [this] { return LaunchController(); });
  }

  // After a restart, the controller listens at its earlier address, because workers and users know
  // that address.
  absl::StatusOr<ChildProcess> LaunchController() const {
    std::vector<std::string> arguments = {
        "--listen",      address_.empty() ? options_.listen : address_,
        "--data-dir",    (data_dir_ / "controller").string(),
        "--listen-file", AddressFile().string()};
    if (!http_address_.empty()) {
      arguments.insert(arguments.end(), {"--http-listen", http_address_});
    }
    return ChildProcess::Start("controller", ProgramPath("trainyard-controller"), arguments,
                               LogPath("controller"));
  }

  absl::Status StartWorker(int index) {
    const std::string name = absl::StrCat("node-", index + 1);
    return AddDaemon(workers_, [this, name] { return LaunchWorker(name); });
  }

  absl::StatusOr<ChildProcess> LaunchWorker(const std::string& name) const {
    return ChildProcess::Start(
        name, ProgramPath("trainyard-worker"),
        {"--controller", address_, "--token-file", TokenFile(), "--data-dir",
         (data_dir_ / name).string(), "--secrets", (data_dir_ / "secrets").string(), "--node-name",
         name, "--cpu-slots", absl::StrCat(options_.slots_per_node), "--stop-ranks-on-exit",
         // Use port 0, because there may be several workers on one machine.
         "--metrics-listen", "127.0.0.1:0"},
        LogPath(name));
  }

  absl::Status AddDaemon(std::vector<Daemon>& group, Daemon::Launch launch) {
    TRAINYARD_ASSIGN_OR_RETURN(
        Daemon daemon,
        Daemon::Start(std::move(launch), context_.environment.dev_restarts, steady_clock::now()));
    group.push_back(std::move(daemon));
    return absl::OkStatus();
  }

  // Returns true when the controller has written both addresses.
  bool ReadAddress() {
    std::ifstream file(AddressFile());
    if (!std::getline(file, address_) || address_.empty()) return false;
    std::ifstream http_file(HttpAddressFile());
    return std::getline(http_file, http_address_) && !http_address_.empty();
  }

  int ReadyNodes(Client& client) {
    const absl::StatusOr<v1::ListNodesResponse> response = client.ListNodes({});
    if (!response.ok()) return 0;
    return static_cast<int>(
        std::count_if(response->nodes().begin(), response->nodes().end(),
                      [](const v1::Node& node) { return node.state() == v1::NODE_STATE_READY; }));
  }

  // Returns false if the user pressed Ctrl-C.
  template <typename Condition>
  absl::StatusOr<bool> WaitUntil(const char* what, const Condition& condition) {
    const auto deadline = steady_clock::now() + kStartTimeout;
    while (!condition()) {
      TRAINYARD_RETURN_IF_ERROR(CheckAlive());
      if (steady_clock::now() > deadline) {
        return absl::InternalError(absl::StrCat("timed out after ", kStartTimeout.count() / 1000,
                                                " s waiting for ", what, "\nsee ",
                                                (data_dir_ / "logs").string()));
      }
      if (context_.environment.interrupt->WaitFor(kPollInterval)) return false;
    }
    return true;
  }

  // Returns an error if a daemon has died. A daemon that dies during startup is not restarted,
  // because the cause, such as a port in use, would persist.
  absl::Status CheckAlive() {
    for (auto* group : {&controller_, &workers_}) {
      for (Daemon& daemon : *group) TRAINYARD_RETURN_IF_ERROR(daemon.CheckAlive());
    }
    return absl::OkStatus();
  }

  // Waits for the child to end. Kills the child at the deadline or after a second Ctrl-C.
  void WaitOrKill(ChildProcess& child, steady_clock::time_point deadline) {
    while (!child.WaitFor(kPollInterval)) {
      const bool impatient = context_.environment.interrupt->count() > 1;
      if (!impatient && steady_clock::now() < deadline) continue;
      PrintNote(context_.console, absl::StrCat("killing ", child.name(), " (pid ", child.pid(), ")",
                                               impatient ? "" : ", which did not stop in time"));
      child.Signal(SIGKILL);
      child.WaitFor(kControllerStopTimeout);  // Reaps the child, which ends at once after SIGKILL.
      return;
    }
  }

  const DevOptions& options_;
  const fs::path data_dir_;
  Context& context_;
  DirectoryLock lock_;
  std::string address_;
  std::string http_address_;
  // A vector with at most one element, because a Daemon cannot exist before its process is
  // started.
  std::vector<Daemon> controller_;
  std::vector<Daemon> workers_;
};

void PrintReady(const DevOptions& options, LocalCluster& cluster, const fs::path& data_dir,
                Context& context) {
  const std::string& address = cluster.address();
  const std::string dashboard = absl::StrCat("http://", cluster.http_address());
  const std::string logs = (data_dir / "logs").string();
  if (context.format == OutputFormat::kJson || context.format == OutputFormat::kYaml ||
      context.format == OutputFormat::kCsv) {
    nlohmann::json pids = nlohmann::json::object();
    for (const auto& [name, pid] : cluster.Pids()) pids[name] = pid;
    PrintDocument({{"server", address},
                   {"dashboard", dashboard},
                   {"nodes", options.nodes},
                   {"slots_per_node", options.slots_per_node},
                   {"pids", pids},
                   {"data_dir", data_dir.string()},
                   {"token_file", (data_dir / "controller" / kTokenFileName).string()},
                   {"logs", logs}},
                  address, context.format, context.console);
  } else {
    *context.console.out << "controller  " << address << "\ndashboard   " << dashboard
                         << "\nnodes       " << options.nodes << " with " << options.slots_per_node
                         << " CPU slot" << (options.slots_per_node == 1 ? "" : "s")
                         << " each\npids        "
                         << absl::StrJoin(cluster.Pids(), ", ", absl::PairFormatter(" "))
                         << "\ndata        " << data_dir.string() << "\nlogs        " << logs
                         << "\n";
  }
  context.console.out->flush();
  const std::string server = address == kDefaultServer ? "" : absl::StrCat(" --server ", address);
  PrintNote(context.console,
            absl::StrCat("ready; in another terminal:\n  trainyard nodes", server,
                         "\n  trainyard submit -f job.yaml", server, "\n  trainyard ps", server,
                         "\n  trainyard dashboard", server,
                         "\ndaemons that exit are restarted; Ctrl-C stops everything"));
}

absl::StatusOr<fs::path> DataDirectory(const DevOptions& options, const Context& context) {
  if (!options.data_dir.empty()) return fs::absolute(options.data_dir);
  if (context.environment.home.empty()) {
    return absl::InvalidArgumentError("there is no home directory; set a folder with --data-dir");
  }
  return fs::path(context.environment.home) / ".local/share/trainyard/dev";
}

}  // namespace

void AddDev(CLI::App& app, Grammar& grammar) {
  const auto options = std::make_shared<DevOptions>();
  CLI::App* command =
      app.add_subcommand("dev", "Run a controller and workers on this machine until Ctrl-C");
  command->add_option("--nodes", options->nodes, "number of workers")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  command->add_option("--slots", options->slots_per_node, "CPU slots per worker")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  command->add_option("--data-dir", options->data_dir,
                      "directory for all state (default: ~/.local/share/trainyard/dev)");
  command->add_option("--listen", options->listen, "address of the controller")
      ->capture_default_str()
      ->type_name("HOST:PORT");
  grammar.runners[command] = [options](Context& context) { return RunDev(*options, context); };
}

Outcome RunDev(const DevOptions& options, Context& context) {
  TRAINYARD_ASSIGN_OR_RETURN(const fs::path data_dir, DataDirectory(options, context));
  if (context.environment.listen_to_signals) {
    context.environment.interrupt->Listen();
    // SIGPIPE is ignored: a closed stdout must not end this process before it has stopped the
    // daemons.
    std::signal(SIGPIPE, SIG_IGN);
  }
  LocalCluster cluster(options, data_dir, context);
  const absl::StatusOr<bool> started = cluster.Start();
  TRAINYARD_RETURN_IF_ERROR(started.status());
  if (*started) {
    PrintReady(options, cluster, data_dir, context);
    TRAINYARD_RETURN_IF_ERROR(cluster.Watch());
  }
  PrintNote(context.console, "stopping");
  cluster.Stop();
  PrintNote(context.console, "stopped");
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
