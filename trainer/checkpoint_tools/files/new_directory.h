// A directory that appears under its name only once it is complete on disk.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_NEW_DIRECTORY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_NEW_DIRECTORY_H_

#include <functional>
#include <string>

namespace trainyard::trainer {

// Removes all its files unless PutInPlace succeeded. Its temporary name ("OUT.tmp-XXXXXX") is never
// listed as a checkpoint.
class NewDirectory {
 public:
  // Throws if `path`, which exists and is not empty, must not be replaced.
  using CheckReplaceable = std::function<void(const std::string& path)>;

  // Builds the files in a new directory next to `path`. Throws TrainerError kCannotWrite.
  NewDirectory(std::string path, CheckReplaceable check);
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  // Directory for the new files.
  const std::string& building() const { return building_; }

  // Moves the directory into place with one rename, then removes the replaced one. Throws
  // TrainerError kCannotWrite.
  void PutInPlace();

 private:
  // True if there is something replaceable in place.
  bool CheckPlace() const;

  const std::string path_;
  const CheckReplaceable check_;
  std::string building_;  // After PutInPlace: the replaced directory.
};

// Throws TrainerError kCannotWrite with "cannot make PATH: REASON".
[[noreturn]] void CannotMake(const std::string& path, const std::string& reason);

std::string WithoutSlashes(std::string path);

// Throws TrainerError kUsage if `path` is not a directory name, or is at or inside `source`.
void CheckOutside(const std::string& path, const std::string& source);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_NEW_DIRECTORY_H_
