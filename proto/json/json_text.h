// Messages as JSON text for the REST API, written without a tree in between: series have many
// numbers. Names and enums are those of MessageToJson (message_json.h).
#ifndef TRAINYARD_PROTO_JSON_JSON_TEXT_H_
#define TRAINYARD_PROTO_JSON_JSON_TEXT_H_

#include <set>
#include <string>
#include <string_view>

#include "google/protobuf/message.h"

namespace trainyard {

// Limits elements of the list `list` of the outermost message to these fields; none means all.
struct ElementFields {
  std::string list;
  std::set<std::string, std::less<>> fields;
};

// Writes every set field, and every unset field without presence as 0, "", [] or {}. So only
// messages, `optional` fields and kinds of a oneof can be absent.
std::string JsonText(const google::protobuf::Message& message, const ElementFields& only = {});

// Appends `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
void AppendJsonString(std::string_view text, std::string& out);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JSON_JSON_TEXT_H_
