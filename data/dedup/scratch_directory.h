// A directory for scratch files, removed at the end.
#ifndef TRAINYARD_DATA_DEDUP_SCRATCH_DIRECTORY_H_
#define TRAINYARD_DATA_DEDUP_SCRATCH_DIRECTORY_H_

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/files/remove_tree.h"

namespace trainyard::data {

class ScratchDirectory {
 public:
  // Creates a directory whose path is `prefix` and random characters.
  static absl::StatusOr<std::unique_ptr<ScratchDirectory>> Create(const std::string& prefix) {
    std::string path = prefix + "XXXXXX";
    if (mkdtemp(path.data()) != nullptr) {
      return std::unique_ptr<ScratchDirectory>(new ScratchDirectory(std::move(path)));
    }
    return absl::InternalError("cannot create the scratch directory " + path + ": " +
                               std::strerror(errno) + "; choose another one with --scratch");
  }
  ~ScratchDirectory() { (void)RemoveEntry(path_); }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  explicit ScratchDirectory(std::string path) : path_(std::move(path)) {}

  const std::string path_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_DEDUP_SCRATCH_DIRECTORY_H_
