// Generates openapi.json from the route table and the proto files.
#ifndef TRAINYARD_CONTROLLER_HTTP_OPENAPI_H_
#define TRAINYARD_CONTROLLER_HTTP_OPENAPI_H_

#include <string>

#include "absl/status/statusor.h"

namespace trainyard::controller::http {

// Returns the document as text. `descriptor_set` is a serialized FileDescriptorSet with source
// info, because comments of the proto files become descriptions. INVALID_ARGUMENT: the bytes are
// not a descriptor set, or a message that a route names is missing.
absl::StatusOr<std::string> RenderOpenApi(const std::string& descriptor_set);

}  // namespace trainyard::controller::http

#endif  // TRAINYARD_CONTROLLER_HTTP_OPENAPI_H_
