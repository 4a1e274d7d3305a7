#include "controller/core/state/jobs/origin_list.h"

#include <algorithm>
#include <utility>

#include "google/protobuf/arena.h"
#include "trainyard/v1/event.pb.h"

namespace trainyard::controller {

std::string PackOrigins(const Origins& origins) {
  // The arena allocates the roughly twenty messages of a submission in one block.
  google::protobuf::Arena arena;
  auto& list = *google::protobuf::Arena::CreateMessage<v1::OriginList>(&arena);
  for (const auto& [key, source] : origins) {
    v1::Origin& origin = *list.add_origins();
    origin.set_key(key);
    origin.set_source(source);
  }
  return list.SerializeAsString();
}

std::string PackOrigins(google::protobuf::RepeatedPtrField<v1::Origin> origins) {
  const auto is_default = [](const v1::Origin& origin) {
    return origin.source() == kDefaultOrigin;
  };
  origins.erase(std::remove_if(origins.begin(), origins.end(), is_default), origins.end());
  v1::OriginList list;
  *list.mutable_origins() = std::move(origins);
  return list.SerializeAsString();
}

Origins OriginsIn(const std::string& packed) {
  v1::Job job;
  UnpackOrigins(packed, job);
  Origins origins;
  for (const v1::Origin& origin : job.origins()) origins[origin.key()] = origin.source();
  return origins;
}

void UnpackOrigins(const std::string& packed, v1::Job& job) {
  v1::OriginList list;
  // Parsing cannot fail: PackOrigins wrote `packed`, and the checksum of its event or snapshot
  // protects it.
  list.ParseFromString(packed);
  *job.mutable_origins() = std::move(*list.mutable_origins());
}

}  // namespace trainyard::controller
