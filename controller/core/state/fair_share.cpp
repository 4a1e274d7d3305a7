#include "controller/core/state/fair_share.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace trainyard::controller {
namespace {

__extension__ using Wide = __int128;
__extension__ using UnsignedWide = unsigned __int128;

constexpr int kOneBits = 62;
constexpr int64_t kOne = int64_t{1} << kOneBits;
// A half-life is divided into 2^30 parts of 0.56 ms.
constexpr int kFractionBits = 30;

// kUsageHalfLifeMs / ln 2: the integral of the decay over all time, in milliseconds.
constexpr int64_t kLifeMs = 872'541'961;

constexpr uint64_t RootOf(UnsignedWide square) {
  UnsignedWide low = 0, high = UnsignedWide{1} << 63;
  while (low + 1 < high) {
    const UnsignedWide middle = (low + high) / 2;
    (middle * middle <= square ? low : high) = middle;
  }
  return static_cast<uint64_t>(low);
}

// Item i is kOne * 2^(-1 / 2^(i + 1)): each item is the square root of the one before.
constexpr std::array<int64_t, kFractionBits> Roots() {
  std::array<int64_t, kFractionBits> roots{};
  UnsignedWide before = UnsignedWide{1} << (kOneBits - 1);
  for (int64_t& root : roots) {
    before = RootOf(before << kOneBits);
    root = static_cast<int64_t>(before);
  }
  return roots;
}

constexpr std::array<int64_t, kFractionBits> kRoots = Roots();

int64_t Scaled(int64_t value, int64_t factor) {
  return static_cast<int64_t>((Wide{value} * factor) >> kOneBits);
}

int64_t Clamped(Wide value) {
  return static_cast<int64_t>(std::min<Wide>(value, std::numeric_limits<int64_t>::max()));
}

}  // namespace

int64_t DecayFactor(int64_t elapsed_ms) {
  if (elapsed_ms <= 0) return kOne;
  const int64_t halvings = elapsed_ms / kUsageHalfLifeMs;
  if (halvings >= kOneBits) return 0;
  auto fraction = static_cast<uint64_t>((Wide{elapsed_ms % kUsageHalfLifeMs} << kFractionBits) /
                                        kUsageHalfLifeMs);
  int64_t factor = kOne;
  for (int i = 0; i < kFractionBits && fraction != 0; ++i) {
    const uint64_t bit = uint64_t{1} << (kFractionBits - 1 - i);
    if ((fraction & bit) == 0) continue;
    factor = Scaled(factor, kRoots.at(static_cast<size_t>(i)));
    fraction &= ~bit;
  }
  return factor >> halvings;
}

int64_t UsageAt(const Usage& usage, Timestamp now) {
  if (now <= usage.at) return usage.slot_ms;
  const int64_t factor = DecayFactor(now - usage.at);
  const Wide added = (Wide{usage.held} * kLifeMs * (kOne - factor)) >> kOneBits;
  return Clamped(Wide{Scaled(usage.slot_ms, factor)} + added);
}

void DropUsages(Timestamp now, std::size_t kept, UsageByKey& usages) {
  std::vector<std::pair<int64_t, UsageByKey::iterator>> idle;
  for (auto usage = usages.begin(); usage != usages.end(); ++usage) {
    if (usage->second.held == 0) idle.emplace_back(UsageAt(usage->second, now), usage);
  }
  std::ranges::stable_sort(idle, {}, [](const auto& item) { return item.first; });
  for (const auto& [slot_ms, usage] : idle) {
    if (usages.size() <= kept) return;
    usages.erase(usage);
  }
}

void HoldFrom(Timestamp now, int64_t held, Usage& usage) {
  usage.slot_ms = UsageAt(usage, now);
  usage.at = std::max(usage.at, now);
  usage.held = held;
}

}  // namespace trainyard::controller
