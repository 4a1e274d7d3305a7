#include "trainer/checkpoint_tools/hugging_face/safetensors_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/temporary_directory.h"
#include "tests/trainer/checkpoint_tools/hugging_face_directory.h"
#include "tests/trainer/config/error_of.h"

namespace trainyard::trainer {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr char kFirst[] = "/model-00001-of-00002.safetensors";
constexpr char kSecond[] = "/model-00002-of-00002.safetensors";

class SafetensorsDirectoryTest : public testing::Test {
 protected:
  std::string Refusal() const {
    return ErrorOf([&] { ReadSafetensorsDirectory(directory_.path()); }, ExitCode::kBadCheckpoint);
  }
  std::string Path(const std::string& name) const { return directory_.path() + name; }

  const TemporaryDirectory directory_;
};

TEST_F(SafetensorsDirectoryTest, PlacesOfOneFileAndOfShards) {
  const RawTensors tensors = TinyLlama("BF16");
  WriteHuggingFaceShards(directory_.path(), tensors);
  for (const bool is_single : {false, true}) {
    if (is_single) WriteHuggingFace(directory_.path(), tensors);
    const PlacedTensors places = ReadSafetensorsDirectory(directory_.path());
    ASSERT_EQ(places.size(), tensors.size());
    for (const auto& [name, place] : places) {
      const RawTensor& tensor = tensors.at(name);
      EXPECT_EQ(place.path == Path("/model.safetensors"), is_single);
      EXPECT_EQ(place.dtype, torch::kBFloat16);
      EXPECT_EQ(place.shape, tensor.shape);
      const std::string bytes =
          ReadText(place.path).substr(place.begin, static_cast<size_t>(place.end - place.begin));
      EXPECT_EQ(bytes, tensor.bytes) << name;
    }
  }
}

TEST_F(SafetensorsDirectoryTest, MissingFilesAreNamed) {
  EXPECT_THAT(Refusal(), HasSubstr("has neither model.safetensors nor model.safetensors.index"));
  WriteHuggingFaceShards(directory_.path(), TinyLlama("F32"));
  std::filesystem::remove(Path(kSecond));
  EXPECT_THAT(Refusal(), HasSubstr(" lacks model-00002-of-00002.safetensors, which "));
}

TEST_F(SafetensorsDirectoryTest, AnIndexThatDoesNotFitItsShards) {
  const RawTensors tensors = TinyLlama("F32");
  WriteHuggingFaceShards(directory_.path(), tensors);
  RawTensors second = ReadSafetensors(Path(kSecond));
  const std::string name = second.begin()->first;
  RawTensors less = second;
  less.erase(name);
  WriteSafetensors(Path(kSecond), less);
  EXPECT_THAT(Refusal(), HasSubstr("00002.safetensors lacks tensor " + name + ", which the index"));
  second["extra"] = second[name];
  WriteSafetensors(Path(kSecond), second);
  EXPECT_THAT(Refusal(), HasSubstr("has tensor extra, which is not in the index"));
  second.erase("extra");
  second["lm_head.weight"] = tensors.at("lm_head.weight");
  WriteSafetensors(Path(kSecond), second);
  EXPECT_THAT(Refusal(), AllOf(HasSubstr("has tensor lm_head.weight, which "), HasSubstr(kFirst)));
}

TEST_F(SafetensorsDirectoryTest, DamagedIndexes) {
  const std::string index = Path("/model.safetensors.index.json");
  for (const char* text : {"", "{", "[]", "{\"weight_map\": 3}", "{\"weight_map\": {\"a\": 1}}"}) {
    WriteText(index, text);
    EXPECT_THAT(Refusal(), HasSubstr("it has no weight_map")) << text;
  }
  WriteText(index, R"({"weight_map": {"a": "../model"}})");
  EXPECT_THAT(Refusal(), HasSubstr("\"../model\" is not the name of a file in the same directory"));
}

TEST_F(SafetensorsDirectoryTest, DamagedFiles) {
  const std::string path = Path("/model.safetensors");
  const auto with_header = [&](const std::string& header, size_t length) {
    std::string text(8, '\0');
    for (int i = 0; i < 8; ++i) text[i] = static_cast<char>(length >> (8 * i));
    WriteText(path, text + header);
    return Refusal();
  };
  const auto with = [&](const std::string& header) { return with_header(header, header.size()); };
  WriteText(path, "short");
  EXPECT_THAT(Refusal(), HasSubstr("too short for a safetensors file"));
  EXPECT_THAT(with_header("{}", 3), HasSubstr("its header has an invalid length"));
  EXPECT_THAT(with_header("{}", ~size_t{0}), HasSubstr("its header has an invalid length"));
  EXPECT_THAT(with("{"), HasSubstr("its header is not JSON"));
  EXPECT_THAT(with(R"({"a": 1})"), HasSubstr("tensor a has an invalid description"));
  EXPECT_THAT(with(R"({"a": {"dtype": "F8_E5M2", "shape": [1], "data_offsets": [0, 1]}})"),
              HasSubstr("a tensor of type F8_E5M2"));
  for (const char* place :
       {R"([2], "data_offsets": [0, 4])", R"([-2], "data_offsets": [0, 8])",
        R"([1], "data_offsets": [8, 4])", R"([4611686018427387904, 4], "data_offsets": [0, 4])"}) {
    EXPECT_THAT(with(std::string(R"({"a": {"dtype": "F32", "shape": )") + place + "}}"),
                HasSubstr("tensor a has a byte range that does not match its shape"));
  }
  EXPECT_THAT(with(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}})"),
              HasSubstr("an offset in its header is out of range"));
  EXPECT_THAT(with(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}})"),
              HasSubstr("it is truncated: it has "));
}

}  // namespace
}  // namespace trainyard::trainer
