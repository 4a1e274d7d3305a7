// Time as the daemons see it. Nothing in a pure core reads a clock: it gets Timestamps.
#ifndef TRAINYARD_PROTO_SUPPORT_CLOCK_H_
#define TRAINYARD_PROTO_SUPPORT_CLOCK_H_

#include <cstdint>

namespace trainyard {

// Unix time in milliseconds.
using Timestamp = int64_t;

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp Now() const = 0;
};

// The machine's wall clock.
class SystemClock : public Clock {
 public:
  Timestamp Now() const override;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_CLOCK_H_
