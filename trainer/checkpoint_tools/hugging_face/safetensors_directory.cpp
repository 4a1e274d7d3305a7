#include "trainer/checkpoint_tools/hugging_face/safetensors_directory.h"

#include <c10/core/ScalarType.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/checkpoint_tools/hugging_face/hugging_face_config.h"
#include "trainer/checkpoint_tools/hugging_face/weights_file.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

using nlohmann::json;

constexpr char kMetadata[] = "__metadata__";
constexpr int64_t kLengthBytes = 8;
// The format's limit for the header length. Prevents a huge allocation if the length is damaged.
constexpr int64_t kMostHeaderBytes = 100'000'000;
// Larger than any file. Sums of values below this limit do not overflow.
constexpr int64_t kMostBytes = int64_t{1} << 60;

[[noreturn]] void RefuseWeights(const std::string& path, const std::string& reason) {
  throw TrainerError(ExitCode::kBadCheckpoint, path + " " + reason);
}

json HeaderOf(const std::string& path, int64_t file_bytes, int64_t* data_begin) {
  if (file_bytes < kLengthBytes)
    RefuseDamagedDownload(path, "it is too short for a safetensors file");
  const WeightsFile file(path);
  std::string length(kLengthBytes, '\0');
  file.Read(0, kLengthBytes, "the header's length", length.data());
  uint64_t bytes = 0;
  for (int i = kLengthBytes - 1; i >= 0; --i) bytes = bytes << 8 | static_cast<uint8_t>(length[i]);
  if (bytes > kMostHeaderBytes || static_cast<int64_t>(bytes) > file_bytes - kLengthBytes) {
    RefuseDamagedDownload(path, "its header has an invalid length");
  }
  *data_begin = kLengthBytes + static_cast<int64_t>(bytes);
  std::string text(bytes, '\0');
  file.Read(kLengthBytes, *data_begin, "the header", text.data());
  json header = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) RefuseDamagedDownload(path, "its header is not JSON");
  header.erase(kMetadata);
  return header;
}

// Parses one entry of a header. Throws json::exception if the value has the wrong structure.
PlacedTensor TensorFrom(const json& value, const std::string& path, int64_t data_begin) {
  PlacedTensor tensor;
  tensor.path = path;
  const std::string dtype = value.at("dtype").get<std::string>();
  tensor.is_e4m3 = dtype == "F8_E4M3";
  const std::optional<torch::ScalarType> known =
      tensor.is_e4m3 ? std::optional(torch::kByte) : DtypeNamed(dtype);
  if (!known)
    RefuseWeights(path, "has a tensor of type " + dtype + ", which the trainer does not support");
  tensor.dtype = *known;
  tensor.shape = value.at("shape").get<Extents>();
  const auto offset = [&](size_t i) {
    const auto bytes = value.at("data_offsets").at(i).get<int64_t>();
    if (bytes < 0 || bytes > kMostBytes)
      RefuseDamagedDownload(path, "an offset in its header is out of range");
    return data_begin + bytes;
  };
  tensor.begin = offset(0);
  tensor.end = offset(1);
  return tensor;
}

void CheckPlace(const std::string& name, const PlacedTensor& tensor, int64_t file_bytes) {
  const std::optional<int64_t> elements = ElementsOf(tensor.shape);
  const auto width = static_cast<int64_t>(c10::elementSize(tensor.dtype));
  if (!elements || *elements > kMostBytes / width ||
      tensor.end - tensor.begin != *elements * width) {
    RefuseDamagedDownload(tensor.path,
                          "tensor " + name + " has a byte range that does not match its shape");
  }
  if (tensor.end <= file_bytes) return;
  RefuseDamagedDownload(tensor.path, "it is truncated: it has " + std::to_string(file_bytes) +
                                         " bytes, but tensor " + name + " ends at " +
                                         std::to_string(tensor.end));
}

void AddFile(const std::string& path, PlacedTensors* tensors) {
  const int64_t file_bytes = FileBytes(path);
  int64_t data_begin = 0;
  const json header = HeaderOf(path, file_bytes, &data_begin);
  for (const auto& [name, value] : header.items()) {
    PlacedTensor tensor;
    try {
      tensor = TensorFrom(value, path, data_begin);
    } catch (const json::exception& error) {
      RefuseDamagedDownload(path,
                            "tensor " + name + " has an invalid description: " + error.what());
    }
    CheckPlace(name, tensor, file_bytes);
    const auto [place, is_new] = tensors->emplace(name, std::move(tensor));
    if (!is_new)
      RefuseWeights(path, "has tensor " + name + ", which " + place->second.path + " also has");
  }
}

// Returns a map from each tensor to its file.
std::map<std::string, std::string> WeightMapOf(const std::string& index) {
  const json value = json::parse(ReadFile(index, ExitCode::kBadCheckpoint), nullptr,
                                 /*allow_exceptions=*/false);
  std::map<std::string, std::string> files;
  try {
    files = value.at("weight_map").get<std::map<std::string, std::string>>();
  } catch (const json::exception& error) {
    RefuseDamagedDownload(index, std::string("it has no weight_map: ") + error.what());
  }
  for (const auto& [name, file] : files) {
    if (!file.empty() && file.find('/') == std::string::npos) continue;
    RefuseDamagedDownload(index,
                          "\"" + file + "\" is not the name of a file in the same directory");
  }
  return files;
}

void CheckShardsAreThere(const std::string& directory, const std::set<std::string>& shards) {
  std::string missing;
  for (const std::string& shard : shards) {
    if (FileBytes(directory + "/" + shard) < 0) missing += (missing.empty() ? "" : ", ") + shard;
  }
  if (missing.empty()) return;
  RefuseWeights(directory, std::string("lacks ") + missing + ", which " + kSafetensorsIndexName +
                               " lists; fetch these files");
}

PlacedTensors ReadShards(const std::string& directory) {
  const std::string index = directory + "/" + kSafetensorsIndexName;
  const std::map<std::string, std::string> files = WeightMapOf(index);
  std::set<std::string> shards;
  for (const auto& [_, file] : files) shards.insert(file);
  CheckShardsAreThere(directory, shards);
  PlacedTensors tensors;
  for (const std::string& shard : shards) AddFile(directory + "/" + shard, &tensors);
  for (const auto& [name, file] : files) {
    const auto found = tensors.find(name);
    if (found != tensors.end() && found->second.path == directory + "/" + file) continue;
    RefuseWeights(
        directory + "/" + file,
        "lacks tensor " + name + ", which the index lists; fetch this file and the index again");
  }
  for (const auto& [name, tensor] : tensors) {
    if (files.contains(name)) continue;
    RefuseWeights(
        tensor.path,
        "has tensor " + name + ", which is not in the index; fetch this file and the index again");
  }
  return tensors;
}

}  // namespace

PlacedTensors ReadSafetensorsDirectory(const std::string& directory) {
  const std::string single = directory + "/" + kSafetensorsName;
  if (FileBytes(single) >= 0) {
    PlacedTensors tensors;
    AddFile(single, &tensors);
    return tensors;
  }
  if (FileBytes(directory + "/" + kSafetensorsIndexName) >= 0) return ReadShards(directory);
  RefuseWeights(directory, std::string("has neither ") + kSafetensorsName + " nor " +
                               kSafetensorsIndexName +
                               "; convert other weight formats to safetensors first");
}

std::string EntryThatIsNoExport(const std::string& directory) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename();
    const bool is_weights = name.starts_with("model") && name.ends_with(".safetensors");
    const bool is_ours = is_weights || name == kConfigName || name == kSafetensorsIndexName;
    if (!is_ours || !entry.is_regular_file(error)) return name;
  }
  return error ? directory : "";
}

}  // namespace trainyard::trainer
