// Time as the daemons see it. Nothing in a pure core reads a clock: it gets Timestamps.
#ifndef TRAINYARD_PROTO_SUPPORT_CLOCK_H_
#define TRAINYARD_PROTO_SUPPORT_CLOCK_H_

#include <cstdint>
#include <string>

namespace trainyard {

// Unix time in milliseconds.
using Timestamp = int64_t;

// Two clocks of a machine at one moment.
struct ClockReading {
  Timestamp wall_ms = 0;
  // Milliseconds since the machine's boot, including time in which it was suspended. Nobody can set
  // this clock.
  int64_t steady_ms = 0;
};

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp Now() const = 0;
  // A clock that only its owner sets is steady itself.
  virtual ClockReading Read() const {
    const Timestamp now = Now();
    return {now, now};
  }
  // Identifies the boot that steady_ms counts from. Empty: there is one only.
  virtual std::string BootId() const { return ""; }
};

// The machine's clocks.
class SystemClock : public Clock {
 public:
  Timestamp Now() const override;
  ClockReading Read() const override;
  std::string BootId() const override;
};

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_CLOCK_H_
