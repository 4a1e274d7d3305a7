// A directory that gets its final name only after all its files are on disk.
#ifndef TRAINYARD_DATA_TOKENS_OUTPUT_DIRECTORY_H_
#define TRAINYARD_DATA_TOKENS_OUTPUT_DIRECTORY_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::data {

// The file by which a directory of `data mix` is recognized.
inline constexpr char kMixFile[] = "mix.json";

// Unless Publish has succeeded, the destructor removes the directory with all its contents.
class OutputDirectory {
 public:
  // Creates a new directory next to `target`, in which files are written until Publish. `target`
  // must be missing or empty. With `replace`, it may also contain a data set or a blend of `data
  // mix`. Otherwise returns AlreadyExists.
  static absl::StatusOr<std::unique_ptr<OutputDirectory>> Create(const std::string& target,
                                                                 bool replace);
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;

  const std::string& path() const { return path_; }  // to write into
  const std::string& target() const { return target_; }

  // Renames the directory to its final name, then removes the data set that it replaced, if any.
  absl::Status Publish();

 private:
  OutputDirectory(std::string target, std::string path, bool replace)
      : target_(std::move(target)), path_(std::move(path)), replace_(replace) {}

  const std::string target_;  // absolute
  const std::string path_;
  const bool replace_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_OUTPUT_DIRECTORY_H_
