// Writes messages as JSON text for the REST API. No intermediate tree is built, because series
// contain many numbers. Names and enums have the same form as in MessageToJson (message_json.h).
#ifndef TRAINYARD_PROTO_JSON_JSON_TEXT_H_
#define TRAINYARD_PROTO_JSON_JSON_TEXT_H_

#include <set>
#include <string>
#include <string_view>

#include "google/protobuf/message.h"

namespace trainyard {

// Selects the fields that are written for each element of `list`, a list in the outermost message.
// If no fields are selected, all are written.
struct ElementFields {
  std::string list;
  std::set<std::string, std::less<>> fields;
};

// Returns the JSON of the message. An unset field without presence is written as 0, "", [] or {}.
// Therefore only messages, `optional` fields and members of a oneof can be absent.
std::string JsonText(const google::protobuf::Message& message, const ElementFields& only = {});

// Appends `text` as a quoted JSON string. Invalid UTF-8 becomes U+FFFD.
void AppendJsonString(std::string_view text, std::string& out);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JSON_JSON_TEXT_H_
