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
  // Creates a new directory next to `path`, in which the files are built. `path` must not exist or
  // must be an empty directory. With `replace`, `path` may also be a checkpoint. Throws
  // TrainerError kCannotWrite.
  NewCheckpoint(std::string path, bool replace);

  // The directory in which the new files are built.
  const std::string& building() const { return directory_.building(); }

  // Writes the manifest, calls `before_rename`, and moves the directory into place with one rename.
  // The destructor then removes the replaced checkpoint. Throws TrainerError kCannotWrite.
  void Publish(const Manifest& manifest, const std::function<void()>& before_rename);

 private:
  NewDirectory directory_;
};

// Throws TrainerError kUsage if no checkpoint of this step may be created at `path`: if `path` is
// `source` or inside it, or if trainers would misinterpret the name of the new checkpoint.
// `is_whole` is true if a trainer can resume from the checkpoint.
void CheckNewName(const std::string& path, const std::string& source, int64_t step, bool is_whole);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_NEW_CHECKPOINT_H_
