// Messages as JSON text for the REST API. Written without an intermediate tree, because series
// contain many numbers. Names and enums as in MessageToJson (message_json.h).
#ifndef TRAINYARD_PROTO_JSON_JSON_TEXT_H_
#define TRAINYARD_PROTO_JSON_JSON_TEXT_H_

#include <set>
#include <string>
#include <string_view>

#include "google/protobuf/message.h"

namespace trainyard {

// Limits the elements of the list `list` in the outermost message to these fields; empty: all
// fields.
struct ElementFields {
  std::string list;
  std::set<std::string, std::less<>> fields;
};

// Writes every set field, and every unset field without presence as 0, "", [] or {}. So only
// messages, `optional` fields and members of a oneof can be absent.
std::string JsonText(const google::protobuf::Message& message, const ElementFields& only = {});

// Appends `text` as a quoted JSON string. Invalid UTF-8 becomes U+FFFD.
void AppendJsonString(std::string_view text, std::string& out);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JSON_JSON_TEXT_H_
