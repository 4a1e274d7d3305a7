#include "trainer/ops/embedding.h"

#include <gtest/gtest.h>

#include "tests/trainer/gpu/accuracy.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// Distribution of the tokens. Real text is skewed. The kernel splits the rows of a frequent token
// into many parts.
enum class TokenSpread { kUniform, kSkewed, kOneToken };

Tensor RandomTokens(int64_t rows, int64_t vocabulary, TokenSpread spread) {
  const Tensor tokens = torch::randint(0, vocabulary, {rows}, OnGpu(torch::kInt64));
  if (spread == TokenSpread::kUniform) return tokens;
  if (spread == TokenSpread::kOneToken) return tokens.fill_(vocabulary - 1);
  return tokens.masked_fill(torch::rand({rows}, OnGpu(torch::kFloat32)) < 0.9, vocabulary / 2);
}

struct EmbeddingShape {
  int64_t rows;
  int64_t width;
  int64_t vocabulary;
};

const EmbeddingShape kEmbeddingShapes[] = {
    {1, 1, 2},        {3, 7, 31},         {127, 64, 2},          {127, 96, 256},
    {4096, 7, 50257}, {4096, 768, 50304}, {32768, 2048, 128256}, {32768, 2048, 256},
};

// Returns the gradient of the table, accumulated in fp64 starting from zero.
Tensor EmbeddingGradient(const Tensor& dy, const Tensor& tokens, int64_t vocabulary) {
  return torch::zeros({vocabulary, dy.size(1)}, OnGpu(torch::kFloat64))
      .index_add_(0, tokens, Wide(dy));
}

void ExpectEmbeddingGradient(const Tensor& dy, const Tensor& tokens, int64_t vocabulary) {
  const Tensor expected = EmbeddingGradient(dy, tokens, vocabulary);
  const Tensor gradient = Poisoned(expected.sizes(), torch::kFloat32);
  EmbeddingBackward(dy, tokens, {gradient, false});
  ExpectAccurate(gradient, expected, kLongSumTolerance);
  const Tensor before = RandomOnGpu(expected.sizes().vec(), torch::kFloat32);
  gradient.copy_(before);
  EmbeddingBackward(dy, tokens, {gradient, true});
  ExpectAccurate(gradient, expected + before, kLongSumTolerance);
}

TEST(EmbeddingGpuTest, LooksUpRowsExactly) {
  torch::manual_seed(1);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const EmbeddingShape& shape : kEmbeddingShapes) {
      SCOPED_TRACE(ShapeName(type, {shape.rows, shape.width, shape.vocabulary}));
      const Tensor table = RandomOnGpu({shape.vocabulary, shape.width}, type);
      const Tensor tokens = RandomTokens(shape.rows, shape.vocabulary, TokenSpread::kUniform);
      const Tensor expected = table.index_select(0, tokens);
      Tensor out = Poisoned(expected.sizes(), type);
      EmbeddingForward(table, tokens, out);
      EXPECT_TRUE(SameBits(out, expected));
      out = AtOddAddress(Poisoned(expected.sizes(), type));
      EmbeddingForward(AtOddAddress(table), tokens, out);
      EXPECT_TRUE(SameBits(out, expected));
    }
  }
}

// The indices are positions within samples, as in the look-up of learned position embeddings.
TEST(EmbeddingGpuTest, AddsRowsToWhatIsThere) {
  torch::manual_seed(8);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : {1, 7, 768}) {
      SCOPED_TRACE(ShapeName(type, {width}));
      const Tensor table = RandomOnGpu({333, width}, type), x = RandomOnGpu({5 * 333, width}, type);
      const Tensor positions = torch::arange(333, OnGpu(torch::kInt64)).repeat({5});
      const Tensor expected = Wide(x) + Wide(table.index_select(0, positions));
      Tensor sum = x.clone();
      AddEmbedding(table, positions, sum);
      ExpectAccurate(sum, expected, kShortSumTolerance);
      sum = AtOddAddress(x);
      AddEmbedding(table, positions, sum);
      ExpectAccurate(sum, expected, kShortSumTolerance);
    }
  }
}

// Each position has one row per sample. These rows are far apart in memory.
TEST(EmbeddingGpuTest, AddsTheGradientsOfEachPosition) {
  torch::manual_seed(9);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t samples : {1, 3, 32, 33}) {
      SCOPED_TRACE(ShapeName(type, {samples}));
      const Tensor positions = torch::arange(1024, OnGpu(torch::kInt64)).repeat({samples});
      ExpectEmbeddingGradient(RandomOnGpu({samples * 1024, 96}, type), positions, 1024 + 5);
    }
  }
}

TEST(EmbeddingGpuTest, AddsTheGradientsOfEachToken) {
  torch::manual_seed(2);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const EmbeddingShape& shape : kEmbeddingShapes) {
      const Tensor dy = RandomOnGpu({shape.rows, shape.width}, type);
      for (const TokenSpread spread :
           {TokenSpread::kUniform, TokenSpread::kSkewed, TokenSpread::kOneToken}) {
        SCOPED_TRACE(ShapeName(
            type, {shape.rows, shape.width, shape.vocabulary, static_cast<int64_t>(spread)}));
        const Tensor tokens = RandomTokens(shape.rows, shape.vocabulary, spread);
        ExpectEmbeddingGradient(dy, tokens, shape.vocabulary);
      }
    }
  }
}

TEST(EmbeddingGpuTest, TakesGradientsAtOddAddresses) {
  torch::manual_seed(3);
  for (const torch::ScalarType type : kGpuTypes) {
    SCOPED_TRACE(ShapeName(type, {}));
    const Tensor dy = AtOddAddress(RandomOnGpu({1000, 64}, type));
    ExpectEmbeddingGradient(dy, RandomTokens(1000, 256, TokenSpread::kSkewed), 256);
  }
}

// The rows [first_token, first_token + rows) of a vocabulary's table.
struct TablePart {
  int64_t first_token;
  int64_t rows;
};

TEST(EmbeddingGpuTest, PartsLookUpTheirRowsAndGiveZerosElsewhere) {
  torch::manual_seed(5);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const int64_t width : {7, 768}) {
      SCOPED_TRACE(ShapeName(type, {width}));
      const Tensor table = RandomOnGpu({1000, width}, type);
      const Tensor tokens = RandomTokens(4099, 1000, TokenSpread::kUniform);
      const Tensor whole = table.index_select(0, tokens);
      for (const TablePart& part : {TablePart{0, 250}, TablePart{250, 1}, TablePart{251, 749}}) {
        const Tensor places = tokens - part.first_token;
        const Tensor is_outside = (places < 0).logical_or(places >= part.rows).unsqueeze(1);
        Tensor out = Poisoned(whole.sizes(), type);
        EmbeddingForward(table.narrow(0, part.first_token, part.rows), tokens, out,
                         part.first_token);
        EXPECT_TRUE(SameBits(out, whole.masked_fill(is_outside, 0)));
      }
    }
  }
}

TEST(EmbeddingGpuTest, GradientsOfPartsAreThoseOfTheWhole) {
  torch::manual_seed(6);
  for (const torch::ScalarType type : kGpuTypes) {
    for (const TokenSpread spread :
         {TokenSpread::kUniform, TokenSpread::kSkewed, TokenSpread::kOneToken}) {
      SCOPED_TRACE(ShapeName(type, {static_cast<int64_t>(spread)}));
      const Tensor dy = RandomOnGpu({4099, 96}, type);
      const Tensor tokens = RandomTokens(4099, 256, spread);
      const Tensor expected = EmbeddingGradient(dy, tokens, 256);
      for (const TablePart& part : {TablePart{0, 64}, TablePart{64, 1}, TablePart{65, 191}}) {
        const Tensor gradient = Poisoned({part.rows, 96}, torch::kFloat32);
        EmbeddingBackward(dy, tokens, {gradient, false}, part.first_token);
        ExpectAccurate(gradient, expected.narrow(0, part.first_token, part.rows),
                       kLongSumTolerance);
      }
    }
  }
}

TEST(EmbeddingGpuTest, TokensOutsideTheTableAddNothing) {
  torch::manual_seed(7);
  const Tensor dy = torch::full({4099, 96}, std::nan(""), OnGpu(torch::kBFloat16));
  const Tensor tokens = RandomTokens(4099, 256, TokenSpread::kUniform);
  // The gradient is the middle third. The memory before and after it must not change.
  const Tensor memory = RandomOnGpu({3 * 64, 96}, torch::kFloat32);
  const Tensor before = memory.clone();
  for (const int64_t first_token : {256, -64}) {
    EmbeddingBackward(dy, tokens, {memory.narrow(0, 64, 64), true}, first_token);
    EXPECT_TRUE(SameBits(memory, before));
  }
}

TEST(EmbeddingGpuTest, EveryRunHasTheSameBits) {
  torch::manual_seed(4);
  for (const torch::ScalarType type : kGpuTypes) {
    const Tensor dy = RandomOnGpu({32768, 768}, type);
    for (const int64_t vocabulary : {256, 50304}) {
      for (const TokenSpread spread : {TokenSpread::kUniform, TokenSpread::kSkewed}) {
        SCOPED_TRACE(ShapeName(type, {vocabulary, static_cast<int64_t>(spread)}));
        const Tensor tokens = RandomTokens(32768, vocabulary, spread);
        ExpectSameBitsInEveryRun([&] {
          const Tensor gradient = Poisoned({vocabulary, 768}, torch::kFloat32);
          EmbeddingBackward(dy, tokens, {gradient, false});
          return std::vector<Tensor>{gradient};
        });
      }
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer
