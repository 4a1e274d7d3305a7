// The output directory of a run.
#ifndef TRAINYARD_DATA_STAGES_RUN_DIRECTORY_H_
#define TRAINYARD_DATA_STAGES_RUN_DIRECTORY_H_

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/stages/part_names.h"
#include "data/stages/plan.h"
#include "data/stages/record.h"
#include "data/stages/record_log.h"
#include "proto/files/unique_fd.h"

namespace trainyard::data {

// Contains plan.json, records.log, report.json after the end of the run, and the parts. Only one
// process at a time can open a directory. The lock ends with the process, also in a crash.
class RunDirectory {
 public:
  // Creates the directory, or continues the run in it. Reads all parts of an earlier run.
  // Afterwards each part in the directory has a record, and each of `records`, one per block, has
  // intact parts. With `replace`, an existing run is deleted first.
  //
  // Returns FailedPrecondition if another process has opened the directory. Returns AlreadyExists
  // if the run in it has another plan, which the message compares, or if the directory contains
  // files but no run.
  static absl::StatusOr<std::unique_ptr<RunDirectory>> Open(const std::string& path,
                                                            const Plan& plan, bool replace,
                                                            std::vector<BlockRecord>* records);

  const PartNames& names() const { return names_; }

  // Gives the parts of a block their final names and stores its record. Both are on disk when
  // Commit returns OK. Do not call Commit after an error. Not thread-safe.
  absl::Status Commit(const BlockLease& lease, const BlockRecord& record);

  // Writes report.json, which marks the run as complete, and bad.jsonl unless `bad_lines` is empty.
  absl::Status Complete(std::string_view report, std::string_view bad_lines);

 private:
  RunDirectory(std::string path, size_t blocks) : path_(path), names_(std::move(path), blocks) {}

  absl::Status Create() const;
  absl::Status Lock();
  absl::Status CheckPlan(const Plan& plan, bool replace) const;
  absl::Status OpenLog(const Plan& plan, std::vector<BlockRecord>* records);
  absl::Status RemoveFiles(const std::vector<std::string>& names) const;
  absl::Status RemovePartsExcept(const std::vector<BlockRecord>& records) const;

  const std::string path_;  // absolute
  const PartNames names_;
  UniqueFd lock_;
  std::unique_ptr<RecordLog> log_;
};

// Describes how the plan of the run in `path` differs from `plan`, as PlanChanges does. Returns ""
// if they are equal or if the directory contains no run.
std::string ChangesOfRun(const std::string& path, const Plan& plan);

// Returns InvalidArgument if `path` and an input are the same or one contains the other. Otherwise
// outputs could become inputs, and --force could delete inputs.
absl::Status CheckOutsideInputs(const std::string& path, const std::vector<std::string>& inputs);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_RUN_DIRECTORY_H_
