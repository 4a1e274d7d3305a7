#include "worker/spool/attempt_number_log.h"

#include <algorithm>
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

absl::StatusOr<std::unique_ptr<AttemptNumberLog>> AttemptNumberLog::Open(const std::string& path) {
  auto opened = std::unique_ptr<AttemptNumberLog>(new AttemptNumberLog);
  TRAINYARD_ASSIGN_OR_RETURN(opened->log_, RecordLog::Open(path));
  for (const std::string& record : opened->log_->records_at_open()) {
    int64_t job_id = 0;
    int64_t attempt_number = 0;
    if (!Decode(record, job_id, attempt_number)) {
      return absl::DataLossError(absl::StrCat(
          path, " is not a log of attempt numbers of this version of trainyard-worker"));
    }
    opened->Raise(job_id, attempt_number);
  }
  if (opened->log_->records_at_open().size() > opened->newest_.size()) {
    // Best effort, because the rewrite only saves disk space: the next start retries it.
    opened->Compact().IgnoreError();
  }
  return opened;
}

absl::Status AttemptNumberLog::TakeOver(const std::string& former_path) {
  std::error_code error;
  if (!std::filesystem::exists(former_path, error)) return absl::OkStatus();
  TRAINYARD_ASSIGN_OR_RETURN(const auto former, Open(former_path));
  for (const auto& [job_id, attempt_number] : former->newest_) Raise(job_id, attempt_number);
  if (Compact().ok()) std::filesystem::remove(former_path, error);
  return absl::OkStatus();
}

void AttemptNumberLog::Raise(int64_t job_id, int64_t attempt_number) {
  int64_t& known = newest_[job_id];
  known = std::max(known, attempt_number);
}

absl::Status AttemptNumberLog::Compact() {
  std::vector<std::string> records;
  for (const auto& [job_id, attempt_number] : newest_) {
    records.push_back(Encode(job_id, attempt_number));
  }
  return log_->Rewrite(records);
}

absl::Status AttemptNumberLog::Remember(int64_t job_id, int64_t attempt_number) {
  const auto known = newest_.find(job_id);
  if (known != newest_.end() && attempt_number <= known->second) return absl::OkStatus();
  TRAINYARD_RETURN_IF_ERROR(log_->Append(Encode(job_id, attempt_number)));
  newest_[job_id] = attempt_number;
  return absl::OkStatus();
}

}  // namespace trainyard::worker
