// A sink of MessageWalk (message_walk.h). It builds a JSON tree of the fields that are set.
#ifndef TRAINYARD_PROTO_JSON_TREE_SINK_H_
#define TRAINYARD_PROTO_JSON_TREE_SINK_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "nlohmann/json.hpp"

namespace trainyard {

class TreeSink {
 public:
  bool Chooses(const google::protobuf::Message& message,
               const google::protobuf::FieldDescriptor& field, int depth) const;

  void BeginObject() { open_.push_back(&Put(nlohmann::json::object())); }
  void BeginArray() { open_.push_back(&Put(nlohmann::json::array())); }
  void EndObject() { open_.pop_back(); }
  void EndArray() { open_.pop_back(); }
  void Key(const std::string& key) { key_ = key; }
  void Integer(int64_t value) { Put(value); }
  void Unsigned(uint64_t value) { Put(value); }
  // JSON has no NaN or infinity. They are written as text, so that they are not lost.
  void Real(double value);
  void Boolean(bool value) { Put(value); }
  void Text(const std::string& text) { Put(text); }

  // Adds a value of any kind. In an object it gets the last key; in an array it is appended.
  nlohmann::json& Put(nlohmann::json value);

  nlohmann::json Take() { return std::move(root_); }

 private:
  nlohmann::json root_;
  // The objects and arrays that are not finished yet. The pointers stay valid: the parent of an
  // open value gets no other element until that value is finished.
  std::vector<nlohmann::json*> open_;
  std::string key_;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JSON_TREE_SINK_H_
