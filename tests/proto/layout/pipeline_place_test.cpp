#include "proto/layout/pipeline_place.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/layout/layout_parts.h"

namespace trainyard {
namespace {

using Counts = std::vector<int64_t>;

// Returns the number of layers of each part, in the order of the model.
Counts LayersOfParts(int64_t num_layers, int64_t stages, int64_t chunks, double head_layers) {
  Counts counts;
  int64_t next = 0;
  for (int64_t part = 0; part < stages * chunks; ++part) {
    const PipelinePlace place{part % stages, stages, chunks, head_layers};
    const IndexRange layers = place.Layers(num_layers, part / stages);
    EXPECT_EQ(layers.first, next);
    next = layers.end();
    counts.push_back(layers.length);
  }
  EXPECT_EQ(next, num_layers);
  return counts;
}

TEST(PipelinePlaceTest, ChunksOfStagesTakeTurns) {
  const PipelinePlace second{.stage = 1, .stages = 4, .chunks = 2};
  EXPECT_EQ(second.Layers(16, 0), (IndexRange{2, 2}));
  EXPECT_EQ(second.Layers(16, 1), (IndexRange{10, 2}));
  EXPECT_FALSE(second.HasEmbedding(0));
  EXPECT_TRUE((PipelinePlace{0, 4, 2}.HasEmbedding(0)));
  EXPECT_FALSE((PipelinePlace{0, 4, 2}.HasEmbedding(1)));
  EXPECT_TRUE((PipelinePlace{3, 4, 2}.HasHead(1)));
  EXPECT_FALSE((PipelinePlace{3, 4, 2}.HasHead(0)));
}

// The example is LLaMA 3.1 405B, whose 126 layers are split into 16 stages.
TEST(PipelinePlaceTest, TheStageWithTheHeadHasNotMoreLayers) {
  EXPECT_EQ((PipelinePlace{0, 16, 1}.Layers(126, 0).length), 8);
  EXPECT_EQ((PipelinePlace{15, 16, 1}.Layers(126, 0).length), 7);
}

TEST(PipelinePlaceTest, TheHeadCountsAsLayers) {
  EXPECT_EQ(LayersOfParts(18, 2, 1, 4.3), (Counts{11, 7}));
  EXPECT_EQ(LayersOfParts(18, 2, 1, 0), (Counts{9, 9}));
  EXPECT_EQ(LayersOfParts(32, 4, 1, 2.0), (Counts{9, 8, 8, 7}));
  EXPECT_EQ(LayersOfParts(18, 2, 3, 4.3), (Counts{4, 3, 3, 3, 3, 2}));
}

TEST(PipelinePlaceTest, EveryPartHasALayer) {
  EXPECT_EQ(LayersOfParts(4, 4, 1, 50), (Counts{1, 1, 1, 1}));
  EXPECT_EQ(LayersOfParts(9, 4, 1, 50), (Counts{3, 3, 2, 1}));
  EXPECT_EQ(LayersOfParts(7, 1, 1, 50), (Counts{7}));
}

// Returns the number of layers of each part if the last part has `last` layers.
Counts WithLast(int64_t layers, int64_t parts, int64_t last) {
  Counts counts;
  for (int64_t part = 0; part + 1 < parts; ++part) {
    counts.push_back(PartOf(layers - last, parts - 1, part).length);
  }
  counts.push_back(last);
  return counts;
}

double SlowestStage(const Counts& counts, int64_t stages, double head) {
  std::vector<double> work(stages, 0);
  for (size_t part = 0; part < counts.size(); ++part) {
    work[part % stages] += static_cast<double>(counts[part]);
  }
  work.back() += head;
  return *std::max_element(work.begin(), work.end());
}

// Checks that no other number of layers in the last part makes the slowest stage faster. Among
// equally good numbers, the largest must be chosen, because it is the nearest to an even split.
void ExpectBestSplit(int64_t layers, int64_t stages, int64_t chunks, double head) {
  const int64_t parts = stages * chunks;
  if (parts == 1) return;  // The only part has all layers.
  const Counts chosen = LayersOfParts(layers, stages, chunks, head);
  const double slowest = SlowestStage(chosen, stages, head);
  for (int64_t last = 1; last <= layers / parts; ++last) {
    const double other = SlowestStage(WithLast(layers, parts, last), stages, head);
    if (last > chosen.back()) {
      EXPECT_LT(slowest, other) << layers << " on " << stages << " x " << chunks;
    } else {
      EXPECT_LE(slowest, other) << layers << " on " << stages << " x " << chunks;
    }
  }
}

TEST(PipelinePlaceTest, NoSplitOfItsKindIsBetter) {
  for (const int64_t stages : {1, 2, 3, 4, 8}) {
    for (const int64_t chunks : {1, 2, 3}) {
      for (const double head : {0.0, 0.3, 1.0, 2.4, 7.0}) {
        for (int64_t layers = stages * chunks; layers < 60; ++layers) {
          ExpectBestSplit(layers, stages, chunks, head);
        }
      }
    }
  }
}

// In LLaMA-3 8B, the head has 525 M weights. A layer has 218 M weights, and its attention at 8,192
// tokens costs as much as another 33.6 M.
TEST(PipelinePlaceTest, TheHeadOfEightBillionIsTwoLayers) {
  ModelConfig model;
  model.num_layers = 32;
  model.hidden_size = 4096;
  model.ffn_hidden_size = 14336;
  model.num_attention_heads = 32;
  model.num_query_groups = 8;
  model.vocab_size = 128256;
  EXPECT_NEAR(HeadInLayers(model, 8192), 525.3 / (218.1 + 33.6), 0.01);
  // A module adds a layer, the head once more, and a projection of 33.6 M weights.
  model.mtp_num_layers = 1;
  EXPECT_NEAR(HeadInLayers(model, 8192), 1 + (2 * 525.3 + 33.6) / (218.1 + 33.6), 0.01);
}

}  // namespace
}  // namespace trainyard
