// A directory that appears under its name only when everything in it is on disk.
#ifndef TRAINYARD_CLI_DATA_OUTPUT_DIRECTORY_H_
#define TRAINYARD_CLI_DATA_OUTPUT_DIRECTORY_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::cli {

// Removed with all its contents unless Publish succeeded.
class OutputDirectory {
 public:
  // `target` must not exist or be empty; with `replace` it may also hold a data set. AlreadyExists
  // otherwise. The work happens in a new directory beside it.
  static absl::StatusOr<std::unique_ptr<OutputDirectory>> Create(const std::string& target,
                                                                 bool replace);
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;

  const std::string& path() const { return path_; }  // to write into
  const std::string& target() const { return target_; }

  // Puts the directory in place; what was there before is removed afterwards.
  absl::Status Publish();

 private:
  OutputDirectory(std::string target, std::string path, bool replace)
      : target_(std::move(target)), path_(std::move(path)), replace_(replace) {}

  const std::string target_;  // absolute
  const std::string path_;
  const bool replace_;
};

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_DATA_OUTPUT_DIRECTORY_H_
