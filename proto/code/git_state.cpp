#include "proto/code/git_state.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "proto/files/unique_fd.h"
#include "proto/process/spawn.h"
#include "proto/text/utf8.h"

namespace trainyard::code {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kGitLimit{10};
constexpr std::size_t kMaxFieldBytes = 512;

struct GitOutput {
  std::string text;
  bool cut = false;  // True if there was more than the limit.
};

// Reads until the end of the stream, `max_bytes` or the deadline. Returns false at the deadline or
// on an error.
bool ReadOutput(int fd, std::size_t max_bytes, SteadyClock::time_point deadline,
                GitOutput& output) {
  std::vector<char> buffer(1 << 16);
  while (output.text.size() <= max_bytes) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - SteadyClock::now());
    if (left.count() <= 0) return false;
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready == 0 || (ready < 0 && errno != EINTR)) return false;
    if (ready < 0) continue;
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) return true;
    output.text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  output.text.resize(max_bytes);
  output.cut = true;
  return true;
}

// With these settings, git does not wait for a terminal, does not write into the repository, and
// does not translate its output.
std::vector<std::string> GitEnvironment() {
  std::vector<std::string> variables = {"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
                                        "GIT_PAGER=cat", "LC_ALL=C"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const absl::string_view name = absl::string_view(*variable).substr(0, 4);
    if (name != "GIT_" && name != "LC_A") variables.emplace_back(*variable);
  }
  return variables;
}

// Runs git in `directory`. nullopt if git fails or does not end before the deadline.
std::optional<GitOutput> RunGit(const std::string& directory,
                                const std::vector<std::string>& arguments, std::size_t max_bytes,
                                SteadyClock::time_point deadline) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  SpawnOptions options;
  // The repository's settings must not start programs.
  options.command = {"git", "-c", "core.fsmonitor=false", "-C", directory};
  options.command.insert(options.command.end(), arguments.begin(), arguments.end());
  options.environment = GitEnvironment();
  options.fds = {{0, kNullDevice}, {1, writer.get()}, {2, kNullDevice}};
  options.close_other_fds = true;
  options.reset_signals = true;
  options.new_group = true;
  pid_t pid = 0;
  if (Spawn(options, pid) != 0) return std::nullopt;
  writer.Reset();
  GitOutput output;
  const bool complete = ReadOutput(reader.get(), max_bytes, deadline, output);
  // Git may still write after the limit.
  if (!complete || output.cut) kill(-pid, SIGKILL);
  const int status = AwaitExit(pid);
  if (!complete || (!output.cut && status != 0)) return std::nullopt;
  return output;
}

std::string Field(absl::string_view text) {
  const std::string valid = ReplaceInvalidUtf8(std::string(absl::StripAsciiWhitespace(text)));
  return std::string(Utf8Prefix(valid, kMaxFieldBytes));
}

// Cuts after the last complete line.
void CutLine(GitOutput& output) {
  if (output.cut) output.text.resize(output.text.rfind('\n') + 1);
}

}  // namespace

std::string WithoutCredentials(absl::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == absl::string_view::npos) {
    const std::size_t at = url.find('@');
    const bool has_password = at != absl::string_view::npos && url.find(':') < at;
    return std::string(has_password ? url.substr(at + 1) : url);
  }
  const absl::string_view start = url.substr(0, scheme + 3);
  absl::string_view rest = url.substr(scheme + 3);
  rest = rest.substr(0, rest.find_first_of("?#"));
  const std::size_t at = rest.substr(0, rest.find('/')).rfind('@');
  return absl::StrCat(start, at == absl::string_view::npos ? rest : rest.substr(at + 1));
}

std::optional<GitState> ReadGitState(const std::string& directory) {
  const SteadyClock::time_point deadline = SteadyClock::now() + kGitLimit;
  constexpr std::size_t kSmall = 4096;
  const auto inside = RunGit(directory, {"rev-parse", "--is-inside-work-tree"}, kSmall, deadline);
  if (!inside.has_value() || Field(inside->text) != "true") return std::nullopt;
  GitState state;
  if (const auto url =
          RunGit(directory, {"config", "--get", "remote.origin.url"}, kSmall, deadline)) {
    state.remote = WithoutCredentials(Field(url->text));
  }
  const auto status =
      RunGit(directory, {"status", "--porcelain", "-z", "--", "."}, kSmall, deadline);
  state.dirty = !status.has_value() || !status->text.empty();
  const auto head =
      RunGit(directory, {"rev-parse", "HEAD", "--abbrev-ref", "HEAD"}, kSmall, deadline);
  if (!head.has_value()) return state;
  const std::vector<absl::string_view> lines = absl::StrSplit(head->text, '\n');
  state.commit = Field(lines[0]);
  if (lines.size() > 1 && lines[1] != "HEAD") state.branch = Field(lines[1]);
  if (!state.dirty) return state;
  auto diff =
      RunGit(directory, {"diff", "HEAD", "--no-color", "--no-ext-diff", "--no-textconv", "--", "."},
             kMaxDiffBytes, deadline);
  if (!diff.has_value()) return state;
  CutLine(*diff);
  state.diff = std::move(diff->text);
  state.diff_cut = diff->cut;
  return state;
}

}  // namespace trainyard::code
