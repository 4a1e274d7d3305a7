// Creates a checkpoint that appears under its name only when it is complete on disk.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_NEW_CHECKPOINT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_NEW_CHECKPOINT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint_tools/files/new_directory.h"

namespace trainyard::trainer {

// A checkpoint under construction. The destructor removes its files, unless Publish succeeded.
class NewCheckpoint {
 public:
  // `path` must not exist or must be empty. With `replace`, it may also be a checkpoint. The files
  // are built in a new directory next to `path`. Throws TrainerError kCannotWrite.
  NewCheckpoint(std::string path, bool replace);

  // The directory in which the new files are built.
  const std::string& building() const { return directory_.building(); }

  // Writes the manifest, calls `before_rename`, and moves the directory into place with one rename.
  // Then removes the checkpoint that was replaced. Throws TrainerError kCannotWrite.
  void Publish(const Manifest& manifest, const std::function<void()>& before_rename);

 private:
  NewDirectory directory_;
};

// Throws TrainerError kUsage if no checkpoint of this step may be created at `path`: if `path` is
// `source` or inside it, or if trainers would misinterpret its name. `is_whole` is true if a
// trainer can resume from the checkpoint.
void CheckNewName(const std::string& path, const std::string& source, int64_t step, bool is_whole);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_NEW_CHECKPOINT_H_
