#include "tests/controller/store/postgres/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "absl/strings/str_cat.h"
#include "controller/store/postgres/postgres_database.h"

namespace trainyard::controller {
namespace {

namespace fs = std::filesystem;

constexpr auto kStartLimit = std::chrono::seconds(40);

// Returns the folder with initdb of the newest installed version; empty if there is none. Debian
// installs servers outside PATH.
std::string FindBinaries() {
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", error)) {
    if (fs::exists(version.path() / "bin/initdb")) found.push_back(version.path() / "bin");
  }
  return found.empty() ? "" : std::ranges::max(found).string();
}

struct Account {
  uid_t user = 0;
  gid_t group = 0;
};

// The account of the server, other than root.
Account ServerAccount() {
  if (getuid() != 0) return {getuid(), getgid()};
  const passwd* entry = getpwnam("postgres");
  if (entry == nullptr) entry = getpwnam("nobody");
  return entry == nullptr ? Account{65534, 65534} : Account{entry->pw_uid, entry->pw_gid};
}

// Starts a program with its output in `log`. The program is killed when this process ends.
pid_t Spawn(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const Account account = ServerAccount();
  const pid_t pid = fork();
  if (pid != 0) return pid;
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (getuid() == 0 &&
      (setgroups(0, nullptr) != 0 || setgid(account.group) != 0 || setuid(account.user) != 0)) {
    _exit(126);
  }
  // A change of the user clears this setting, so it comes last.
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (chdir("/") == 0) execv(arguments[0], arguments.data());
  _exit(127);
}

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

absl::StatusOr<PostgresServer*> PostgresServer::Shared() {
  static const absl::StatusOr<std::unique_ptr<PostgresServer>> server =
      []() -> absl::StatusOr<std::unique_ptr<PostgresServer>> {
    const std::string binaries = FindBinaries();
    if (binaries.empty()) {
      return absl::NotFoundError("no PostgreSQL server in /usr/lib/postgresql; install postgresql");
    }
    std::unique_ptr<PostgresServer> started(new PostgresServer());
    TRAINYARD_RETURN_IF_ERROR(started->Start(binaries));
    return started;
  }();
  if (!server.ok()) return server.status();
  return server->get();
}

absl::Status PostgresServer::Start(const std::string& binaries) {
  binaries_ = binaries;
  std::string path = access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : testing::TempDir();
  path += "trainyard_postgres_XXXXXX";
  if (mkdtemp(path.data()) == nullptr) return absl::InternalError("cannot create " + path);
  directory_ = path;
  const Account account = ServerAccount();
  if (chown(path.c_str(), account.user, account.group) != 0) {
    return absl::InternalError("cannot change the owner of " + path);
  }
  const std::string log = path + "/log";
  const pid_t init = Spawn({binaries + "/initdb", "-D", path + "/data", "-U", "trainyard", "-A",
                            "trust", "-E", "UTF8", "--locale=C", "--no-sync"},
                           log);
  int status = 0;
  waitpid(init, &status, 0);
  if (status != 0) return absl::InternalError("initdb failed: " + TextOf(log));
  std::ofstream(path + "/data/pg_hba.conf")
      << "local all secret scram-sha-256\nlocal all all trust\nlocal replication all trust\n";
  return StartProcess();
}

absl::Status PostgresServer::StartProcess() {
  pid_ = Spawn(
      {binaries_ + "/postgres", "-D", directory_ + "/data", "-k", directory_, "-c",
       "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=60", "-c",
       "shared_buffers=16MB", "-c", "max_wal_size=64MB", "-c", "unix_socket_permissions=0777"},
      directory_ + "/log");
  return WaitUntilReady();
}

absl::Status PostgresServer::WaitUntilReady() const {
  const auto deadline = std::chrono::steady_clock::now() + kStartLimit;
  while (true) {
    const absl::Status status = PostgresDatabase::Connect(Settings()).status();
    if (status.ok()) return status;
    if (std::chrono::steady_clock::now() > deadline) {
      return absl::InternalError(
          absl::StrCat(status.message(), "; log of the server: ", TextOf(directory_ + "/log")));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

void PostgresServer::Stop(int signal) {
  if (pid_ <= 0) return;
  kill(pid_, signal);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

absl::Status PostgresServer::CrashAndRestart() {
  Stop(SIGQUIT);
  return StartProcess();
}

PostgresServer::~PostgresServer() {
  Stop(SIGINT);
  std::error_code error;
  fs::remove_all(directory_, error);
}

std::string PostgresServer::SettingsFor(const std::string& user) const {
  return absl::StrCat("host=", directory_, " dbname=postgres user=", user);
}

absl::StatusOr<std::string> PostgresServer::SettingsOf(const std::string& schema) const {
  TRAINYARD_ASSIGN_OR_RETURN(const auto database, PostgresDatabase::Connect(Settings()));
  TRAINYARD_RETURN_IF_ERROR(database->RunScript("CREATE SCHEMA IF NOT EXISTS " + schema));
  return absl::StrCat(Settings(), " options='-c search_path=", schema, "'");
}

}  // namespace trainyard::controller
