// Writes Thrift's compact protocol, and Parquet files of one column, byte by byte from the
// published formats.
#ifndef TRAINYARD_TESTS_DATA_PARQUET_THRIFT_BYTES_H_
#define TRAINYARD_TESTS_DATA_PARQUET_THRIFT_BYTES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace trainyard::data {

inline std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

inline std::string ZigZag(int64_t value) {
  return Varint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
}

// The fields of a struct. Ids must increase.
class ThriftStruct {
 public:
  ThriftStruct& Field(int id, int type, const std::string& value) {
    bytes_ += static_cast<char>(((id - last_) << 4) | type);
    bytes_ += value;
    last_ = id;
    return *this;
  }
  ThriftStruct& Int(int id, int64_t value) { return Field(id, 5, ZigZag(value)); }
  ThriftStruct& Text(int id, const std::string& text) {
    return Field(id, 8, Varint(text.size()) + text);
  }
  ThriftStruct& Struct(int id, const ThriftStruct& value) { return Field(id, 12, value.bytes()); }
  // `type`: of the elements, which are at most 14.
  ThriftStruct& List(int id, int type, const std::vector<std::string>& elements) {
    std::string list(1, static_cast<char>((elements.size() << 4) | static_cast<size_t>(type)));
    for (const std::string& element : elements) list += element;
    return Field(id, 9, list);
  }
  std::string bytes() const { return bytes_ + '\0'; }

 private:
  std::string bytes_;
  int last_ = 0;
};

inline std::string LittleEndian(uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i));
  return bytes;
}

// A value in the encoding PLAIN.
inline std::string Plain(const std::string& text) {
  return LittleEndian(static_cast<uint32_t>(text.size())) + text;
}

// A data page of version 1 with required values in the encoding PLAIN, not compressed.
inline std::string PlainPage(const std::vector<std::string>& texts) {
  std::string values;
  for (const std::string& text : texts) values += Plain(text);
  ThriftStruct data;
  data.Int(1, static_cast<int64_t>(texts.size())).Int(2, 0).Int(3, 3).Int(4, 3);
  const auto bytes = static_cast<int64_t>(values.size());
  ThriftStruct header;
  header.Int(1, 0).Int(2, bytes).Int(3, bytes).Struct(5, data);
  return header.bytes() + values;
}

struct SmallParquet {
  std::vector<std::string> pages;  // with their headers, in one row group
  int64_t values = 0;
  int64_t rows = -1;       // -1: `values`
  int64_t type = 6;        // BYTE_ARRAY
  int64_t repetition = 0;  // required
  int64_t codec = 0;       // none
  std::string mark = "PAR1";
  bool is_encrypted = false;

  std::string Footer() const {
    ThriftStruct root, text, number, metadata, chunk, group, file;
    root.Text(4, "schema").Int(5, 2);
    number.Int(1, 1).Int(3, 0).Text(4, "number");
    text.Int(1, type).Int(3, repetition).Text(4, "text");
    metadata.Int(1, type).List(3, 8, {Varint(4) + "text"}).Int(4, codec).Int(5, values).Int(9, 4);
    chunk.Int(2, 4).Struct(3, metadata);
    group.List(1, 12, {chunk.bytes()}).Int(3, rows < 0 ? values : rows);
    file.Int(1, 2)
        .List(2, 12, {root.bytes(), number.bytes(), text.bytes()})
        .Int(3, values)
        .List(4, 12, {group.bytes()});
    if (is_encrypted) file.Struct(8, ThriftStruct());
    return file.bytes();
  }

  std::string Bytes() const {
    std::string bytes = "PAR1";
    for (const std::string& page : pages) bytes += page;
    const std::string footer = Footer();
    return bytes + footer + LittleEndian(static_cast<uint32_t>(footer.size())) + mark;
  }
};

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_PARQUET_THRIFT_BYTES_H_
