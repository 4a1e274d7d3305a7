#include "proto/json/message_json.h"

#include "proto/json/message_walk.h"
#include "proto/json/tree_sink.h"

namespace trainyard {

nlohmann::json MessageToJson(const google::protobuf::Message& message) {
  TreeSink sink;
  MessageWalk<TreeSink>(sink).Write(message);
  return sink.Take();
}

}  // namespace trainyard
