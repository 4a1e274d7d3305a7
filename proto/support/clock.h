// Clocks of the daemons. Pure code does not read clocks; its callers pass Timestamps.
#ifndef TRAINYARD_PROTO_SUPPORT_CLOCK_H_
#define TRAINYARD_PROTO_SUPPORT_CLOCK_H_

#include <cstdint>
#include <string>

namespace trainyard {

// Unix time in milliseconds.
using Timestamp = int64_t;

// Readings of the machine's wall clock and steady clock at one moment.
struct ClockReading {
  Timestamp wall_ms = 0;
  // Milliseconds since the machine's boot, including suspended time. This clock cannot be set.
  int64_t steady_ms = 0;
};

// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp Now() const = 0;
  // The default returns the same time for both clocks. Equal times are correct for a clock that no
  // other program can set, such as a test's clock.
  virtual ClockReading Read() const {
    const Timestamp now = Now();
    return {now, now};
  }
  // The id of the boot from which steady_ms counts; empty if the clock does not distinguish boots.
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
