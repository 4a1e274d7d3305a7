// Reads Thrift's compact protocol, the encoding of Parquet's metadata.
#ifndef TRAINYARD_DATA_PARQUET_THRIFT_READER_H_
#define TRAINYARD_DATA_PARQUET_THRIFT_READER_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trainyard::data {

enum class ThriftType : uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kInt16 = 4,
  kInt32 = 5,
  kInt64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

struct ThriftField {
  int32_t id = 0;
  ThriftType type = ThriftType::kStop;
};

// Reads untrusted bytes. After the first error, ok() is false and all functions return 0, "" or the
// end of the struct. Allocates no memory. Not thread-safe.
class ThriftReader {
 public:
  // `bytes` must outlive the reader.
  explicit ThriftReader(std::string_view bytes) : rest_(bytes), size_(bytes.size()) {}

  // Reads the next field of a struct. `before` is the previous field of the same struct;
  // ThriftField for the first one. The type is kStop at the end of the struct.
  ThriftField NextField(const ThriftField& before);

  // Read the value of a field. A value of another type is an error.
  int64_t Integer(const ThriftField& field);
  bool Boolean(const ThriftField& field);
  std::string_view Binary(const ThriftField& field);
  // Reads the start of a list whose elements have the type `element`. Returns their number, which
  // is at most the number of bytes left.
  size_t ListOf(const ThriftField& field, ThriftType element);
  // Returns false, which is an error, if the field is no struct.
  bool IsStruct(const ThriftField& field);

  void Skip(const ThriftField& field) { SkipValue(field.type, 0); }

  bool ok() const { return ok_; }
  // Number of bytes read so far.
  size_t position() const { return size_ - rest_.size(); }

 private:
  uint8_t Byte();
  uint64_t Varint();
  int64_t ZigZag();
  std::string_view Bytes(uint64_t count);
  void SkipValue(ThriftType type, int depth);
  void SkipElements(ThriftType type, uint64_t count, int depth);
  void SkipMap(int depth);
  void Fail();

  std::string_view rest_;
  const size_t size_;
  bool ok_ = true;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PARQUET_THRIFT_READER_H_
