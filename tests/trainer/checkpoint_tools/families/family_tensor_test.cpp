#include "trainer/checkpoint_tools/families/family_tensor.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/trainer/checkpoint/cut_tensors.h"
#include "tests/trainer/checkpoint_tools/hugging_face_directory.h"
#include "trainer/checkpoint_tools/hugging_face/family_elements.h"
#include "trainer/checkpoint_tools/hugging_face/placed_elements.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

// The rows, in Trainyard's order, of a matrix with heads of 5 rows. The last 4 rows of a head
// belong to two rotated pairs.
const std::vector<int64_t> kRotaryRows = {0, 1, 3, 2, 4, 5, 6, 8, 7, 9};

// Returns three fused tensors, one tensor that is not fused, and one with rotated rows. Each fused
// tensor has the parts q, k and v, with 6 rows each. The parts are transposed and side by side,
// interleaved by heads of 2 rows, or biases in sequence.
std::vector<FamilyTensor> FusedTensors() {
  std::vector<TensorShape> conv, heads, biases;
  for (const std::string name : {"q", "k", "v"}) {
    conv.push_back({"conv." + name, {6, 5}});
    heads.push_back({"heads." + name, {6, 5}});
    biases.push_back({"bias." + name, {6}});
  }
  return {TransposedTensor("conv", conv), FusedTensor("heads", heads, 2),
          FusedTensor("bias", biases, 6), SameTensor("same", {3, 4}),
          RotaryTensor("rotary", {10, 3}, {5, 1, 4})};
}

// Returns the parts of each tensor, made by slicing and transposing whole tensors.
std::map<std::string, Tensor> PartsOf(const std::map<std::string, Tensor>& whole) {
  std::map<std::string, Tensor> parts = {
      {"same", whole.at("same")},
      {"rotary", whole.at("rotary").index_select(0, torch::tensor(kRotaryRows, torch::kInt64))}};
  const char* names[] = {"q", "k", "v"};
  for (int64_t i = 0; i < 3; ++i) {
    const std::string name = names[i];
    parts["conv." + name] = whole.at("conv").narrow(1, 6 * i, 6).t().contiguous();
    parts["heads." + name] = whole.at("heads").view({3, 3, 2, 5}).select(1, i).reshape({6, 5});
    parts["bias." + name] = whole.at("bias").narrow(0, 6 * i, 6);
  }
  return parts;
}

std::map<std::string, Tensor> WholeTensors() {
  std::map<std::string, Tensor> whole;
  float first = 0;
  for (const TensorShape& tensor : HuggingFaceShapes(FusedTensors())) {
    const int64_t elements = *ElementsOf(tensor.shape);
    whole[tensor.name] = (torch::arange(elements) + first).to(torch::kFloat32).view(tensor.shape);
    first += 100;
  }
  return whole;
}

std::string BytesOf(const Tensor& tensor) {
  const Tensor rows = tensor.contiguous();
  return {static_cast<const char*>(rows.data_ptr()), rows.nbytes()};
}

// Elements per call. The number is odd, so that calls begin and end within rows and heads.
constexpr int64_t kElementsOfACall = 7;

TEST(FamilyTensorTest, ShapesOfBothSides) {
  EXPECT_EQ(FusedTensors()[0].on_hugging_face.shape, (Extents{5, 18}));
  EXPECT_EQ(FusedTensors()[1].on_hugging_face.shape, (Extents{18, 5}));
  EXPECT_EQ(OurShapes(FusedTensors()).size(), 11);
}

TEST(FamilyTensorTest, PartsOutOfTheFilesOfAnImport) {
  const TemporaryDirectory directory;
  RawTensors raw;
  for (const auto& [name, tensor] : WholeTensors()) {
    raw[name] = {"F32", tensor.sizes().vec(), BytesOf(tensor)};
  }
  WriteHuggingFace(directory.path(), raw);
  const PlacedTensors placed = ReadSafetensorsDirectory(directory.path());
  const std::vector<FamilyTensor> tensors = FusedTensors();
  PlacedElements elements(tensors, placed);
  for (const auto& [name, expected] : PartsOf(WholeTensors())) {
    const Tensor part = torch::empty_like(expected);
    for (int64_t done = 0; done < part.numel(); done += kElementsOfACall) {
      elements.Read(name, std::min(kElementsOfACall, part.numel() - done),
                    static_cast<char*>(part.data_ptr()) + done * 4);
    }
    EXPECT_TRUE(part.equal(expected)) << name;
    EXPECT_EQ(elements.tensors().at(name).shape, expected.sizes().vec());
  }
}

// Reads tensors that several ranks saved as boxes, in the stored type and in another type.
TEST(FamilyTensorTest, WholeTensorsOutOfACheckpoint) {
  const CheckpointDirectory directory;
  std::mt19937 random(20261123);
  std::vector<TensorChunk> chunks;
  for (const auto& [name, tensor] : PartsOf(WholeTensors())) {
    for (TensorChunk& chunk : Cut(name, tensor, 4, &random)) chunks.push_back(std::move(chunk));
  }
  SaveFromRanks(directory, 1, 3, chunks);
  const CheckpointReader reader(directory.Step(1));
  const std::vector<FamilyTensor> tensors = FusedTensors();
  for (const torch::ScalarType type : {torch::kFloat32, torch::kBFloat16}) {
    FamilyElements elements(reader, tensors);
    for (const auto& [name, expected] : WholeTensors()) {
      EXPECT_EQ(elements.TypeOf(name), torch::kFloat32);
      const Tensor whole = torch::empty(expected.sizes(), type);
      const Extents shape = expected.sizes().vec();
      const PlannedChunk chunk = {name, type, shape, {Extents(shape.size(), 0), shape}};
      for (int64_t done = 0; done < whole.numel(); done += kElementsOfACall) {
        elements.Read(chunk, std::min(kElementsOfACall, whole.numel() - done),
                      static_cast<char*>(whole.data_ptr()) + done * whole.element_size());
      }
      EXPECT_TRUE(whole.equal(expected.to(type))) << name;
    }
  }
}

}  // namespace
}  // namespace trainyard::trainer
