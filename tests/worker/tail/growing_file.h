// A file that a rank appends to, for tests.
#ifndef TRAINYARD_TESTS_WORKER_TAIL_GROWING_FILE_H_
#define TRAINYARD_TESTS_WORKER_TAIL_GROWING_FILE_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace trainyard::worker {

class GrowingFile {
 public:
  GrowingFile() : directory_(testing::TempDir() + "trainyard_XXXXXX") {
    if (mkdtemp(directory_.data()) == nullptr) abort();
  }
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  ~GrowingFile() { std::filesystem::remove_all(directory_); }

  std::string path() const { return directory_ + "/file"; }
  const std::string& directory() const { return directory_; }
  void Append(const std::string& text) const {
    std::ofstream(path(), std::ios::app | std::ios::binary) << text;
  }
  void Cut(std::size_t bytes) const { std::filesystem::resize_file(path(), bytes); }

 private:
  std::string directory_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_TESTS_WORKER_TAIL_GROWING_FILE_H_
