#include "trainer/checkpoint/starting_point.h"

#include <sys/stat.h>

#include <cerrno>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

bool IsGone(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

// "/a/b/" for "/a/b/c" and "/a/b/c/".
std::string FolderOf(const std::string& path) {
  const size_t end = path.find_last_not_of('/');
  const size_t slash = end == std::string::npos ? end : path.rfind('/', end);
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

bool IsSameFolder(const std::string& a, const std::string& b) {
  struct stat left {
  }, right{};
  return stat(a.c_str(), &left) == 0 && stat(b.c_str(), &right) == 0 &&
         left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

bool IsWhole(const PublishedCheckpoint& checkpoint) {
  try {
    const CheckpointReader reader(checkpoint.path);
    return true;
  } catch (const TrainerError&) {
    return false;
  }
}

}  // namespace

StartingPoint FindStartingPoint(const std::string& named, const std::string& directory,
                                int64_t job_id, const std::vector<RolledBack>& rolled_back) {
  if (job_id == 0 || !IsGone(named) || !IsSameFolder(FolderOf(named), directory)) {
    return {named, {}};
  }
  StartingPoint start;
  for (const PublishedCheckpoint& checkpoint : ListCheckpoints(directory)) {
    const bool is_bad = IsRolledBack(rolled_back, checkpoint.attempt.number, checkpoint.step);
    if (checkpoint.attempt.job_id == job_id && !is_bad && IsWhole(checkpoint)) {
      start.instead.push_back(checkpoint);
    }
  }
  start.path = start.instead.empty() ? named : start.instead.back().path;
  return start;
}

void CheckOverwritesNone(const std::string& directory, int64_t job_id, int64_t step) {
  if (job_id == 0) return;
  const PublishedCheckpoint* newest = nullptr;
  const std::vector<PublishedCheckpoint> checkpoints = ListCheckpoints(directory);
  for (const PublishedCheckpoint& checkpoint : checkpoints) {
    const int64_t owner = checkpoint.attempt.job_id;
    if (owner == 0 || owner == job_id || checkpoint.step <= step) continue;
    if (newest == nullptr || checkpoint.step > newest->step) newest = &checkpoint;
  }
  if (newest == nullptr) return;
  throw TrainerError(
      ExitCode::kBadConfig,
      "checkpoint directory " + directory + " holds checkpoints of job " +
          std::to_string(newest->attempt.job_id) + ", up to step " + std::to_string(newest->step) +
          ", which this job would overwrite " + "from step " + std::to_string(step) +
          " on. Resume from the newest of them " + "(checkpoint.resume_from: " + newest->path +
          "), set another checkpoint.dir, or remove these checkpoints");
}

}  // namespace trainyard::trainer
