// Settings and progress of the commands with a resumable run.
#ifndef TRAINYARD_DATA_PREPARE_CLEANING_STAGE_SETTINGS_H_
#define TRAINYARD_DATA_PREPARE_CLEANING_STAGE_SETTINGS_H_

#include <cstdint>
#include <string>

#include "data/prepare/command/job.h"
#include "data/prepare/command/progress.h"
#include "data/stages/run_stage.h"

namespace trainyard::data {

// The options of every command in this file.
struct StageOutput {
  const std::string& directory;
  bool replaces = false;  // Delete an earlier run in the directory.
  int64_t memory_mib = 0;
};

RunSettings StageSettings(const Job& job, const StageOutput& output);

// Reports the blocks that an earlier run has finished, and then the progress of `work`.
RunObserver StageObserver(const std::string& work, Progress* progress);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PREPARE_CLEANING_STAGE_SETTINGS_H_
