#include "worker/spool/epoch_log.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

std::string Encode(int64_t job_id, int64_t epoch) { return absl::StrCat(job_id, " ", epoch); }

bool Decode(const std::string& record, int64_t& job_id, int64_t& epoch) {
  const std::vector<std::string> words = absl::StrSplit(record, ' ');
  return words.size() == 2 && absl::SimpleAtoi(words[0], &job_id) &&
         absl::SimpleAtoi(words[1], &epoch);
}

}  // namespace

absl::StatusOr<std::unique_ptr<EpochLog>> EpochLog::Open(const std::string& path) {
  auto epochs = std::unique_ptr<EpochLog>(new EpochLog);
  TRAINYARD_ASSIGN_OR_RETURN(epochs->log_, RecordLog::Open(path));
  for (const std::string& record : epochs->log_->records_at_open()) {
    int64_t job_id = 0;
    int64_t epoch = 0;
    if (!Decode(record, job_id, epoch)) {
      return absl::DataLossError(
          absl::StrCat(path, " is not an epoch log of this version of trainyard-worker"));
    }
    int64_t& known = epochs->epochs_[job_id];
    known = std::max(known, epoch);
  }
  if (epochs->log_->records_at_open().size() > epochs->epochs_.size()) {
    std::vector<std::string> records;
    for (const auto& [job_id, epoch] : epochs->epochs_) records.push_back(Encode(job_id, epoch));
    // Best effort, because the rewrite only saves disk space: the next start retries it.
    epochs->log_->Rewrite(records).IgnoreError();
  }
  return epochs;
}

absl::Status EpochLog::Remember(int64_t job_id, int64_t epoch) {
  const auto known = epochs_.find(job_id);
  if (known != epochs_.end() && epoch <= known->second) return absl::OkStatus();
  TRAINYARD_RETURN_IF_ERROR(log_->Append(Encode(job_id, epoch)));
  epochs_[job_id] = epoch;
  return absl::OkStatus();
}

}  // namespace trainyard::worker
