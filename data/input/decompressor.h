// Reads files of one or several gzip members or zstd frames.
#ifndef TRAINYARD_DATA_INPUT_DECOMPRESSOR_H_
#define TRAINYARD_DATA_INPUT_DECOMPRESSOR_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "data/input/input_files.h"

namespace trainyard::data {

// Not thread-safe. Uses constant memory: at most 128 MiB for a zstd window.
class Decompressor {
 public:
  virtual ~Decompressor() = default;

  // Opens `file`, whose compression must not be kNone. `file` must outlive the decompressor.
  static absl::StatusOr<std::unique_ptr<Decompressor>> Open(const InputFile& file);

  // Decompresses up to `capacity` (> 0) bytes. Returns 0 only at the end of a complete file: the
  // last member or frame has ended, its checksum is right, and no byte follows. Otherwise returns
  // DataLoss with the file, the position and the cause.
  virtual absl::StatusOr<size_t> Read(char* output, size_t capacity) = 0;

  // Number of compressed bytes read so far.
  virtual int64_t position() const = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_INPUT_DECOMPRESSOR_H_
