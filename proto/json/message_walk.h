// Walks over a message. All JSON forms use this walk: it determines names, enums, durations and
// numbers, and a sink determines the form of the output.
#ifndef TRAINYARD_PROTO_JSON_MESSAGE_WALK_H_
#define TRAINYARD_PROTO_JSON_MESSAGE_WALK_H_

#include <cstdint>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/duration.pb.h"
#include "google/protobuf/message.h"
#include "proto/json/enum_text.h"

namespace trainyard {

// Returns a text like "90s", or "0.25s" if the duration has a fraction of a second.
std::string DurationText(const google::protobuf::Duration& duration);

// `Sink` receives the parts of a JSON document in order: BeginObject, Key(text), EndObject,
// BeginArray, EndArray, and the values Integer(int64_t), Unsigned(uint64_t), Real(double),
// Boolean(bool) and Text(const std::string&). `Chooses(message, field, depth)` returns whether a
// field is part of the document; the outermost message has depth 0. `Sink` is a template parameter
// instead of an interface for speed, because a chart has hundreds of thousands of numbers.
//
// A sink may also have `Replaces(message, field)`, which returns true if the sink has written the
// key and the value of the field.
template <typename Sink>
class MessageWalk {
 public:
  using FieldDescriptor = google::protobuf::FieldDescriptor;
  using Message = google::protobuf::Message;

  explicit MessageWalk(Sink& sink) : sink_(sink) {}

  void Write(const Message& message, int depth = 0) {
    if (const auto* duration = dynamic_cast<const google::protobuf::Duration*>(&message)) {
      return sink_.Text(DurationText(*duration));
    }
    sink_.BeginObject();
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor& field = *message.GetDescriptor()->field(i);
      if (!sink_.Chooses(message, field, depth)) continue;
      if constexpr (requires { sink_.Replaces(message, field); }) {
        if (sink_.Replaces(message, field)) continue;
      }
      sink_.Key(field.name());
      WriteField(message, field, depth);
    }
    sink_.EndObject();
  }

 private:
  void WriteField(const Message& message, const FieldDescriptor& field, int depth) {
    if (!field.is_repeated()) return WriteValue(message, field, -1, depth);
    const int size = message.GetReflection()->FieldSize(message, &field);
    if (field.is_map()) return WriteMap(message, field, size, depth);
    sink_.BeginArray();
    for (int i = 0; i < size; ++i) WriteValue(message, field, i, depth);
    sink_.EndArray();
  }

  void WriteMap(const Message& message, const FieldDescriptor& field, int size, int depth) {
    sink_.BeginObject();
    for (int i = 0; i < size; ++i) {
      const Message& entry = message.GetReflection()->GetRepeatedMessage(message, &field, i);
      sink_.Key(KeyText(entry, *field.message_type()->map_key()));
      WriteValue(entry, *field.message_type()->map_value(), -1, depth);
    }
    sink_.EndObject();
  }

  // In our messages, the keys of maps are strings or integers.
  static std::string KeyText(const Message& entry, const FieldDescriptor& key) {
    const google::protobuf::Reflection& reflection = *entry.GetReflection();
    switch (key.cpp_type()) {
      case FieldDescriptor::CPPTYPE_STRING:
        return reflection.GetString(entry, &key);
      case FieldDescriptor::CPPTYPE_INT32:
        return absl::StrCat(reflection.GetInt32(entry, &key));
      case FieldDescriptor::CPPTYPE_UINT32:
        return absl::StrCat(reflection.GetUInt32(entry, &key));
      case FieldDescriptor::CPPTYPE_UINT64:
        return absl::StrCat(reflection.GetUInt64(entry, &key));
      default:
        return absl::StrCat(reflection.GetInt64(entry, &key));
    }
  }

  // Writes element `index` of a repeated field. For a singular field, `index` is -1.
  void WriteValue(const Message& message, const FieldDescriptor& field, int index, int depth) {
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    const bool repeated = index >= 0;
    switch (field.cpp_type()) {
#define TRAINYARD_VALUE(kind, Getter, Method)                                             \
  case FieldDescriptor::kind:                                                             \
    return sink_.Method(repeated ? reflection.GetRepeated##Getter(message, &field, index) \
                                 : reflection.Get##Getter(message, &field))
      TRAINYARD_VALUE(CPPTYPE_INT32, Int32, Integer);
      TRAINYARD_VALUE(CPPTYPE_INT64, Int64, Integer);
      TRAINYARD_VALUE(CPPTYPE_UINT32, UInt32, Unsigned);
      TRAINYARD_VALUE(CPPTYPE_UINT64, UInt64, Unsigned);
      TRAINYARD_VALUE(CPPTYPE_DOUBLE, Double, Real);
      TRAINYARD_VALUE(CPPTYPE_FLOAT, Float, Real);
      TRAINYARD_VALUE(CPPTYPE_BOOL, Bool, Boolean);
#undef TRAINYARD_VALUE
      case FieldDescriptor::CPPTYPE_ENUM:
        return sink_.Text(EnumShortName(repeated
                                            ? *reflection.GetRepeatedEnum(message, &field, index)
                                            : *reflection.GetEnum(message, &field)));
      case FieldDescriptor::CPPTYPE_STRING:
        return WriteText(message, field, index);
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Write(repeated ? reflection.GetRepeatedMessage(message, &field, index)
                              : reflection.GetMessage(message, &field),
                     depth + 1);
    }
  }

  void WriteText(const Message& message, const FieldDescriptor& field, int index) {
    std::string scratch;
    const google::protobuf::Reflection& reflection = *message.GetReflection();
    const std::string& text =
        index >= 0 ? reflection.GetRepeatedStringReference(message, &field, index, &scratch)
                   : reflection.GetStringReference(message, &field, &scratch);
    const bool bytes = field.type() == FieldDescriptor::TYPE_BYTES;
    sink_.Text(bytes ? absl::Base64Escape(text) : text);
  }

  Sink& sink_;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JSON_MESSAGE_WALK_H_
