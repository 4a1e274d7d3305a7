// The origin of each value in a resolved job file.
#ifndef TRAINYARD_PROTO_JOBSPEC_ORIGINS_H_
#define TRAINYARD_PROTO_JOBSPEC_ORIGINS_H_

#include <map>
#include <string>

namespace trainyard {

// The key is the dotted key of the setting. The value is the origin, such as "job.yaml:7:3",
// "--set" or kDerivedOrigin. A setting without an entry has its default value.
using Origins = std::map<std::string, std::string>;

// The origin of a value that was derived from other values.
inline constexpr char kDerivedOrigin[] = "derived";
// Shown for defaults.
inline constexpr char kDefaultOrigin[] = "default";

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_ORIGINS_H_
