#include "proto/json/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "nlohmann/json.hpp"
#include "proto/json/message_walk.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

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

// Writes JSON text while MessageWalk visits a message.
class TextSink {
 public:
  TextSink(const ElementFields& only, std::string& out) : only_(only), out_(out) {}

  bool Chooses(const Message& message, const FieldDescriptor& field, int depth) {
    if (depth == 0) in_list_ = field.name() == only_.list;
    const bool filtered = depth == 1 && in_list_ && !only_.fields.empty();
    if (filtered && !only_.fields.contains(field.name())) return false;
    return !field.has_presence() || message.GetReflection()->HasField(message, &field);
  }

  void BeginObject() { Begin('{'); }
  void BeginArray() { Begin('['); }
  void EndObject() { End('}'); }
  void EndArray() { End(']'); }
  void Key(const std::string& key) {
    Separate();
    AppendJsonString(key, out_);
    out_ += ':';
    follows_value_ = false;
  }

  void Integer(int64_t value) { Number(value); }
  void Unsigned(uint64_t value) { Number(value); }
  void Real(double value) {
    Separate();
    AppendDouble(value, out_);
  }
  void Boolean(bool value) {
    Separate();
    out_ += value ? "true" : "false";
  }
  void Text(const std::string& text) {
    Separate();
    AppendJsonString(text, out_);
  }

 private:
  // Writes a comma if another value precedes.
  void Separate() {
    if (std::exchange(follows_value_, true)) out_ += ',';
  }
  void Begin(char bracket) {
    Separate();
    out_ += bracket;
    follows_value_ = false;
  }
  void End(char bracket) {
    out_ += bracket;
    follows_value_ = true;
  }
  template <typename Whole>
  void Number(Whole value) {
    Separate();
    AppendNumber(value, out_);
  }

  const ElementFields& only_;
  std::string& out_;
  // True while inside the list `only_.list` of the outermost message.
  bool in_list_ = false;
  bool follows_value_ = false;
};

}  // namespace

void AppendJsonString(std::string_view text, std::string& out) {
  // The fast path for plain ASCII. Invalid UTF-8 is rare, because stored text is UTF-8.
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
  TextSink sink(only, out);
  MessageWalk<TextSink>(sink).Write(message);
  return out;
}

}  // namespace trainyard
