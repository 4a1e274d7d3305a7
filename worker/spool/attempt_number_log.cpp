#include "worker/spool/attempt_number_log.h"

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

std::string Encode(int64_t job_id, int64_t attempt_number) {
  return absl::StrCat(job_id, " ", attempt_number);
}

bool Decode(const std::string& record, int64_t& job_id, int64_t& attempt_number) {
  const std::vector<std::string> words = absl::StrSplit(record, ' ');
  return words.size() == 2 && absl::SimpleAtoi(words[0], &job_id) &&
         absl::SimpleAtoi(words[1], &attempt_number);
}

}  // namespace

absl::StatusOr<std::unique_ptr<AttemptNumberLog>> AttemptNumberLog::Open(const std::string& path,
                                                                         std::size_t max_jobs) {
  auto opened = std::unique_ptr<AttemptNumberLog>(new AttemptNumberLog(max_jobs));
  TRAINYARD_ASSIGN_OR_RETURN(opened->log_, RecordLog::Open(path));
  for (const std::string& record : opened->log_->records_at_open()) {
    int64_t job_id = 0;
    int64_t attempt_number = 0;
    if (!Decode(record, job_id, attempt_number)) {
      return absl::DataLossError(absl::StrCat(
          path, " is not a log of attempt numbers that this version of trainyard-worker can read"));
    }
    opened->seen_.Raise(job_id, attempt_number);
  }
  opened->records_in_file_ = opened->log_->records_at_open().size();
  if (opened->records_in_file_ > opened->seen_.size()) {
    // Ignore an error. Rewriting only saves disk space, and the next start tries again.
    opened->Compact().IgnoreError();
  }
  return opened;
}

absl::Status AttemptNumberLog::TakeOver(const std::string& former_path) {
  std::error_code error;
  if (!std::filesystem::exists(former_path, error)) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(const auto former, Open(former_path, seen_.max_jobs()));
  for (const auto& [job_id, attempt] : former->seen_.OldestFirst()) seen_.Raise(job_id, attempt);
  if (Compact().ok()) std::filesystem::remove(former_path, error);
  return absl::OkStatus();
}

absl::Status AttemptNumberLog::Compact() {
  std::vector<std::string> records;
  for (const auto& [job_id, attempt] : seen_.OldestFirst()) {
    records.push_back(Encode(job_id, attempt));
  }
  TRAINYARD_RETURN_IF_ERROR(log_->Rewrite(records));
  records_in_file_ = records.size();
  return absl::OkStatus();
}

absl::Status AttemptNumberLog::Remember(int64_t job_id, int64_t attempt_number) {
  if (attempt_number <= seen_.Of(job_id)) return absl::OkStatus();
  if (records_in_file_ >= 2 * seen_.max_jobs()) TRAINYARD_RETURN_IF_ERROR(Compact());
  TRAINYARD_RETURN_IF_ERROR(log_->Append(Encode(job_id, attempt_number)));
  ++records_in_file_;
  seen_.Raise(job_id, attempt_number);
  return absl::OkStatus();
}

}  // namespace trainyard::worker
