// Durations as text for people.
#ifndef TRAINYARD_PROTO_TEXT_DURATION_TEXT_H_
#define TRAINYARD_PROTO_TEXT_DURATION_TEXT_H_

#include <cstdint>
#include <string>

namespace trainyard {

// For sentences, one unit: "850 ms", "3.2 s", "45 s", "5 min", "24 h".
std::string DurationText(int64_t ms);

// For tables and progress lines, the two largest units: "45s", "3m12s", "2h05m", "3d04h". Negative
// counts as 0.
std::string ShortDuration(int64_t ms);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_DURATION_TEXT_H_
