#include "worker/process/program_path.h"

#include <sys/stat.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace trainyard::worker {
namespace {

constexpr char kDefaultPath[] = "/usr/local/bin:/usr/bin:/bin";

bool IsProgram(const std::string& path) {
  struct stat info = {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

}  // namespace

absl::StatusOr<std::string> FindProgram(const std::string& program,
                                        const std::map<std::string, std::string>& environment) {
  if (program.find('/') != std::string::npos) return program;
  const auto found = environment.find("PATH");
  const std::string path = found == environment.end() ? kDefaultPath : found->second;
  for (const absl::string_view directory : absl::StrSplit(path, ':', absl::SkipEmpty())) {
    std::string candidate = absl::StrCat(directory, "/", program);
    if (IsProgram(candidate)) return candidate;
  }
  return absl::NotFoundError(absl::StrCat("no program `", program, "` in PATH (", path, ")"));
}

}  // namespace trainyard::worker
