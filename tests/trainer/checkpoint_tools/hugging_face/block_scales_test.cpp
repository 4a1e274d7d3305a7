#include "trainer/checkpoint_tools/hugging_face/block_scales.h"

#include <c10/util/BFloat16.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "tests/fakes/temporary_directory.h"
#include "tests/trainer/checkpoint_tools/hugging_face_directory.h"
#include "tests/trainer/config/error_of.h"
#include "trainer/checkpoint_tools/hugging_face/placed_elements.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(BlockScalesTest, ValuesOfE4M3) {
  EXPECT_EQ(FromE4M3(0x00), 0);
  EXPECT_TRUE(std::signbit(FromE4M3(0x80)));
  EXPECT_EQ(FromE4M3(0x01), std::ldexp(1.0F, -9));  // The smallest number.
  EXPECT_EQ(FromE4M3(0x08), std::ldexp(1.0F, -6));  // The smallest with a leading 1.
  EXPECT_EQ(FromE4M3(0x38), 1);
  EXPECT_EQ(FromE4M3(0xbc), -1.5F);
  EXPECT_EQ(FromE4M3(0x7e), 448);  // The largest number.
  EXPECT_TRUE(std::isnan(FromE4M3(0x7f)));
  EXPECT_TRUE(std::isnan(FromE4M3(0xff)));
}

// A matrix of 130 x 260 elements, thus 2 x 3 blocks, and its scales.
RawTensors ScaledMatrix() {
  RawTensor weight{"F8_E4M3", {130, 260}, ""};
  for (int i = 0; i < 130 * 260; ++i) weight.bytes.push_back(static_cast<char>(i * 7 % 126));
  const std::vector<float> factors = {0.5F, 1, 2, 3, 0.25F, 1e-3F};
  RawTensor scales{"F32", {2, 3}, std::string(24, '\0')};
  std::memcpy(scales.bytes.data(), factors.data(), scales.bytes.size());
  return {{"w", weight}, {"w_scale_inv", scales}};
}

PlacedTensors Placed(const TemporaryDirectory& directory, const RawTensors& tensors,
                     const json& config = json::object()) {
  WriteHuggingFace(directory.path(), tensors);
  return WithBlockScales(ReadSafetensorsDirectory(directory.path()), config, "dir");
}

TEST(BlockScalesTest, ElementsAreMultipliedByTheScaleOfTheirBlock) {
  const TemporaryDirectory directory;
  const RawTensors raw = ScaledMatrix();
  const PlacedTensors placed = Placed(directory, raw);
  ASSERT_EQ(placed.size(), 1u);
  const std::vector<FamilyTensor> tensors = {SameTensor("w", {130, 260})};
  PlacedElements elements(tensors, placed);
  EXPECT_EQ(elements.tensors().at("w").dtype, torch::kBFloat16);
  std::vector<uint16_t> values(130 * 260);
  constexpr int64_t kAtOnce = 1300;  // Calls begin and end within blocks.
  for (int64_t done = 0; done < 130 * 260; done += kAtOnce) {
    elements.Read("w", kAtOnce, reinterpret_cast<char*>(values.data() + done));
  }
  const auto expect = [&](int64_t row, int64_t column, float scale) {
    const auto bits = static_cast<uint8_t>(raw.at("w").bytes[row * 260 + column]);
    EXPECT_EQ(values[row * 260 + column], c10::BFloat16(FromE4M3(bits) * scale).x)
        << row << " " << column;
  };
  expect(0, 0, 0.5F);
  expect(127, 127, 0.5F);
  expect(127, 128, 1);
  expect(5, 259, 2);
  expect(128, 127, 3);
  expect(129, 255, 0.25F);
  expect(129, 256, 1e-3F);
}

TEST(BlockScalesTest, OtherQuantizationsAreRefusedInOneLine) {
  const auto refusal = [](const RawTensors& tensors, const json& config, ExitCode code) {
    const TemporaryDirectory directory;
    return ErrorOf([&] { Placed(directory, tensors, config); }, code);
  };
  const auto with = [&](const json& quantization) {
    return refusal(ScaledMatrix(), {{"quantization_config", quantization}}, ExitCode::kBadConfig);
  };
  EXPECT_THAT(with({{"quant_method", "fp8"}, {"weight_block_size", {64, 64}}}),
              HasSubstr("dir/config.json has FP8 scales of blocks of [64,64]; an import supports "
                        "only [128,128]"));
  EXPECT_THAT(with({{"quant_method", "gptq"}}), HasSubstr("quantization \"gptq\""));
  RawTensors tensors = ScaledMatrix();
  tensors.erase("w_scale_inv");
  EXPECT_THAT(refusal(tensors, json::object(), ExitCode::kBadCheckpoint),
              HasSubstr("has the FP8 tensor w without its scales, w_scale_inv; fetch it again"));
  tensors = ScaledMatrix();
  tensors["w_scale_inv"] = {"F32", {3, 2}, std::string(24, '\0')};
  EXPECT_THAT(refusal(tensors, json::object(), ExitCode::kBadCheckpoint),
              HasSubstr("has scales w_scale_inv of shape [3, 2] instead of [2, 3]"));
}

}  // namespace
}  // namespace trainyard::trainer
