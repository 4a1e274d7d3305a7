// Origin of each value of a resolved job file.
#ifndef TRAINYARD_PROTO_JOBSPEC_ORIGINS_H_
#define TRAINYARD_PROTO_JOBSPEC_ORIGINS_H_

#include <map>
#include <string>

namespace trainyard {

// By dotted key: "job.yaml:7:3", "--set", kDerivedOrigin, ... A value without an entry is a
// default.
using Origins = std::map<std::string, std::string>;

// Follows from other values.
inline constexpr char kDerivedOrigin[] = "derived";
// Shown for a value that is a default.
inline constexpr char kDefaultOrigin[] = "default";

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_ORIGINS_H_
