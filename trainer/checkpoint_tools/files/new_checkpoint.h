// A checkpoint that appears under its name only once it is complete on disk.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_NEW_CHECKPOINT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_NEW_CHECKPOINT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint_tools/files/new_directory.h"

namespace trainyard::trainer {

// Removes all its files unless Publish succeeded.
class NewCheckpoint {
 public:
  // `path` must not exist or must be empty; with `replace` it may also be a checkpoint. Builds the
  // files in a new directory next to it. Throws TrainerError kCannotWrite.
  NewCheckpoint(std::string path, bool replace);

  // Directory for the new files.
  const std::string& building() const { return directory_.building(); }

  // Writes the manifest, calls `before_rename`, and moves the directory into place with one rename.
  // Then removes the replaced checkpoint. Throws TrainerError kCannotWrite.
  void Publish(const Manifest& manifest, const std::function<void()>& before_rename);

 private:
  NewDirectory directory_;
};

// Throws TrainerError kUsage if a checkpoint of this step must not be created at `path`: at or
// inside `source`, or under a name that trainers would misinterpret. is_whole: a trainer can resume
// from it.
void CheckNewName(const std::string& path, const std::string& source, int64_t step, bool is_whole);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_NEW_CHECKPOINT_H_
