// Reads the fields of a serialized protobuf message.
#ifndef TRAINYARD_DATA_TOKENIZER_PROTO_FIELDS_H_
#define TRAINYARD_DATA_TOKENIZER_PROTO_FIELDS_H_

#include <cstdint>
#include <string_view>

namespace trainyard::data {

// One field. Which of the values is set depends on its type in the message.
struct ProtoField {
  uint32_t number = 0;
  uint64_t varint = 0;
  std::string_view bytes;  // strings, bytes and messages
  float fixed32 = 0;
};

class ProtoFields {
 public:
  // `message` must outlive the reader.
  explicit ProtoFields(std::string_view message) : rest_(message) {}

  // Reads the next field. Returns false at the end of the message and for a damaged message.
  bool Next(ProtoField* field);

  // True if Next met bytes that are no field.
  bool damaged() const { return damaged_; }

 private:
  bool ReadVarint(uint64_t* value);
  bool ReadBytes(uint64_t size, std::string_view* bytes);
  bool ReadField(ProtoField* field);

  std::string_view rest_;
  bool damaged_ = false;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_PROTO_FIELDS_H_
