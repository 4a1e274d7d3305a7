// Time in the daemons. Pure cores do not read clocks; they are passed Timestamps.
#ifndef TRAINYARD_PROTO_SUPPORT_CLOCK_H_
#define TRAINYARD_PROTO_SUPPORT_CLOCK_H_

#include <cstdint>
#include <string>

namespace trainyard {

// Unix time in milliseconds.
using Timestamp = int64_t;

// Readings of a machine's two clocks at one moment.
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
  // By default this clock counts as steady, because only its owner sets it.
  virtual ClockReading Read() const {
    const Timestamp now = Now();
    return {now, now};
  }
  // Identifies the boot from which steady_ms counts. Empty if there is only one boot.
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
