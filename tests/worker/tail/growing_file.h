// A file to which a test appends, as a rank does.
#ifndef TRAINYARD_TESTS_WORKER_TAIL_GROWING_FILE_H_
#define TRAINYARD_TESTS_WORKER_TAIL_GROWING_FILE_H_

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::worker {

class GrowingFile {
 public:
  std::string path() const { return directory_.File("file"); }
  const std::string& directory() const { return directory_.path(); }
  void Append(const std::string& text) const {
    std::ofstream(path(), std::ios::app | std::ios::binary) << text;
  }
  void Cut(std::size_t bytes) const { std::filesystem::resize_file(path(), bytes); }

 private:
  TemporaryDirectory directory_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_TESTS_WORKER_TAIL_GROWING_FILE_H_
