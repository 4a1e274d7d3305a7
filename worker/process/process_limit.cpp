#include "worker/process/process_limit.h"

#include <sys/resource.h>

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "proto/support/durable_file.h"

namespace trainyard::worker {
namespace {

// The number of processes reserved for the worker, but at most an eighth of the limit.
constexpr rlim_t kReserve = 512;

int64_t NumberIn(const char* file) {
  const absl::StatusOr<std::string> text = ReadSmallFile(file);
  int64_t number = 0;
  const bool is_number =
      text.ok() && absl::SimpleAtoi(absl::StripAsciiWhitespace(*text), &number) && number > 0;
  return is_number ? number : INT64_MAX;
}

}  // namespace

int64_t ProcessesOfMachine() {
  return std::min(NumberIn("/proc/sys/kernel/threads-max"), NumberIn("/proc/sys/kernel/pid_max"));
}

void LeaveProcessesForWorker() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NPROC, &limit) != 0) return;
  const rlim_t most = std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(ProcessesOfMachine()));
  const rlim_t allowed = most - std::min(kReserve, most / 8);
  limit = {allowed, std::min(allowed, limit.rlim_max)};
  setrlimit(RLIMIT_NPROC, &limit);
}

}  // namespace trainyard::worker
