#include "proto/json/tree_sink.h"

#include <cmath>

namespace trainyard {

bool TreeSink::Chooses(const google::protobuf::Message& message,
                       const google::protobuf::FieldDescriptor& field, int) const {
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  return field.is_repeated() ? reflection.FieldSize(message, &field) > 0
                             : reflection.HasField(message, &field);
}

void TreeSink::Real(double value) {
  if (std::isnan(value)) {
    Put("NaN");
  } else if (std::isinf(value)) {
    Put(value > 0 ? "Infinity" : "-Infinity");
  } else {
    Put(value);
  }
}

nlohmann::json& TreeSink::Put(nlohmann::json value) {
  if (open_.empty()) return root_ = std::move(value);
  nlohmann::json& parent = *open_.back();
  if (!parent.is_array()) return parent[key_] = std::move(value);
  parent.push_back(std::move(value));
  return parent.back();
}

}  // namespace trainyard
