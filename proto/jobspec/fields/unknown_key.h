// The error text for a key that job files do not have.
#ifndef TRAINYARD_PROTO_JOBSPEC_FIELDS_UNKNOWN_KEY_H_
#define TRAINYARD_PROTO_JOBSPEC_FIELDS_UNKNOWN_KEY_H_

#include <string>

#include "google/protobuf/descriptor.h"

namespace trainyard {

// `prefix` is the section with a dot, such as "train."; empty at the top level. `section` describes
// its keys. The text suggests the nearest known key.
std::string UnknownKey(const std::string& key, const std::string& prefix,
                       const google::protobuf::Descriptor& section);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_FIELDS_UNKNOWN_KEY_H_
