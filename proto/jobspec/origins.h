// Origin of each value of a resolved job file.
#ifndef TRAINYARD_PROTO_JOBSPEC_ORIGINS_H_
#define TRAINYARD_PROTO_JOBSPEC_ORIGINS_H_

#include <map>
#include <string>

namespace trainyard {

// By dotted key: "job.yaml:7:3", "--set", kDerivedOrigin, ... Values without an entry are defaults.
using Origins = std::map<std::string, std::string>;

// Derived from other values.
inline constexpr char kDerivedOrigin[] = "derived";
// Shown for defaults.
inline constexpr char kDefaultOrigin[] = "default";

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_ORIGINS_H_
