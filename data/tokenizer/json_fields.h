// Fields of JSON objects with defaults, for files whose fields may be missing or null.
#ifndef TRAINYARD_DATA_TOKENIZER_JSON_FIELDS_H_
#define TRAINYARD_DATA_TOKENIZER_JSON_FIELDS_H_

#include <nlohmann/json.hpp>
#include <string>

namespace trainyard::data {

// Returns null for a missing field and for a value that is no object.
inline const nlohmann::json& FieldOf(const nlohmann::json& object, const char* name) {
  static const nlohmann::json null;
  if (!object.is_object()) return null;
  const auto found = object.find(name);
  return found == object.end() ? null : *found;
}

// Returns "" for a field that is no string.
inline std::string TextField(const nlohmann::json& object, const char* name) {
  const nlohmann::json& field = FieldOf(object, name);
  return field.is_string() ? field.get<std::string>() : "";
}

inline bool BoolField(const nlohmann::json& object, const char* name, bool otherwise) {
  const nlohmann::json& field = FieldOf(object, name);
  return field.is_boolean() ? field.get<bool>() : otherwise;
}

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_TOKENIZER_JSON_FIELDS_H_
