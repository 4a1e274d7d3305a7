// A directory that appears under its name only when all of it is on disk.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_NEW_DIRECTORY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_NEW_DIRECTORY_H_

#include <functional>
#include <string>

namespace trainyard::trainer {

// Removed with all its files unless PutInPlace succeeded. Its temporary name ("OUT.tmp-XXXXXX") is
// never listed as a checkpoint.
class NewDirectory {
 public:
  // Throws when `path`, which exists and is not empty, may not be replaced.
  using CheckReplaceable = std::function<void(const std::string& path)>;

  // The files are built in a new directory beside `path`. Throws TrainerError kCannotWrite.
  NewDirectory(std::string path, CheckReplaceable check);
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  // Directory to write the files into.
  const std::string& building() const { return building_; }

  // Puts the directory in place by one rename. One that was there is removed afterwards. Throws
  // TrainerError kCannotWrite.
  void PutInPlace();

 private:
  // True when something is in place that may be replaced.
  bool CheckPlace() const;

  const std::string path_;
  const CheckReplaceable check_;
  std::string building_;  // after PutInPlace: the directory that was replaced
};

// Throws TrainerError kCannotWrite: the directory cannot be made.
[[noreturn]] void CannotMake(const std::string& path, const std::string& reason);

std::string WithoutSlashes(std::string path);

// Throws TrainerError kUsage when `path` is no name of a directory, or is `source` or inside of it.
void CheckOutside(const std::string& path, const std::string& source);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_NEW_DIRECTORY_H_
