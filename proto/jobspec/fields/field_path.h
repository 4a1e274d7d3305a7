// Finds settings by their dotted keys.
#ifndef TRAINYARD_PROTO_JOBSPEC_FIELDS_FIELD_PATH_H_
#define TRAINYARD_PROTO_JOBSPEC_FIELDS_FIELD_PATH_H_

#include <google/protobuf/message.h>

#include <string>

namespace trainyard {

// Returns the field of a dotted key, such as "train.lr", and sets `holder` to the message that
// contains it; nullptr if no field has this key. Creates messages on the way.
const google::protobuf::FieldDescriptor* FindField(const std::string& key,
                                                   google::protobuf::Message& root,
                                                   google::protobuf::Message*& holder);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_FIELDS_FIELD_PATH_H_
