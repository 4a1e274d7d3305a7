// The origin of each value in a resolved job file.
#ifndef TRAINYARD_PROTO_JOBSPEC_FIELDS_ORIGINS_H_
#define TRAINYARD_PROTO_JOBSPEC_FIELDS_ORIGINS_H_

#include <map>
#include <string>

namespace trainyard {

// Maps the dotted key of a setting to the origin of its value, such as "job.yaml:7:3", "--set" or
// kDerivedOrigin. A setting without an entry has its default value.
using Origins = std::map<std::string, std::string>;

// The origin of a value that was derived from other values.
inline constexpr char kDerivedOrigin[] = "derived";
// Shown for defaults.
inline constexpr char kDefaultOrigin[] = "default";

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_JOBSPEC_FIELDS_ORIGINS_H_
