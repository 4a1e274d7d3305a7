// A sink of MessageWalk (message_walk.h) that builds a JSON tree of the fields that are set.
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
  // NaN and infinity, which JSON lacks, are written as text.
  void Real(double value);
  void Boolean(bool value) { Put(value); }
  void Text(const std::string& text) { Put(text); }

  // Adds a value to the innermost open object or array. An object stores the value under the last
  // key; an array appends it.
  nlohmann::json& Put(nlohmann::json value);

  nlohmann::json Take() { return std::move(root_); }

 private:
  nlohmann::json root_;
  // The unfinished objects and arrays, outermost first. The pointers stay valid, because a parent
  // gets no other element until its open value is finished.
  std::vector<nlohmann::json*> open_;
  std::string key_;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JSON_TREE_SINK_H_
