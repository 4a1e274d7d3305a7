// The append-only file of records of a run.
#ifndef TRAINYARD_DATA_STAGES_RECORD_LOG_H_
#define TRAINYARD_DATA_STAGES_RECORD_LOG_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/stages/record.h"
#include "proto/files/unique_fd.h"

namespace trainyard::data {

// Not thread-safe.
class RecordLog {
 public:
  // Opens or creates the file. Appends the records of the plan to `records`, in the order of the
  // file. Cuts the file at the first damaged record, which a crash leaves at the end of the file.
  static absl::StatusOr<std::unique_ptr<RecordLog>> Open(const std::string& path,
                                                         const std::string& plan_hash,
                                                         std::vector<BlockRecord>* records);

  // The record is on disk when Append returns OK. Do not append after an error.
  absl::Status Append(const BlockRecord& record);

 private:
  RecordLog(std::string path, std::string plan_hash, UniqueFd fd)
      : path_(std::move(path)), plan_hash_(std::move(plan_hash)), fd_(std::move(fd)) {}

  const std::string path_;
  const std::string plan_hash_;
  const UniqueFd fd_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_RECORD_LOG_H_
