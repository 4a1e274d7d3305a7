// Formats durations for users.
#ifndef TRAINYARD_PROTO_TEXT_DURATION_TEXT_H_
#define TRAINYARD_PROTO_TEXT_DURATION_TEXT_H_

#include <cstdint>
#include <string>

namespace trainyard {

// Formats a duration in one unit, for sentences: "850 ms", "3.2 s", "45 s", "5 min", "24 h".
std::string DurationText(int64_t ms);

// Formats a duration in its two largest units, for tables and progress lines: "45s", "3m12s",
// "2h05m", "3d04h". A negative duration counts as 0.
std::string ShortDuration(int64_t ms);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_DURATION_TEXT_H_
