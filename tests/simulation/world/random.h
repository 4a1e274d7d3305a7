// The only source of randomness in a simulation.
// A seed gives the same history on every machine.
#ifndef TRAINYARD_TESTS_SIMULATION_WORLD_RANDOM_H_
#define TRAINYARD_TESTS_SIMULATION_WORLD_RANDOM_H_

#include <cstdint>

namespace trainyard::simulation {

// SplitMix64 (Steele, Lea, Flood 2014). The distributions of <random> cannot be used, because they
// differ between libraries.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  // In [low, high].
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Next() % static_cast<uint64_t>(high - low + 1));
  }

  bool Chance(double probability) {
    return static_cast<double>(Next() >> 11) * 0x1.0p-53 < probability;
  }

  // Returns true with the probability per step of `step_ms` that corresponds to `chance` per
  // second. Draws no number if `chance` is 0.
  bool EachSecond(double chance, int64_t step_ms) {
    return chance > 0 && Chance(chance * static_cast<double>(step_ms) / 1000);
  }

 private:
  uint64_t state_;
};

}  // namespace trainyard::simulation

#endif  // TRAINYARD_TESTS_SIMULATION_WORLD_RANDOM_H_
