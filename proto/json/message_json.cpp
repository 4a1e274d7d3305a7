#include "proto/json/message_json.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "proto/json/message_walk.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

// JSON has no NaN or infinity; they become text so that they are not lost.
nlohmann::json NumberToJson(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

// Builds a tree of the set fields.
class TreeSink {
 public:
  bool Chooses(const Message& message, const FieldDescriptor& field, int) {
    const Reflection& reflection = *message.GetReflection();
    return field.is_repeated() ? reflection.FieldSize(message, &field) > 0
                               : reflection.HasField(message, &field);
  }

  void BeginObject() { open_.push_back(&Put(nlohmann::json::object())); }
  void BeginArray() { open_.push_back(&Put(nlohmann::json::array())); }
  void EndObject() { open_.pop_back(); }
  void EndArray() { open_.pop_back(); }
  void Key(const std::string& key) { key_ = key; }
  void Integer(int64_t value) { Put(value); }
  void Unsigned(uint64_t value) { Put(value); }
  void Real(double value) { Put(NumberToJson(value)); }
  void Boolean(bool value) { Put(value); }
  void Text(const std::string& text) { Put(text); }

  nlohmann::json Take() { return std::move(root_); }

 private:
  nlohmann::json& Put(nlohmann::json value) {
    if (open_.empty()) return root_ = std::move(value);
    nlohmann::json& parent = *open_.back();
    if (!parent.is_array()) return parent[key_] = std::move(value);
    parent.push_back(std::move(value));
    return parent.back();
  }

  nlohmann::json root_;
  // Objects and arrays that are still open. None of them moves before its end, because its parent
  // gets no other element until then.
  std::vector<nlohmann::json*> open_;
  std::string key_;
};

}  // namespace

nlohmann::json MessageToJson(const Message& message) {
  TreeSink sink;
  MessageWalk<TreeSink>(sink).Write(message);
  return sink.Take();
}

}  // namespace trainyard
