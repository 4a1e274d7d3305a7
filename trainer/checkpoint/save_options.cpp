#include "trainer/checkpoint/save_options.h"

namespace trainyard::trainer {

std::string BlockedSaveText(const CheckpointEvent& event) {
  const auto minutes = static_cast<int>(CheckpointWriterOptions().final_wait_seconds / 60);
  return "cannot write the last checkpoint: " + event.message + "; retrying for " +
         std::to_string(minutes) + " minutes, while the ranks keep their state in memory" +
         (event.is_unshared ? "" : "; free disk space");
}

}  // namespace trainyard::trainer
