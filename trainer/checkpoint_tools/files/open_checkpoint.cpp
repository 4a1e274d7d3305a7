#include "trainer/checkpoint_tools/files/open_checkpoint.h"

#include <unistd.h>

#include <optional>

#include "trainer/checkpoint/manifest.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {

bool HasManifest(const std::string& directory) {
  return access((directory + "/" + kManifestName).c_str(), F_OK) == 0;
}

std::unique_ptr<CheckpointReader> OpenCheckpoint(const std::string& directory) {
  if (!HasManifest(directory)) {
    if (const auto newest = LatestCheckpoint(directory)) {
      throw TrainerError(ExitCode::kBadCheckpoint,
                         directory +
                             " contains checkpoints but is not a checkpoint itself; name one of "
                             "the checkpoints, such as " +
                             newest->path);
    }
  }
  return std::make_unique<CheckpointReader>(directory);
}

}  // namespace trainyard::trainer
