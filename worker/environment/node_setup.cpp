#include "worker/environment/node_setup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "proto/contract/environment.h"
#include "proto/contract/exit_code.h"
#include "proto/files/unique_fd.h"
#include "proto/process/spawn.h"
#include "proto/proof/digest.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "worker/process/program_path.h"

namespace trainyard::worker {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

// timeout(1) uses the same exit code.
constexpr int kTimedOut = 124;
// Larger files are identified by size and time of change.
constexpr std::size_t kMaxHashedBytes = 1 << 20;
constexpr std::chrono::milliseconds kPollInterval{50};
constexpr char kMarkSuffix[] = ".done";
constexpr char kLockSuffix[] = ".lock";
// Longer than a setup may take, so that no lock in use is removed.
constexpr std::chrono::hours kKeepLocks{48};

void Print(const std::string& text) { std::fprintf(stderr, "trainyard: %s\n", text.c_str()); }

// Returns a text that changes when the file changes; empty if the word names no file.
std::string FileKey(const std::string& word) {
  struct stat info = {};
  if (word.empty() || stat(word.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return "";
  const absl::StatusOr<std::string> text = ReadSmallFile(word, kMaxHashedBytes);
  if (text.ok()) return HashOf(absl::StrCat("file ", *text));
  return absl::StrCat(info.st_size, " ", info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec);
}

// Returns a text that changes when the venv is made anew, but not when packages are installed.
std::string VenvKey(const std::string& venv) {
  struct stat info = {};
  if (venv.empty() || stat(absl::StrCat(venv, "/pyvenv.cfg").c_str(), &info) != 0) return "";
  return absl::StrCat(info.st_ino, " ", info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec);
}

// Returns the working directory; empty if it is the rank's own run directory.
std::string SharedDirectory(const Variables& variables) {
  std::error_code error;
  const std::string directory = fs::current_path(error).string();
  const auto own = variables.find(environment::kRunDir);
  const bool is_own = own != variables.end() && fs::equivalent(own->second, directory, error);
  return is_own ? "" : directory;
}

// Removes the oldest marks with their locks, and old locks of setups that never succeeded, so that
// the directory does not grow without limit.
void RemoveOldMarks(const std::string& directory) {
  std::error_code error;
  const fs::file_time_type oldest_lock = fs::file_time_type::clock::now() - kKeepLocks;
  std::vector<std::pair<fs::file_time_type, fs::path>> marks;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const fs::path mark = fs::path(entry.path()).replace_extension(kMarkSuffix);
    if (entry.path() == mark) {
      marks.emplace_back(entry.last_write_time(error), mark);
    } else if (!fs::exists(mark, error) && entry.last_write_time(error) < oldest_lock) {
      fs::remove(entry.path(), error);
    }
  }
  if (marks.size() <= kMaxSetupMarks) return;
  std::sort(marks.begin(), marks.end());
  marks.resize(marks.size() - kMaxSetupMarks);
  for (const auto& [time, mark] : marks) {
    fs::remove(mark, error);
    fs::remove(fs::path(mark).replace_extension(kLockSuffix), error);
  }
}

// Locks the file until the descriptor is closed. DEADLINE_EXCEEDED: another rank still has the lock
// at the deadline.
absl::StatusOr<UniqueFd> LockUntil(const std::string& path, steady_clock::time_point deadline) {
  TRAINYARD_ASSIGN_OR_RETURN(UniqueFd fd, OpenRegularFile(path, O_RDWR | O_CREAT | O_NOFOLLOW));
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  for (bool noted = false; fcntl(fd.get(), F_OFD_SETLK, &lock) != 0;) {
    if (errno != EAGAIN && errno != EACCES) return ErrnoStatus(errno, "cannot lock", path);
    if (steady_clock::now() >= deadline) {
      return absl::DeadlineExceededError(
          "another rank of this node did not complete the setup within "
          "environment.setup_timeout; increase it, or look at the output of that rank");
    }
    if (!std::exchange(noted, true)) Print("waiting for the setup by another rank of this node");
    std::this_thread::sleep_for(kPollInterval);
  }
  return fd;
}

// Waits for the program until the deadline. Kills its process group at the deadline.
StepFailure AwaitSetup(pid_t pid, steady_clock::time_point deadline) {
  int status = 0;
  while (waitpid(pid, &status, WNOHANG) == 0) {
    if (steady_clock::now() >= deadline) {
      kill(-pid, SIGKILL);
      AwaitExit(pid);
      return {kTimedOut,
              "the setup did not end within environment.setup_timeout; increase it, or check "
              "the setup"};
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  const int exit_code = ExitCodeOfStatus(status);
  if (exit_code == 0) return {};
  return {exit_code, absl::StrCat("the setup failed with exit code ", exit_code,
                                  "; its output is above this line")};
}

StepFailure RunCommand(const EnvironmentOptions& options, const Variables& variables,
                       steady_clock::time_point deadline) {
  const absl::StatusOr<std::string> program = FindProgram(options.setup.front(), variables);
  const int not_found = static_cast<int>(ExitCode::kCommandNotFound);
  if (!program.ok()) return {not_found, absl::StrCat("setup: ", Text(program.status()))};
  std::vector<std::string> command = options.setup;
  command.front() = *program;
  Print(absl::StrCat("setup: ", absl::StrJoin(options.setup, " ")));
  pid_t pid = 0;
  const int error = Spawn({.command = command,
                           .environment = VariableTexts(variables),
                           .fds = {{.number = STDIN_FILENO, .source = kNullDevice}},
                           .reset_signals = true,
                           .new_group = true},
                          pid);
  if (error == 0) return AwaitSetup(pid, deadline);
  const int code = error == EACCES ? static_cast<int>(ExitCode::kCannotExecute) : not_found;
  return {code, Text(ErrnoStatus(error, "setup: cannot start", *program))};
}

}  // namespace

std::string SetupKey(const EnvironmentOptions& options, const Variables& variables) {
  std::vector<std::string> parts = {options.venv, options.conda, VenvKey(options.venv),
                                    SharedDirectory(variables)};
  for (const std::string& module : options.modules) parts.push_back(absl::StrCat("m ", module));
  for (const std::string& word : options.setup) {
    parts.push_back(absl::StrCat("s ", word));
    parts.push_back(FileKey(word));
  }
  std::string text;
  // The length before each part separates the parts unambiguously.
  for (const std::string& part : parts) absl::StrAppend(&text, part.size(), ":", part);
  return HashOf(text);
}

StepFailure RunSetup(const EnvironmentOptions& options, const Variables& variables) {
  if (options.setup.empty()) return {};
  const auto deadline = steady_clock::now() + std::chrono::seconds(options.setup_timeout_s);
  std::error_code error;
  fs::create_directories(options.state_dir, error);
  const std::string base = absl::StrCat(options.state_dir, "/", SetupKey(options, variables));
  const absl::StatusOr<UniqueFd> lock = LockUntil(absl::StrCat(base, kLockSuffix), deadline);
  if (!lock.ok()) {
    const bool late = absl::IsDeadlineExceeded(lock.status());
    return {late ? kTimedOut : static_cast<int>(ExitCode::kCannotWrite), Text(lock.status())};
  }
  const std::string mark = absl::StrCat(base, kMarkSuffix);
  if (fs::exists(mark, error)) return {};
  StepFailure failure = RunCommand(options, variables, deadline);
  if (failure.exit_code != 0) return failure;
  // Without the mark, the setup runs again for the next rank.
  if (const absl::Status written = WriteFileAtomically(mark, absl::StrJoin(options.setup, " "));
      !written.ok()) {
    Print(absl::StrCat("the setup will run again: ", Text(written)));
  }
  RemoveOldMarks(options.state_dir);
  return {};
}

}  // namespace trainyard::worker
