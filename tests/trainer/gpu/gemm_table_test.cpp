#include "trainer/kernels/gemm/gemm_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "trainer/kernels/cuda_check.h"
#include "trainer/kernels/gemm/gemm_plan.h"

namespace trainyard::trainer::kernels {
namespace {

constexpr int64_t kVersion = 130100;

GemmShape Fp8Shape() {
  return {.m = 64,
          .n = 64,
          .k = 64,
          .transpose_b = true,
          .a_type = ElementType::kFp8E4M3,
          .b_type = ElementType::kFp8E4M3};
}

// Returns shapes of which each two differ in one or two properties.
std::vector<GemmShape> SimilarShapes() {
  std::vector<GemmShape> shapes(7, Fp8Shape());
  shapes[1].a_type = ElementType::kFp8E5M2;
  shapes[2].b_type = ElementType::kFp8E5M2;
  shapes[3].fast_accumulation = true;
  shapes[4].output_type = ElementType::kFloat32;
  shapes[5].has_c = true;
  shapes[6].a_type = shapes[6].b_type = ElementType::kBFloat16;
  return shapes;
}

std::string SavedText(const GemmTable& table) {
  const std::string path = ::testing::TempDir() + "gemm_table_test.json";
  table.Save(path);
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void ExpectEachHasItsNumber(const GemmTable& table) {
  const std::vector<GemmShape> shapes = SimilarShapes();
  for (size_t i = 0; i < shapes.size(); ++i) {
    const auto found = table.Find(shapes[i]);
    ASSERT_TRUE(found.has_value()) << i;
    EXPECT_EQ(found->front(), i);
  }
}

TEST(GemmTableTest, KeepsProductsThatDifferInTypesOrAccumulationApart) {
  GemmTable table("device", kVersion), loaded("device", kVersion);
  const std::vector<GemmShape> shapes = SimilarShapes();
  for (size_t i = 0; i < shapes.size(); ++i) table.Set(shapes[i], {i});
  ExpectEachHasItsNumber(table);
  loaded.Add(SavedText(table), "the saved table");
  ExpectEachHasItsNumber(loaded);
}

TEST(GemmTableTest, OlderTablesHaveProductsOfOneType) {
  GemmTable table("device", kVersion);
  table.Add(R"({"device": "device", "cublaslt": 130100, "products": [
      {"algorithm": ["7","0","0","0","0","0","0","0"], "c_is_d": false, "has_c": false,
       "input": "bfloat16", "k": 64, "m": 64, "n": 64, "output": "bfloat16",
       "transpose_a": false, "transpose_b": true}]})",
            "a table");
  GemmShape shape = Fp8Shape();
  EXPECT_FALSE(table.Find(shape).has_value());
  shape.a_type = shape.b_type = ElementType::kBFloat16;
  ASSERT_TRUE(table.Find(shape).has_value());
  EXPECT_EQ(table.Find(shape)->front(), 7);
}

// Returns a product that cuBLASLt has. The addresses are not read.
GemmArguments Fp8Product() {
  alignas(16) static char memory[16];
  alignas(16) static const float factor[2] = {1, 1};
  return {.a = memory,
          .b = memory,
          .d = memory,
          .m = 32,
          .n = 48,
          .k = 64,
          .transpose_b = true,
          .a_type = ElementType::kFp8E5M2,
          .b_type = ElementType::kFp8E4M3,
          .a_factor = factor,
          .b_factor = factor};
}

std::string Refusal(const GemmArguments& arguments) {
  try {
    CheckFp8Product(arguments);
  } catch (const KernelError& error) {
    return error.what();
  }
  return "";
}

TEST(Fp8ProductTest, RefusesFormsThatHopperLacks) {
  const auto refusal = [](auto&& change) {
    GemmArguments product = Fp8Product();
    change(product);
    return Refusal(product);
  };
  EXPECT_EQ(Refusal(Fp8Product()), "");
  EXPECT_EQ(refusal([](auto& p) { p.m = 40; }),
            "an FP8 product [40, 64] x [64, 48] needs sizes that are multiples of 16");
  for (const auto size : {&GemmArguments::n, &GemmArguments::k}) {
    EXPECT_NE(refusal([&](auto& p) { p.*size += 8; }), "");
  }
  EXPECT_NE(refusal([](auto& p) { p.a_type = ElementType::kBFloat16; }), "");
  EXPECT_NE(refusal([](auto& p) { p.b_type = ElementType::kFloat32; }), "");
  EXPECT_NE(refusal([](auto& p) { p.b_type = ElementType::kFp8E5M2; }), "");
  EXPECT_EQ(refusal([](auto& p) { p.b_type = ElementType::kFp8E5M2, p.a_type = p.b_type; }),
            "an FP8 product [32, 64] x [64, 48] needs a factor in E4M3, but both are in E5M2");
  EXPECT_NE(refusal([](auto& p) { p.transpose_b = false; }), "");
  EXPECT_NE(refusal([](auto& p) { p.transpose_a = true; }), "");
  EXPECT_NE(refusal([](auto& p) { p.b = static_cast<const char*>(p.b) + 8; }), "");
  EXPECT_NE(refusal([](auto& p) { p.b_factor = nullptr; }), "");
  EXPECT_NE(refusal([](auto& p) { ++p.a_factor; }), "");
  EXPECT_NE(refusal([](auto& p) { p.bias = p.a; }), "");
  EXPECT_EQ(refusal([](auto& p) { p.a_type = p.b_type = ElementType::kFloat32, p.m = 3; }), "");
}

}  // namespace
}  // namespace trainyard::trainer::kernels
