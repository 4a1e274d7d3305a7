// A directory for one test, removed with all its contents at the end. The functions read and write
// whole files as text.
#ifndef TRAINYARD_TESTS_FAKES_TEMPORARY_DIRECTORY_H_
#define TRAINYARD_TESTS_FAKES_TEMPORARY_DIRECTORY_H_

#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace trainyard {

class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(
      const std::filesystem::path& parent = std::filesystem::temp_directory_path())
      : path_((parent / "trainyard-test-XXXXXX").string()) {
    if (mkdtemp(path_.data()) != nullptr) return;
    std::perror(path_.c_str());
    abort();
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Returns the contents of a file; "" if it does not exist.
inline std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

}  // namespace trainyard

#endif  // TRAINYARD_TESTS_FAKES_TEMPORARY_DIRECTORY_H_
