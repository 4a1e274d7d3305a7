// A directory for one test, removed at the end of the test. The directory is in an in-memory file
// system, if there is one. Syncing costs nothing there, and a killed process leaves the same data
// as on a disk.
#ifndef TRAINYARD_TESTS_CONTROLLER_STORE_TEMPORARY_DIRECTORY_H_
#define TRAINYARD_TESTS_CONTROLLER_STORE_TEMPORARY_DIRECTORY_H_

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace trainyard::controller {

class TemporaryDirectory {
 public:
  TemporaryDirectory() : path_(Root() + "trainyard_store_XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) ADD_FAILURE() << "cannot create " << path_;
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }

  std::string File(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  static std::string Root() {
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : testing::TempDir();
  }

  std::string path_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_STORE_TEMPORARY_DIRECTORY_H_
