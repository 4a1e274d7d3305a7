#include "proto/json/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "proto/json/message_json.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

template <typename Number>
void AppendNumber(Number value, std::string& out) {
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

void AppendDouble(double value, std::string& out) {
  if (std::isfinite(value)) {
    AppendNumber(value, out);
  } else {
    out += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
}

class Writer {
 public:
  Writer(const ElementFields& only, std::string& out) : only_(only), out_(out) {}

  void Write(const Message& message, int depth) {
    if (message.GetDescriptor()->full_name() == "google.protobuf.Duration") {
      out_ += MessageToJson(message).dump();
      return;
    }
    const bool filtered = depth == 1 && in_list_ && !only_.fields.empty();
    const Reflection& reflection = *message.GetReflection();
    out_ += '{';
    bool first = true;
    for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
      const FieldDescriptor& field = *message.GetDescriptor()->field(i);
      if (filtered && !only_.fields.contains(field.name())) continue;
      if (field.has_presence() && !reflection.HasField(message, &field)) continue;
      if (!std::exchange(first, false)) out_ += ',';
      AppendJsonString(field.name(), out_);
      out_ += ':';
      in_list_ = depth == 0 ? field.name() == only_.list : in_list_;
      WriteField(message, field, depth);
    }
    out_ += '}';
  }

 private:
  void WriteField(const Message& message, const FieldDescriptor& field, int depth) {
    if (!field.is_repeated()) return WriteValue(message, field, -1, depth);
    const int size = message.GetReflection()->FieldSize(message, &field);
    if (field.is_map()) return WriteMap(message, field, size, depth);
    out_ += '[';
    for (int i = 0; i < size; ++i) {
      if (i > 0) out_ += ',';
      WriteValue(message, field, i, depth);
    }
    out_ += ']';
  }

  void WriteMap(const Message& message, const FieldDescriptor& field, int size, int depth) {
    out_ += '{';
    for (int i = 0; i < size; ++i) {
      if (i > 0) out_ += ',';
      const Message& entry = message.GetReflection()->GetRepeatedMessage(message, &field, i);
      const FieldDescriptor& key = *field.message_type()->map_key();
      const bool text = key.cpp_type() == FieldDescriptor::CPPTYPE_STRING;
      if (!text) out_ += '"';
      WriteValue(entry, key, -1, depth);
      out_ += text ? ":" : "\":";
      WriteValue(entry, *field.message_type()->map_value(), -1, depth);
    }
    out_ += '}';
  }

  // Element `index` of a repeated field, else the only value (index -1).
  void WriteValue(const Message& message, const FieldDescriptor& field, int index, int depth) {
    const Reflection& r = *message.GetReflection();
    const bool repeated = index >= 0;
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return AppendNumber(
            repeated ? r.GetRepeatedInt32(message, &field, index) : r.GetInt32(message, &field),
            out_);
      case FieldDescriptor::CPPTYPE_INT64:
        return AppendNumber(
            repeated ? r.GetRepeatedInt64(message, &field, index) : r.GetInt64(message, &field),
            out_);
      case FieldDescriptor::CPPTYPE_UINT32:
        return AppendNumber(
            repeated ? r.GetRepeatedUInt32(message, &field, index) : r.GetUInt32(message, &field),
            out_);
      case FieldDescriptor::CPPTYPE_UINT64:
        return AppendNumber(
            repeated ? r.GetRepeatedUInt64(message, &field, index) : r.GetUInt64(message, &field),
            out_);
      case FieldDescriptor::CPPTYPE_DOUBLE:
        return AppendDouble(
            repeated ? r.GetRepeatedDouble(message, &field, index) : r.GetDouble(message, &field),
            out_);
      case FieldDescriptor::CPPTYPE_FLOAT:
        return AppendDouble(
            repeated ? r.GetRepeatedFloat(message, &field, index) : r.GetFloat(message, &field),
            out_);
      case FieldDescriptor::CPPTYPE_BOOL:
        out_ += (repeated ? r.GetRepeatedBool(message, &field, index) : r.GetBool(message, &field))
                    ? "true"
                    : "false";
        return;
      case FieldDescriptor::CPPTYPE_ENUM:
        return AppendJsonString(EnumShortName(repeated ? *r.GetRepeatedEnum(message, &field, index)
                                                       : *r.GetEnum(message, &field)),
                                out_);
      case FieldDescriptor::CPPTYPE_STRING:
        return WriteText(message, field, index);
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Write(
            repeated ? r.GetRepeatedMessage(message, &field, index) : r.GetMessage(message, &field),
            depth + 1);
    }
  }

  void WriteText(const Message& message, const FieldDescriptor& field, int index) {
    std::string scratch;
    const Reflection& r = *message.GetReflection();
    const std::string& text = index >= 0
                                  ? r.GetRepeatedStringReference(message, &field, index, &scratch)
                                  : r.GetStringReference(message, &field, &scratch);
    const bool bytes = field.type() == FieldDescriptor::TYPE_BYTES;
    AppendJsonString(bytes ? absl::Base64Escape(text) : text, out_);
  }

  const ElementFields& only_;
  std::string& out_;
  bool in_list_ = false;
};

}  // namespace

void AppendJsonString(std::string_view text, std::string& out) {
  // Rare: what we store is UTF-8 already.
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f &&
           c != '"' && c != '\\';
  });
  if (!plain) {
    using Json = nlohmann::json;
    out += Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

std::string JsonText(const Message& message, const ElementFields& only) {
  std::string out;
  Writer(only, out).Write(message, 0);
  return out;
}

}  // namespace trainyard
