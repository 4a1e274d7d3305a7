#include "data/documents/pod_text.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/status/status.h"
#include "proto/files/unique_fd.h"
#include "proto/process/spawn.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

absl::Status CannotRun(const std::string& path, int error) {
  return absl::FailedPreconditionError("cannot run pod2text, which reads " + path + ": " +
                                       std::strerror(error) +
                                       "; install the package perl, or omit .pod files");
}

// Returns an anonymous file with the contents `pod`. A pipe would need a thread that fills it.
absl::StatusOr<UniqueFd> MemoryFile(const std::string& path, std::string_view pod) {
  UniqueFd file(memfd_create("pod", MFD_CLOEXEC));
  if (!file.valid()) return CannotRun(path, errno);
  while (!pod.empty()) {
    const ssize_t written = write(file.get(), pod.data(), pod.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return CannotRun(path, errno);
    pod.remove_prefix(static_cast<std::size_t>(written));
  }
  if (lseek(file.get(), 0, SEEK_SET) != 0) return CannotRun(path, errno);
  return file;
}

// Starts pod2text, which reads `pod` and writes to `output`. `output` is closed in this process.
absl::StatusOr<pid_t> Start(const std::string& path, std::string_view pod, UniqueFd output) {
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd input, MemoryFile(path, pod));
  pid_t process = -1;
  const int error =
      Spawn({.command = {"pod2text", "--utf8", "--errors=none", "--indent=0", "--width=1000000"},
             .fds = {{.number = STDIN_FILENO, .source = input.get()},
                     {.number = STDOUT_FILENO, .source = output.get()},
                     // pod2text warns of files without POD.
                     {.number = STDERR_FILENO, .source = kNullDevice}}},
            process);
  if (error != 0) return CannotRun(path, error);
  return process;
}

std::string ReadToEnd(const UniqueFd& input) {
  std::string text;
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t count = read(input.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

absl::StatusOr<std::string> PodToText(const std::string& path, std::string_view pod) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return CannotRun(path, errno);
  const UniqueFd input(ends[0]);
  TRAINYARD_ASSIGN_OR_RETURN(const pid_t process, Start(path, pod, UniqueFd(ends[1])));
  std::string text = ReadToEnd(input);
  const int status = AwaitExit(process);
  // pod2text's exit status for a file without POD, which is not a failure.
  constexpr int kNothingToFormat = 1;
  const bool has_no_pod =
      WIFEXITED(status) && WEXITSTATUS(status) == kNothingToFormat && text.empty();
  if (status == 0 || has_no_pod) return text;
  return absl::DataLossError(path + ": pod2text cannot read this file (wait status " +
                             std::to_string(status) +
                             "); repair the file, or omit it from the inputs");
}

absl::StatusOr<std::string> PodTexts::Text(const std::string& path, std::string_view pod) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = texts_.find(path);
    if (found != texts_.end()) return found->second;
  }
  TRAINYARD_ASSIGN_OR_RETURN(std::string text, PodToText(path, pod));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (kept_bytes_ + text.size() <= kKeptBytes && texts_.emplace(path, text).second) {
    kept_bytes_ += text.size();
  }
  return text;
}

}  // namespace trainyard::data
