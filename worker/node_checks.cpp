#include "worker/node_checks.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "proto/contract/container_launchers.h"
#include "proto/contract/rendezvous_range.h"
#include "proto/support/durable_file.h"
#include "worker/process/program_path.h"
#include "worker/process/rank_group.h"

namespace trainyard::worker {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kEvery{30};
constexpr uint64_t kFreeBytesMin = uint64_t{1} << 30;
constexpr rlim_t kOpenFilesMin = 4096;
constexpr rlim_t kProcessesMin = 1024;

v1::NodeCheck Check(const std::string& name, bool ok, const std::string& found,
                    const std::string& advice) {
  v1::NodeCheck check;
  check.set_name(name);
  check.set_ok(ok);
  check.set_found(found);
  if (!ok) check.set_advice(advice);
  return check;
}

std::string Gib(uint64_t bytes) { return absl::StrCat(bytes >> 30, " GiB"); }

v1::NodeCheck CheckDisk(const std::string& directory) {
  std::error_code error;
  const fs::space_info space = fs::space(directory, error);
  if (error) {
    return Check("disk", false, absl::StrCat(directory, ": ", error.message()),
                 "check that the disk of the worker's data directory is mounted");
  }
  return Check(
      "disk", space.available >= kFreeBytesMin,
      absl::StrCat(Gib(space.available), " free of ", Gib(space.capacity), " for ", directory),
      "free disk space, or set --data-dir to a larger disk");
}

v1::NodeCheck CheckLimit(const char* name, int resource, rlim_t least, const char* setting) {
  rlimit limit{};
  getrlimit(static_cast<__rlimit_resource>(resource), &limit);
  const bool unlimited = limit.rlim_cur == RLIM_INFINITY;
  return Check(name, unlimited || limit.rlim_cur >= least,
               unlimited ? "unlimited" : absl::StrCat(limit.rlim_cur),
               absl::StrCat("set ", setting, " in the worker's systemd unit to at least ", least,
                            ", or raise the ulimit"));
}

// Returns the limit in a file of the worker's control group (version 2); nullopt if there is no
// limit.
std::optional<int64_t> CgroupLimit(const char* file) {
  const auto text = ReadSmallFile(absl::StrCat(OwnGroup(), "/", file));
  int64_t limit = 0;
  if (!text.ok() || !absl::SimpleAtoi(absl::StripAsciiWhitespace(*text), &limit)) {
    return std::nullopt;
  }
  return limit;
}

v1::NodeCheck CheckCgroup() {
  const std::optional<int64_t> memory = CgroupLimit("memory.max");
  const std::optional<int64_t> processes = CgroupLimit("pids.max");
  const bool ok = memory.value_or(INT64_MAX) >= static_cast<int64_t>(kFreeBytesMin) &&
                  processes.value_or(INT64_MAX) >= static_cast<int64_t>(kProcessesMin);
  return Check(
      "cgroup", ok,
      absl::StrCat("memory ", memory.has_value() ? Gib(*memory) : "unlimited", ", processes ",
                   processes.has_value() ? absl::StrCat(*processes) : "unlimited",
                   CanMakeRankGroups() ? ", a control group for each rank"
                                       : ", no control groups for ranks"),
      "raise MemoryMax and TasksMax in the worker's systemd unit");
}

// Returns the path itself if it exists; otherwise its nearest existing parent directory.
fs::path NearestExisting(fs::path path) {
  std::error_code error;
  while (!fs::exists(path, error) && path.has_parent_path() && path != path.parent_path()) {
    path = path.parent_path();
  }
  return path;
}

v1::NodeCheck CheckWritable(const char* name, const std::string& directory, const char* advice) {
  const fs::path nearest = NearestExisting(directory);
  const bool ok = access(nearest.c_str(), W_OK | X_OK) == 0;
  return Check(name, ok,
               absl::StrCat(directory, ok ? ": writable" : ": cannot be written by this user"),
               advice);
}

v1::NodeCheck CheckSecrets(const std::string& directory) {
  struct stat info {};
  if (stat(directory.c_str(), &info) != 0) {
    return Check("secrets", true, absl::StrCat(directory, " does not exist"), "");
  }
  return Check("secrets", (info.st_mode & (S_IRWXG | S_IRWXO)) == 0, directory,
               absl::StrCat("other users can read this directory; run chmod 700 ", directory));
}

v1::NodeCheck CheckPorts() {
  const auto text = ReadSmallFile("/proc/sys/net/ipv4/ip_local_port_range");
  int first = 0;
  const std::vector<std::string> ends =
      text.ok() ? absl::StrSplit(*text, absl::ByAnyChar("\t \n"), absl::SkipEmpty())
                : std::vector<std::string>();
  const bool known = ends.size() == 2 && absl::SimpleAtoi(ends[0], &first);
  return Check("ports", !known || first > kLastRendezvousPort,
               known ? absl::StrCat("local ports ", ends[0], " to ", ends[1]) : "not known",
               "other programs may use the rendezvous ports of jobs; to prevent this, run sysctl "
               "net.ipv4.ip_local_port_range=\"32768 60999\"");
}

v1::NodeCheck CheckGpus(const v1::Inventory& inventory) {
  const auto gpus = std::ranges::count(inventory.slots(), v1::DEVICE_KIND_GPU, &v1::Slot::kind);
  const bool has_driver = access("/dev/nvidiactl", F_OK) == 0;
  return Check("gpus", gpus > 0 || !has_driver,
               gpus > 0 ? absl::StrCat(gpus, " offered as slots")
                        : (has_driver ? "a driver is installed, but there is no GPU" : "none"),
               "check that nvidia-smi lists the GPUs, then restart the worker");
}

// Reports the launchers of containers. A node without any is fine, because only some jobs need one.
v1::NodeCheck CheckLaunchers() {
  const char* path = getenv("PATH");
  std::vector<std::string_view> found;
  for (const std::string_view launcher : kContainerLaunchers) {
    if (FindProgram(std::string(launcher), {{"PATH", path == nullptr ? "" : path}}).ok()) {
      found.push_back(launcher);
    }
  }
  const auto append = [](std::string* out, std::string_view name) { out->append(name); };
  return Check(kLaunchersCheck, true,
               found.empty() ? kNoLauncher : absl::StrJoin(found, kLauncherSeparator, append), "");
}

}  // namespace

std::vector<v1::NodeCheck> CheckNode(const CheckedPlaces& places) {
  std::vector<v1::NodeCheck> checks = {
      CheckDisk(places.data_dir),
      CheckLimit("open files", RLIMIT_NOFILE, kOpenFilesMin, "LimitNOFILE="),
      CheckLimit("processes", RLIMIT_NPROC, kProcessesMin, "LimitNPROC="),
      CheckCgroup(),
      CheckWritable("data", places.data_dir,
                    "make the worker's user the owner of its data directory"),
      CheckSecrets(places.secrets_dir),
      CheckPorts(),
      CheckGpus(places.inventory),
      CheckLaunchers()};
  if (!places.checkpoint_root.empty()) {
    checks.push_back(CheckWritable("checkpoints", places.checkpoint_root,
                                   "mount the storage of --checkpoint-root on this node, and let "
                                   "the worker's user write to it"));
  }
  return checks;
}

std::vector<v1::NodeCheck> NodeChecks::Take(const CheckedPlaces& places,
                                            std::chrono::steady_clock::time_point now) {
  std::vector<v1::NodeCheck> taken = round_.Take().value_or(std::vector<v1::NodeCheck>());
  if (!round_.IsRunning() && now >= due_) {
    due_ = now + kEvery;
    // If no thread can be started, the next round tries again.
    round_.Begin("check the node", [places] { return CheckNode(places); });
  }
  return taken;
}

}  // namespace trainyard::worker
