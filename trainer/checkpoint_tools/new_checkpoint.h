// A checkpoint that appears under its name only when all of it is on disk.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_NEW_CHECKPOINT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_NEW_CHECKPOINT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint_tools/new_directory.h"

namespace trainyard::trainer {

// Removed with all its files unless Publish succeeded.
class NewCheckpoint {
 public:
  // `path` must not exist, or be empty; with `replace` it may also be a checkpoint. The files are
  // built in a new directory beside it. Throws TrainerError kCannotWrite.
  NewCheckpoint(std::string path, bool replace);

  // Directory to write the files into.
  const std::string& building() const { return directory_.building(); }

  // Writes the manifest, calls `before_rename`, and puts the directory in place by one rename. The
  // checkpoint that was there is removed afterwards. Throws TrainerError kCannotWrite.
  void Publish(const Manifest& manifest, const std::function<void()>& before_rename);

 private:
  NewDirectory directory_;
};

// Throws TrainerError kUsage when a checkpoint of this step may not be made at `path`: inside of
// `source` or at its place, or under a name by which trainers would take it for something else.
// is_whole: a trainer can resume from it.
void CheckNewName(const std::string& path, const std::string& source, int64_t step, bool is_whole);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_NEW_CHECKPOINT_H_
