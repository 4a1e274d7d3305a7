#include "worker/spool/attempt_folders.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"
#include "proto/support/durable_file.h"
#include "worker/spool/data_dir.h"

namespace trainyard::worker {
namespace {

namespace fs = std::filesystem;

constexpr char kStartCommandFile[] = "/start.pb";
// A spec is at most 1 MiB of job file; ranks and paths come on top.
constexpr std::size_t kMaxStartBytes = 16 << 20;

std::optional<int64_t> NumberOf(const fs::path& path) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(path.filename().string(), &number) || number <= 0) return std::nullopt;
  return number;
}

// Sub-folders that are named by a number, in its order: the oldest attempt comes first.
std::vector<int64_t> NumberedFolders(const fs::path& path) {
  std::vector<int64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    if (const auto number = NumberOf(it->path())) numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace

std::string AttemptFolders::AttemptDir(const AttemptKey& key) const {
  return absl::StrCat(root_, "/", key.job_id, "/", key.number);
}

std::string AttemptFolders::RankDir(const RankKey& key) const {
  return absl::StrCat(AttemptDir(key.attempt), "/rank", key.rank);
}

absl::Status AttemptFolders::Create(const v1::StartAttempt& command) const {
  const AttemptKey key = {command.job_id(), command.attempt()};
  for (const v1::RankStart& rank : command.ranks()) {
    TRAINYARD_RETURN_IF_ERROR(MakeDirectories(RankDir({key, rank.rank()})));
  }
  return WriteFileAtomically(AttemptDir(key) + kStartCommandFile, command.SerializeAsString());
}

absl::StatusOr<AttemptFolders::Found> AttemptFolders::Scan() const {
  TRAINYARD_RETURN_IF_ERROR(MakeDirectories(root_));
  Found found;
  for (const int64_t job_id : NumberedFolders(root_)) {
    for (const int64_t attempt_number : NumberedFolders(fs::path(root_) / std::to_string(job_id))) {
      const AttemptKey key = {job_id, attempt_number};
      const std::string path = AttemptDir(key) + kStartCommandFile;
      const absl::StatusOr<std::string> text = ReadSmallFile(path, kMaxStartBytes);
      if (absl::IsNotFound(text.status())) {
        TRAINYARD_RETURN_IF_ERROR(Remove(key));
        continue;
      }
      v1::StartAttempt command;
      if (!text.ok()) {
        found.warnings.push_back(Text(text.status()));
      } else if (!command.ParseFromString(*text) || command.job_id() != job_id ||
                 command.attempt() != attempt_number) {
        found.warnings.push_back(absl::StrCat(path, " cannot be understood; left as it is"));
      } else {
        found.attempts.push_back(std::move(command));
      }
    }
  }
  return found;
}

absl::Status AttemptFolders::Remove(const AttemptKey& key) const {
  const std::string path = AttemptDir(key);
  std::error_code error;
  fs::remove(path + kStartCommandFile, error);
  if (!error) fs::remove_all(path, error);
  if (error) {
    return absl::InternalError(absl::StrCat("cannot remove ", path, ": ", error.message()));
  }
  // Removes the job's folder when this was its last attempt; any other outcome is fine.
  fs::remove(fs::path(path).parent_path(), error);
  return absl::OkStatus();
}

}  // namespace trainyard::worker
