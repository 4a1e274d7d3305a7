// The origins of a job's values, packed into one string. A job has twenty or more origins. The
// origins are copied with every event and snapshot of the job, but read only when a client requests
// the whole job.
#ifndef TRAINYARD_CONTROLLER_CORE_STATE_JOBS_ORIGIN_LIST_H_
#define TRAINYARD_CONTROLLER_CORE_STATE_JOBS_ORIGIN_LIST_H_

#include <string>

#include "google/protobuf/repeated_ptr_field.h"
#include "proto/jobspec/fields/origins.h"
#include "trainyard/v1/job.pb.h"

namespace trainyard::controller {

// Returns a serialized v1::OriginList, sorted by key.
std::string PackOrigins(const Origins& origins);

// Packs the origins of older logs and snapshots. Such logs also contain origins of defaults. These
// are omitted here, because a value without an origin is a default.
std::string PackOrigins(google::protobuf::RepeatedPtrField<v1::Origin> origins);

// Returns the origins by key.
Origins OriginsIn(const std::string& packed);

void UnpackOrigins(const std::string& packed, v1::Job& job);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_STATE_JOBS_ORIGIN_LIST_H_
