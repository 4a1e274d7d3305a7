#include "trainer/checkpoint_tools/files/new_checkpoint.h"

#include <utility>

#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint_tools/files/open_checkpoint.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// Throws unless `path` is a checkpoint that may be replaced. Even --force must not destroy other
// data if the path is mistyped.
void CheckReplaceable(const std::string& path, bool replace) {
  if (!HasManifest(path))
    CannotMake(path, "this path exists and is not a checkpoint; use another path");
  if (replace) return;
  CannotMake(
      path,
      "a checkpoint exists at this path; use another path, or replace the checkpoint with --force");
}

}  // namespace

NewCheckpoint::NewCheckpoint(std::string path, bool replace)
    : directory_(std::move(path),
                 [replace](const std::string& there) { CheckReplaceable(there, replace); }) {}

void NewCheckpoint::Publish(const Manifest& manifest, const std::function<void()>& before_rename) {
  WriteFileAtomically(building() + "/" + kManifestName, ManifestToText(manifest));
  before_rename();
  directory_.PutInPlace();
}

void CheckNewName(const std::string& path, const std::string& source, int64_t step, bool is_whole) {
  CheckOutside(path, source);
  const std::string bare = WithoutSlashes(path), name = bare.substr(bare.rfind('/') + 1);
  const auto refuse = [&path](const std::string& reason) {
    throw TrainerError(ExitCode::kUsage, "cannot make " + path + ": " + reason);
  };
  if (!name.starts_with("step_") || name.find('.') != std::string::npos) return;
  // Trainers resume from a directory whose name begins with step_, and read the step from the name.
  if (!is_whole)
    refuse("no job can resume from weights alone, so the name must not begin with step_");
  if (name != StepDirectoryName(step)) {
    refuse("a checkpoint of this step must be called " + StepDirectoryName(step) +
           ", or have a name that does not begin with step_");
  }
}

}  // namespace trainyard::trainer
