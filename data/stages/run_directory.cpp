#include "data/stages/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <system_error>
#include <utility>

#include "data/stages/file_status.h"
#include "proto/files/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

namespace fs = std::filesystem;

constexpr char kPlanFile[] = "plan.json";
constexpr char kLogFile[] = "records.log";
constexpr char kReportFile[] = "report.json";
constexpr char kBadFile[] = "bad.jsonl";
constexpr char kLockFile[] = ".lock";
constexpr FileAccess kAccess = {.mode = 0644};

absl::Status Failed(const std::string& action, int error) {
  return ToStatus(FileError{error, "cannot " + action});
}

// Returns "" if the file cannot be read.
std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error) return Failed("list " + directory, error.value());
  return names;
}

bool BelongsToRun(const std::string& name) {
  return name == kPlanFile || name == kLogFile || name == kReportFile || name == kBadFile ||
         PartNames::IsPart(name) || PartNames::IsUnfinished(name);
}

// Files that a crash before the first plan.json may leave.
bool IsFirstFile(const std::string& name) {
  return name == kLockFile || name == std::string(kPlanFile) + ".tmp";
}

// True if `path` is `directory` or below it. Both must be canonical.
bool Contains(const fs::path& directory, const fs::path& path) {
  const auto [rest, ignored] =
      std::mismatch(directory.begin(), directory.end(), path.begin(), path.end());
  return rest == directory.end();
}

bool HasParts(const BlockRecord& record, const std::string& directory) {
  return std::all_of(record.parts.begin(), record.parts.end(),
                     [&](const PartFile& part) { return IsIntact(directory, part); });
}

}  // namespace

absl::StatusOr<std::unique_ptr<RunDirectory>> RunDirectory::Open(
    const std::string& path, const Plan& plan, bool replace, std::vector<BlockRecord>* records) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  std::unique_ptr<RunDirectory> run(new RunDirectory(absolute.string(), plan.blocks().size()));
  TRAINYARD_RETURN_IF_ERROR(run->Create());
  TRAINYARD_RETURN_IF_ERROR(run->Lock());
  TRAINYARD_RETURN_IF_ERROR(run->CheckPlan(plan, replace));
  TRAINYARD_RETURN_IF_ERROR(run->OpenLog(plan, records));
  return run;
}

// Creates the directory. Checks an existing one before the lock adds a file to it.
absl::Status RunDirectory::Create() const {
  std::error_code error;
  fs::create_directories(path_, error);
  if (error) return Failed("create " + path_, error.value());
  TRAINYARD_RETURN_IF_ERROR(ToStatus(SyncDirectory(DirectoryOf(path_))));
  if (ReadText(path_ + "/" + kPlanFile).starts_with(std::string("{") + kPlanMark)) {
    return absl::OkStatus();
  }
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(path_));
  if (std::all_of(names.begin(), names.end(), IsFirstFile)) return absl::OkStatus();
  return absl::AlreadyExistsError(path_ +
                                  " contains files of other programs; choose another --out");
}

absl::Status RunDirectory::Lock() {
  const std::string path = path_ + "/" + kLockFile;
  lock_.Reset(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!lock_.valid()) return Failed("open " + path, errno);
  if (flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) {
    // The process number is for the message below; an error does not matter.
    const std::string process = std::to_string(getpid());
    (void)ftruncate(lock_.get(), 0);
    (void)pwrite(lock_.get(), process.data(), process.size(), 0);
    return absl::OkStatus();
  }
  if (errno != EWOULDBLOCK) return Failed("lock " + path, errno);
  return absl::FailedPreconditionError(path_ + " is in use by process " + ReadText(path) +
                                       "; wait until it ends, or choose another --out");
}

absl::Status RunDirectory::CheckPlan(const Plan& plan, bool replace) const {
  const std::string path = path_ + "/" + kPlanFile;
  const std::string before = ReadText(path);
  const std::string now = plan.ToJson();
  if (before == now && !replace) return absl::OkStatus();
  if (!before.empty() && !replace) {
    return absl::AlreadyExistsError(path_ + " contains another run: " + PlanChanges(before, now) +
                                    "; repeat the command as it was, choose another --out, or "
                                    "delete the earlier results with --force");
  }
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<std::string> names, NamesIn(path_));
  std::erase_if(names, [](const std::string& name) { return !BelongsToRun(name); });
  // plan.json is removed last: without it, a crash would leave files of an unknown program.
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name != kPlanFile; });
  TRAINYARD_RETURN_IF_ERROR(RemoveFiles(names));
  return ToStatus(WriteFileAtomically(path, now, kAccess));
}

absl::Status RunDirectory::OpenLog(const Plan& plan, std::vector<BlockRecord>* records) {
  std::vector<BlockRecord> stored;
  TRAINYARD_ASSIGN_OR_RETURN(log_, RecordLog::Open(path_ + "/" + kLogFile, plan.Hash(), &stored));
  std::set<size_t> blocks;
  for (BlockRecord& record : stored) {
    const bool usable = record.block < plan.blocks().size() && HasParts(record, path_);
    if (usable && blocks.insert(record.block).second) records->push_back(std::move(record));
  }
  if (blocks.size() < plan.blocks().size()) {
    TRAINYARD_RETURN_IF_ERROR(RemoveFiles({kReportFile, kBadFile}));
  }
  return RemovePartsExcept(*records);
}

absl::Status RunDirectory::RemovePartsExcept(const std::vector<BlockRecord>& records) const {
  std::set<std::string> recorded;
  for (const BlockRecord& record : records) {
    for (const PartFile& part : record.parts) recorded.insert(part.name);
  }
  TRAINYARD_ASSIGN_OR_RETURN(std::vector<std::string> names, NamesIn(path_));
  std::erase_if(names, [&](const std::string& name) {
    return !PartNames::IsUnfinished(name) && (!PartNames::IsPart(name) || recorded.contains(name));
  });
  return RemoveFiles(names);
}

absl::Status RunDirectory::RemoveFiles(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    const std::string path = path_ + "/" + name;
    if (unlink(path.c_str()) != 0 && errno != ENOENT) return Failed("remove " + path, errno);
  }
  return ToStatus(SyncDirectory(path_));
}

absl::Status RunDirectory::Commit(const BlockLease& lease, const BlockRecord& record) {
  for (const PartFile& part : record.parts) {
    if (!PartNames::IsPart(part.name)) {
      return absl::InternalError("the record of a block names the part " + part.name);
    }
    const std::string path = path_ + "/" + part.name;
    const std::string unfinished = path_ + "/" + PartNames::UnfinishedName(lease, part.name);
    if (rename(unfinished.c_str(), path.c_str()) != 0) return Failed("rename " + unfinished, errno);
  }
  TRAINYARD_RETURN_IF_ERROR(ToStatus(SyncDirectory(path_)));
  return log_->Append(record);
}

absl::Status RunDirectory::Complete(std::string_view report, std::string_view bad_lines) {
  if (!bad_lines.empty()) {
    TRAINYARD_RETURN_IF_ERROR(
        ToStatus(WriteFileAtomically(path_ + "/" + kBadFile, bad_lines, kAccess)));
  }
  return ToStatus(WriteFileAtomically(path_ + "/" + kReportFile, report, kAccess));
}

std::string ChangesOfRun(const std::string& path, const Plan& plan) {
  const std::string before = ReadText(path + "/" + kPlanFile);
  const std::string now = plan.ToJson();
  return before.empty() || before == now ? "" : PlanChanges(before, now);
}

absl::Status CheckOutsideInputs(const std::string& path, const std::vector<std::string>& inputs) {
  std::error_code error;
  const fs::path output = fs::weakly_canonical(fs::absolute(path, error), error);
  for (const std::string& input : inputs) {
    const fs::path canonical = fs::weakly_canonical(fs::absolute(input, error), error);
    if (!Contains(canonical, output) && !Contains(output, canonical)) continue;
    return absl::InvalidArgumentError("the output directory " + path + " and the input " + input +
                                      " contain each other; choose another --out");
  }
  return absl::OkStatus();
}

}  // namespace trainyard::data
