// A checkpoint that appears under its name only when all of it is on disk.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_NEW_CHECKPOINT_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_NEW_CHECKPOINT_H_

#include <cstdint>
#include <functional>
#include <string>

#include "trainer/checkpoint/manifest.h"

namespace trainyard::trainer {

// Removed with all its files unless Publish succeeded. Its temporary name ("OUT.tmp-XXXXXX") is
// never listed as a checkpoint.
class NewCheckpoint {
 public:
  // `path` must not exist, or be empty; with `replace` it may also be a checkpoint. The files are
  // built in a new directory beside it. Throws TrainerError kCannotWrite.
  NewCheckpoint(std::string path, bool replace);
  ~NewCheckpoint();
  NewCheckpoint(const NewCheckpoint&) = delete;
  NewCheckpoint& operator=(const NewCheckpoint&) = delete;

  // Directory to write the files into.
  const std::string& building() const { return building_; }

  // Writes the manifest, calls `before_rename`, and puts the directory in place by one rename. The
  // checkpoint that was there is removed afterwards. Throws TrainerError kCannotWrite.
  void Publish(const Manifest& manifest, const std::function<void()>& before_rename);

 private:
  void CheckPlace() const;

  const std::string path_;
  const bool replace_;
  std::string building_;  // after Publish: the checkpoint that was replaced
};

// Throws TrainerError kUsage when a checkpoint of this step may not be made at `path`: inside of
// `source` or at its place, or under a name by which trainers would take it for something else.
// is_whole: a trainer can resume from it.
void CheckNewName(const std::string& path, const std::string& source, int64_t step, bool is_whole);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_NEW_CHECKPOINT_H_
