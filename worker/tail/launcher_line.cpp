#include "worker/tail/launcher_line.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/contract/telemetry_keys.h"
#include "re2/re2.h"

namespace trainyard::worker {
namespace {

// Longer lines are data.
constexpr std::size_t kMaxLauncherLineBytes = 4096;

v1::AlertRecord Alert(const char* code, std::string message) {
  v1::AlertRecord alert;
  alert.set_code(code);
  alert.set_message(std::move(message));
  return alert;
}

}  // namespace

std::optional<v1::AlertRecord> AlertOfLauncher(std::string_view line, int first_rank) {
  static const RE2 kRestart(R"((\d{1,6})/(\d{1,6}) attempts left; will restart worker group)");
  static const RE2 kFailed(
      R"(\bfailed \(exitcode: (-?\d{1,4})\) local_rank: (\d{1,6}) \(pid: \d+\) of binary: )");
  // Most lines contain neither text, and a search for a fixed text is fast.
  const bool may_match = line.size() <= kMaxLauncherLineBytes &&
                         (line.find("will restart worker group") != std::string_view::npos ||
                          line.find("failed (exitcode: ") != std::string_view::npos);
  if (!may_match) return std::nullopt;
  const re2::StringPiece text(line.data(), line.size());
  int left = 0, most = 0;
  if (RE2::PartialMatch(text, kRestart, &left, &most)) {
    return Alert(telemetry::kLauncherRestart,
                 absl::StrCat("the launcher of rank ", first_rank,
                              " starts its ranks again after a failure, ", left, " of ", most,
                              " restarts left"));
  }
  int exit_code = 0, local_rank = 0;
  if (!RE2::PartialMatch(text, kFailed, &exit_code, &local_rank)) return std::nullopt;
  const std::string how = exit_code < 0 ? absl::StrCat("by signal ", -exit_code)
                                        : absl::StrCat("with exit code ", exit_code);
  return Alert(
      telemetry::kLauncherRankFailed,
      absl::StrCat("rank ", first_rank + local_rank, " has ended ", how, " below its launcher"));
}

}  // namespace trainyard::worker
