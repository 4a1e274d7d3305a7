// Files of a data set that are on disk when they are closed.
#ifndef TRAINYARD_DATA_TOKENS_OUTPUT_FILE_H_
#define TRAINYARD_DATA_TOKENS_OUTPUT_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "proto/files/durable_file.h"

namespace trainyard::data {

// A file whose contents are on disk when Close returns. Errors name the file. The code is
// ResourceExhausted if the disk is full, and Internal for every other error, including an existing
// file.
class OutputFile {
 public:
  static absl::StatusOr<std::unique_ptr<OutputFile>> Create(const std::string& path);

  absl::Status Write(std::string_view bytes);
  absl::Status Close();

  const std::string& path() const { return path_; }

 private:
  explicit OutputFile(std::string path) : path_(std::move(path)) {}
  absl::Status ToStatus(const FileResult& result) const;

  const std::string path_;
  DurableFile file_;
};

// Writes and closes a new OutputFile.
absl::Status WriteWholeFile(const std::string& path, std::string_view text);

// Replaces the first bytes of a closed file. Errors are those of OutputFile.
absl::Status OverwriteStart(const std::string& path, std::string_view bytes);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENS_OUTPUT_FILE_H_
