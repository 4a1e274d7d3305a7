#include "worker/spool/fact_log.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {

absl::StatusOr<std::unique_ptr<FactLog>> FactLog::Open(const std::string& path) {
  auto facts = std::unique_ptr<FactLog>(new FactLog);
  TRAINYARD_ASSIGN_OR_RETURN(facts->log_, RecordLog::Open(path));
  for (const std::string& record : facts->log_->records_at_open()) {
    v1::Fact fact;
    if (!fact.ParseFromString(record) || !facts->Restore(std::move(fact))) {
      return absl::DataLossError(
          absl::StrCat(path, " is not a fact log that this version of trainyard-worker can read"));
    }
  }
  return facts;
}

absl::Status FactLog::AppendRecord(const v1::Fact& record) {
  return log_->Append(record.SerializeAsString());
}

absl::Status FactLog::ReplaceRecords(const std::vector<v1::Fact>& records) {
  std::vector<std::string> lines;
  for (const v1::Fact& record : records) lines.push_back(record.SerializeAsString());
  return log_->Rewrite(lines);
}

}  // namespace trainyard::worker
