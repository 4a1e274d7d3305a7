#include "controller/core/event_log/event_node.h"

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace trainyard::controller {

std::string ChangedNode(const v1::Event& event) {
  using google::protobuf::FieldDescriptor;
  if (event.has_node_joined()) return event.node_joined().node().id();
  // FactsReceived only counts the node's facts. Such an event does not change the node's state,
  // health or slots.
  if (event.has_facts_received()) return "";
  const auto* reflection = v1::Event::GetReflection();
  const auto* kind = v1::Event::descriptor()->FindOneofByName("kind");
  const FieldDescriptor* field = reflection->GetOneofFieldDescriptor(event, kind);
  if (field == nullptr) return "";
  const auto& fact = reflection->GetMessage(event, field);
  const FieldDescriptor* node_id = fact.GetDescriptor()->FindFieldByName("node_id");
  return node_id == nullptr ? "" : fact.GetReflection()->GetString(fact, node_id);
}

}  // namespace trainyard::controller
