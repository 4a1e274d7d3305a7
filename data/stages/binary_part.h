// Parts of numbers, for a later step of the same run.
#ifndef TRAINYARD_DATA_STAGES_BINARY_PART_H_
#define TRAINYARD_DATA_STAGES_BINARY_PART_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "data/stages/part_names.h"
#include "data/stages/part_writer.h"
#include "proto/files/unique_fd.h"

namespace trainyard::data {

// Unless Finish has succeeded, the destructor removes the file. Numbers have the byte order of the
// processor. Not thread-safe.
class BinaryPartWriter {
 public:
  // Creates "<stream>-00012.bin" under its unfinished name.
  static absl::StatusOr<std::unique_ptr<BinaryPartWriter>> Create(const PartNames& names,
                                                                  const BlockLease& lease,
                                                                  const std::string& stream);
  virtual ~BinaryPartWriter() = default;

  virtual absl::Status Append(std::string_view bytes) = 0;
  template <typename Number>
  absl::Status AppendNumber(Number number) {
    static_assert(std::is_arithmetic_v<Number>);
    return Append({reinterpret_cast<const char*>(&number), sizeof(number)});
  }
  // The contents are on disk afterwards. The result has the final name.
  virtual absl::StatusOr<PartFile> Finish() = 0;
};

// Reads a part from its begin. Not thread-safe.
class BinaryPartReader {
 public:
  // Returns DataLoss if the file is not that of the record.
  static absl::StatusOr<std::unique_ptr<BinaryPartReader>> Open(const std::string& directory,
                                                                const PartFile& part);
  virtual ~BinaryPartReader() = default;

  // True after the last byte.
  virtual bool AtEnd() const = 0;
  // Sets `bytes` to the next `size` bytes. Returns DataLoss if the file is shorter.
  virtual absl::Status Read(size_t size, std::string* bytes) = 0;
  template <typename Number>
  absl::Status ReadNumber(Number* number) {
    static_assert(std::is_arithmetic_v<Number>);
    const absl::Status status = Read(sizeof(*number), &number_bytes_);
    if (status.ok()) std::memcpy(number, number_bytes_.data(), sizeof(*number));
    return status;
  }

 private:
  std::string number_bytes_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_STAGES_BINARY_PART_H_
