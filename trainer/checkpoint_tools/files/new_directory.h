// Creates a directory that appears under its name only when it is complete on disk.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_NEW_DIRECTORY_H_
#define TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_NEW_DIRECTORY_H_

#include <functional>
#include <string>

namespace trainyard::trainer {

// A directory under construction. The destructor removes its files, unless PutInPlace succeeded.
// While the files are written, the directory is called "OUT.tmp-XXXXXX", so it is never listed as a
// checkpoint.
class NewDirectory {
 public:
  // Throws if the directory at `path` must not be replaced. Called only if `path` exists and is not
  // empty.
  using CheckReplaceable = std::function<void(const std::string& path)>;

  // The files are built in a new directory next to `path`. Throws TrainerError kCannotWrite.
  NewDirectory(std::string path, CheckReplaceable check);
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  // The directory in which the new files are built.
  const std::string& building() const { return building_; }

  // Moves the directory into place with one rename. The destructor then removes the replaced
  // directory. Throws TrainerError kCannotWrite.
  void PutInPlace();

 private:
  // Returns false if the path does not exist or is an empty directory. Otherwise returns true, or
  // throws if the path must not be replaced.
  bool CheckPlace() const;

  const std::string path_;
  const CheckReplaceable check_;
  std::string building_;  // Temporary path. After PutInPlace: path of the replaced directory.
};

// Throws TrainerError kCannotWrite with "cannot make PATH: REASON".
[[noreturn]] void CannotMake(const std::string& path, const std::string& reason);

std::string WithoutSlashes(std::string path);

// Throws TrainerError kUsage if `path` ends in "." or "..", or if it is `source` or inside it.
void CheckOutside(const std::string& path, const std::string& source);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_TOOLS_FILES_NEW_DIRECTORY_H_
