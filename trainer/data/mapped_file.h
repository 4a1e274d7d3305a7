// A file mapped into memory, read-only.
#ifndef TRAINYARD_TRAINER_DATA_MAPPED_FILE_H_
#define TRAINYARD_TRAINER_DATA_MAPPED_FILE_H_

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <string>

namespace trainyard::trainer {

// Throw TrainerError with the message "PATH: WHY": ThrowNoInput with kNoInput, ThrowBadData with
// kBadData.
[[noreturn]] void ThrowNoInput(const std::string& path, const std::string& why);
[[noreturn]] void ThrowBadData(const std::string& path, const std::string& why);

enum class ReadOrder { kSequential, kRandom };

// A read-only mapping of a file. Several threads may read it. The file must not change while it is
// mapped.
class MappedFile {
 public:
  // Throws TrainerError kNoInput if the file is missing, is not a regular file, or cannot be
  // mapped. `next_step` is added to the message, for example "; prepare the data again".
  MappedFile(const std::string& path, ReadOrder order, const std::string& next_step);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  const unsigned char* data() const { return data_; }  // Null if the file is empty.
  size_t bytes() const { return bytes_; }

 private:
  std::string path_;
  const unsigned char* data_ = nullptr;
  size_t bytes_ = 0;
};

// Loads a little-endian number from `from`. Works with any byte order and any alignment.
template <typename Number>
Number LoadLittleEndian(const unsigned char* from) {
  unsigned char bytes[sizeof(Number)];
  std::memcpy(bytes, from, sizeof(Number));
  if constexpr (std::endian::native == std::endian::big) std::reverse(bytes, std::end(bytes));
  Number number;
  std::memcpy(&number, bytes, sizeof(Number));
  return number;
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_DATA_MAPPED_FILE_H_
