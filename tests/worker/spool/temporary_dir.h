// A directory for one test. The destructor removes the directory with its contents.
#ifndef TRAINYARD_TESTS_WORKER_SPOOL_TEMPORARY_DIR_H_
#define TRAINYARD_TESTS_WORKER_SPOOL_TEMPORARY_DIR_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace trainyard::worker {

class TemporaryDir {
 public:
  TemporaryDir() {
    std::string path = (std::filesystem::temp_directory_path() / "trainyard-XXXXXX").string();
    EXPECT_NE(mkdtemp(path.data()), nullptr);
    path_ = path;
  }
  ~TemporaryDir() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace trainyard::worker

#endif  // TRAINYARD_TESTS_WORKER_SPOOL_TEMPORARY_DIR_H_
