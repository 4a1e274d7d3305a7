// Writes a part: a zstd frame of lines.
#ifndef TRAINYARD_DATA_STAGES_PART_WRITER_H_
#define TRAINYARD_DATA_STAGES_PART_WRITER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::data {

struct PartFile {
  std::string name;    // without the directory
  int64_t bytes = 0;   // on disk
  uint64_t xxh64 = 0;  // of the bytes on disk
};

// True if the file has the size and the hash of the part. Reads the whole file.
bool IsIntact(const std::string& directory, const PartFile& part);

// The bytes on disk depend only on the lines and the version of zstd. Not thread-safe. Unless
// Finish has succeeded, the destructor removes the file.
class PartWriter {
 public:
  // Creates the file, which must not exist. Errors name the file. The code is ResourceExhausted if
  // the disk is full, and Internal otherwise.
  static absl::StatusOr<std::unique_ptr<PartWriter>> Create(const std::string& directory,
                                                            const std::string& name);
  virtual ~PartWriter() = default;

  // Appends `line` and a line end.
  virtual absl::Status Append(std::string_view line) = 0;
  // The contents are on disk afterwards. The name is durable only after SyncDirectory.
  virtual absl::StatusOr<PartFile> Finish() = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_PART_WRITER_H_
