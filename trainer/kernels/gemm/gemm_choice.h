// Predicts which of several ways to compute a matrix product is the fastest. Pure; needs no CUDA.
#ifndef TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_CHOICE_H_
#define TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace trainyard::trainer::kernels {

// Computes [rows, columns] as sums of `depth` products.
struct GemmSize {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  bool has_fp32_output = false;  // False: 16 bits.
};

// The division of a product among blocks of threads. Each block computes a tile of the result. With
// `splits` above 1, several blocks compute a tile, each with a part of the depth.
struct GemmTiling {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t splits = 1;
};

// The time of a tile divided by its number of elements, relative to the fastest tile.
struct TileCost {
  int64_t rows = 0;
  int64_t columns = 0;
  double cost = 0;       // If the output has 16 bits.
  double fp32_cost = 0;  // If the output is fp32.
};

// From 209 products of decoder models with random sizes on an H200, in bf16, with all algorithms
// that cuBLASLt 13.1 proposed for each. README.md describes the measurement. A tile that is not
// listed was measured fewer than three times.
inline constexpr TileCost kTileCosts[] = {
    {320, 128, 1.072, 1.011}, {192, 192, 1.091, 1.002}, {128, 256, 1.079, 1.014},
    {256, 128, 1.082, 1.004}, {128, 192, 1.111, 1.043}, {192, 128, 1.095, 1.054},
    {256, 96, 1.118, 1.071},  {176, 128, 1.055, 1.110}, {168, 128, 1.040, 1.093},
    {128, 160, 1.040, 1.001}, {320, 64, 1.028, 1.014},  {144, 128, 1.079, 1.134},
    {128, 128, 1.068, 1.025}, {112, 128, 1.052, 1.106}, {64, 256, 1.172, 1.089},
    {256, 64, 1.292, 1.130},  {96, 128, 1.226, 1.121},  {64, 384, 1.297, 1.165},
    {384, 64, 1.311, 1.164},  {64, 192, 1.248, 1.203},  {192, 64, 1.428, 1.230},
    {64, 128, 1.163, 1.174},  {128, 64, 1.182, 1.184},  {96, 64, 1.149, 1.093},
    {448, 64, 1.320, 1.598},  {64, 512, 1.577, 1.517},  {512, 64, 1.659, 1.538}};

// The factor by which a product takes longer if its depth is split. The parts of a tile are added.
inline constexpr double kSplitCost = 1.13;

// Returns the predicted time in arbitrary units; nullopt if the cost of the tile is not known. A
// multiprocessor computes one tile at a time. All tiles of a product take equally long, so the time
// is a whole number of rounds.
inline std::optional<double> PredictedTime(const GemmSize& size, const GemmTiling& tiling,
                                           int64_t multiprocessors) {
  const auto parts = [](int64_t whole, int64_t part) { return (whole + part - 1) / part; };
  for (const TileCost& tile : kTileCosts) {
    if (tile.rows != tiling.rows || tile.columns != tiling.columns) continue;
    const int64_t tiles =
        parts(size.rows, tile.rows) * parts(size.columns, tile.columns) * tiling.splits;
    const auto rounds = static_cast<double>(parts(tiles, multiprocessors));
    const auto work =
        static_cast<double>(tile.rows * tile.columns * parts(size.depth, tiling.splits));
    const double cost = size.has_fp32_output ? tile.fp32_cost : tile.cost;
    return rounds * work * cost * (tiling.splits > 1 ? kSplitCost : 1.0);
  }
  return std::nullopt;
}

// Returns the index of the tiling with the shortest predicted time, and the first of several equal
// ones. Ignores tilings whose time is not known. Returns 0 if no time is known.
inline size_t FastestTiling(const GemmSize& size, const std::vector<GemmTiling>& tilings,
                            int64_t multiprocessors) {
  size_t fastest = 0;
  std::optional<double> shortest;
  for (size_t i = 0; i < tilings.size(); ++i) {
    const std::optional<double> time = PredictedTime(size, tilings[i], multiprocessors);
    if (!time || (shortest && *time >= *shortest)) continue;
    shortest = time;
    fastest = i;
  }
  return fastest;
}

}  // namespace trainyard::trainer::kernels

#endif  // TRAINYARD_TRAINER_KERNELS_GEMM_GEMM_CHOICE_H_
