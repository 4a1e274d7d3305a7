#include "controller/core/event_log/event_job.h"

#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"

namespace trainyard::controller {

int64_t JobIdOf(const v1::Event& event) {
  using google::protobuf::FieldDescriptor;
  const auto* reflection = v1::Event::GetReflection();
  const auto* kind = v1::Event::descriptor()->FindOneofByName("kind");
  const FieldDescriptor* field = reflection->GetOneofFieldDescriptor(event, kind);
  if (field == nullptr) return 0;
  const auto& fact = reflection->GetMessage(event, field);
  const FieldDescriptor* job_id = fact.GetDescriptor()->FindFieldByName("job_id");
  if (job_id == nullptr || job_id->cpp_type() != FieldDescriptor::CPPTYPE_INT64) return 0;
  return fact.GetReflection()->GetInt64(fact, job_id);
}

}  // namespace trainyard::controller
