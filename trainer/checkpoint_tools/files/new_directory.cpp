#include "trainer/checkpoint_tools/files/new_directory.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <utility>

#include "proto/files/durable_file.h"
#include "trainer/checkpoint/durable_file.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

std::string LastPart(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool IsEmptyDirectory(const std::string& path) {
  DIR* directory = opendir(path.c_str());
  if (directory == nullptr) return false;
  int entries = 0;
  while (readdir(directory) != nullptr && entries <= 2) ++entries;
  closedir(directory);
  return entries <= 2;  // "." and ".."
}

// Resolves symbolic links. The last components of the path need not exist. Returns "" on failure.
std::string RealPath(const std::string& path) {
  char resolved[PATH_MAX];
  if (realpath(path.c_str(), resolved) != nullptr) return resolved;
  if (errno != ENOENT || path == "." || path == "/") return "";
  const std::string parent = RealPath(WithoutSlashes(DirectoryOf(path)));
  return parent.empty() ? "" : parent + "/" + LastPart(path);
}

}  // namespace

NewDirectory::NewDirectory(std::string path, CheckReplaceable check)
    : path_(WithoutSlashes(std::move(path))), check_(std::move(check)) {
  CheckPlace();
  MakeDirectories(DirectoryOf(path_));
  building_ = path_ + ".tmp-XXXXXX";
  if (mkdtemp(building_.data()) == nullptr) CannotMake(building_, std::strerror(errno));
  chmod(building_.c_str(), 0755);  // mkdtemp's mode 0700 would hide the directory from other users.
}

NewDirectory::~NewDirectory() { RemoveTree(building_); }

bool NewDirectory::CheckPlace() const {
  struct stat status {};
  if (lstat(path_.c_str(), &status) != 0 || IsEmptyDirectory(path_)) return false;
  check_(path_);
  return true;
}

void NewDirectory::PutInPlace() {
  if (CheckPlace()) {  // Checked again, because writing the files may have taken hours.
    ReplaceDirectory(building_, path_);
  } else if (rename(building_.c_str(), path_.c_str()) != 0) {
    CannotMake(path_, std::strerror(errno));
  }
  SyncDirectory(DirectoryOf(path_));
}

void CannotMake(const std::string& path, const std::string& reason) {
  throw TrainerError(ExitCode::kCannotWrite, "cannot make " + path + ": " + reason);
}

std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

void CheckOutside(const std::string& path, const std::string& source) {
  const auto refuse = [&path](const std::string& reason) {
    throw TrainerError(ExitCode::kUsage, "cannot make " + path + ": " + reason);
  };
  const std::string real = RealPath(WithoutSlashes(path)), name = LastPart(WithoutSlashes(path));
  if (name.empty() || name == "." || name == "..") refuse("name the directory to create");
  if ((real + "/").starts_with(RealPath(WithoutSlashes(source)) + "/")) {
    refuse("this path is " + source + " or is inside that directory; use another path");
  }
}

}  // namespace trainyard::trainer
