// Records of TFRecord files, such as TensorBoard's event files. Each record has its length and its
// bytes, each with a checksum.
#ifndef TRAINYARD_PROTO_PARSERS_TF_RECORD_H_
#define TRAINYARD_PROTO_PARSERS_TF_RECORD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

// Returns the CRC-32C (Castagnoli) of the bytes.
uint32_t Crc32c(std::string_view bytes);

// Returns the record that contains the bytes: length and bytes, each with its masked CRC-32C.
std::string TfRecord(std::string_view bytes);

// Longer records, such as images, are skipped without a check of their bytes.
inline constexpr std::size_t kMaxTfRecordBytes = 1 << 20;

struct TfRecordResult {
  enum class Kind { kRecord, kSkipped, kIncomplete, kDamaged };
  Kind kind = Kind::kIncomplete;
  std::string_view content;  // Only for kRecord.
  uint64_t size = 0;         // Size of the whole record; only for kRecord and kSkipped.
};

// Reads the record at the beginning of untrusted bytes. kIncomplete: more bytes are needed. The
// beginning of a skipped record is enough.
TfRecordResult ReadTfRecord(std::string_view bytes);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_PARSERS_TF_RECORD_H_
