// A directory with a tiny LLaMA in the format that Hugging Face transformers writes, created by the
// test.
#ifndef TRAINYARD_TESTS_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_DIRECTORY_H_
#define TRAINYARD_TESTS_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_DIRECTORY_H_

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace trainyard::trainer {

struct RawTensor {
  std::string dtype;  // "F32", "BF16" or "F16"
  std::vector<int64_t> shape;
  std::string bytes;

  bool operator==(const RawTensor&) const = default;
};

using RawTensors = std::map<std::string, RawTensor>;

// Returns small random values. No value is NaN or infinite in any of the types.
inline RawTensor RandomTensor(const std::string& dtype, std::vector<int64_t> shape,
                              std::mt19937* random) {
  int64_t elements = 1;
  for (const int64_t extent : shape) elements *= extent;
  std::string bytes;
  for (int64_t i = 0; i < elements; ++i) {
    const float value = (static_cast<float>((*random)() % 20001) - 10000) * 1e-5f;
    const char* first = reinterpret_cast<const char*>(&value);
    if (dtype == "F16") {
      // An fp16 number with an arbitrary mantissa and an exponent of 2^-8 to 2^-6.
      const auto half = static_cast<uint16_t>((*random)() % 0x0c00 + 0x1c00);
      bytes.append(reinterpret_cast<const char*>(&half), sizeof(half));
      continue;
    }
    // A bfloat16 is the upper half of a float, which is stored in little-endian order.
    bytes.append(dtype == "BF16" ? first + 2 : first, dtype == "BF16" ? 2 : 4);
  }
  return {dtype, std::move(shape), std::move(bytes)};
}

// A LLaMA with two layers, 4 query heads and 2 key heads of size 8, and a vocabulary of 64 tokens.
inline RawTensors TinyLlama(const std::string& dtype, bool is_tied = false) {
  std::mt19937 random(20261123);
  RawTensors tensors;
  const auto add = [&](const std::string& name, std::vector<int64_t> shape) {
    tensors[name] = RandomTensor(dtype, std::move(shape), &random);
  };
  add("model.embed_tokens.weight", {64, 32});
  add("model.norm.weight", {32});
  if (!is_tied) add("lm_head.weight", {64, 32});
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    add(layer + "input_layernorm.weight", {32});
    add(layer + "post_attention_layernorm.weight", {32});
    add(layer + "self_attn.q_proj.weight", {32, 32});
    add(layer + "self_attn.k_proj.weight", {16, 32});
    add(layer + "self_attn.v_proj.weight", {16, 32});
    add(layer + "self_attn.o_proj.weight", {32, 32});
    add(layer + "mlp.gate_proj.weight", {64, 32});
    add(layer + "mlp.up_proj.weight", {64, 32});
    add(layer + "mlp.down_proj.weight", {32, 64});
  }
  return tensors;
}

// Returns the config.json of the tiny LLaMA as LlamaConfig.save_pretrained of transformers 4.46
// writes it.
inline nlohmann::json TinyLlamaConfig() {
  return nlohmann::json::parse(R"({
    "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
    "bos_token_id": 1, "eos_token_id": 2, "head_dim": 8, "hidden_act": "silu", "hidden_size": 32,
    "initializer_range": 0.02, "intermediate_size": 64, "max_position_embeddings": 128,
    "mlp_bias": false, "model_type": "llama", "num_attention_heads": 4, "num_hidden_layers": 2,
    "num_key_value_heads": 2, "pretraining_tp": 1, "rms_norm_eps": 1e-06, "rope_scaling": null,
    "rope_theta": 500000.0, "tie_word_embeddings": false, "torch_dtype": "float32",
    "transformers_version": "4.46.0", "use_cache": true, "vocab_size": 64})");
}

inline void WriteText(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void WriteSafetensors(const std::string& path, const RawTensors& tensors) {
  nlohmann::json header = {{"__metadata__", {{"format", "pt"}}}};
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    header[name] = {{"dtype", tensor.dtype},
                    {"shape", tensor.shape},
                    {"data_offsets", {data.size(), data.size() + tensor.bytes.size()}}};
    data += tensor.bytes;
  }
  const std::string text = header.dump();
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i) length[i] = static_cast<char>(text.size() >> (8 * i));
  WriteText(path, length + text + data);
}

inline RawTensors ReadSafetensors(const std::string& path) {
  const std::string file = ReadText(path);
  size_t length = 0;
  for (int i = 7; i >= 0; --i) length = length << 8 | static_cast<uint8_t>(file.at(i));
  RawTensors tensors;
  const nlohmann::json header = nlohmann::json::parse(file.substr(8, length));
  for (const auto& [name, value] : header.items()) {
    if (name == "__metadata__") continue;
    const auto begin = value["data_offsets"][0].get<size_t>();
    const auto end = value["data_offsets"][1].get<size_t>();
    tensors[name] = {value["dtype"], value["shape"], file.substr(8 + length + begin, end - begin)};
  }
  return tensors;
}

// Writes the config to config.json and the weights to model.safetensors.
inline void WriteHuggingFace(const std::string& directory, const RawTensors& tensors,
                             const nlohmann::json& config = TinyLlamaConfig()) {
  std::filesystem::create_directories(directory);
  WriteText(directory + "/config.json", config.dump(2));
  WriteSafetensors(directory + "/model.safetensors", tensors);
}

// Writes two shards. The first shard contains the first half of the tensors in the order of their
// names.
inline void WriteHuggingFaceShards(const std::string& directory, const RawTensors& tensors) {
  std::filesystem::create_directories(directory);
  WriteText(directory + "/config.json", TinyLlamaConfig().dump(2));
  nlohmann::json index = {{"metadata", {{"total_size", 0}}}};
  RawTensors shards[2];
  for (const auto& [name, tensor] : tensors) {
    const size_t shard = shards[0].size() < tensors.size() / 2 ? 0 : 1;
    shards[shard][name] = tensor;
    index["weight_map"][name] =
        shard == 0 ? "model-00001-of-00002.safetensors" : "model-00002-of-00002.safetensors";
  }
  WriteSafetensors(directory + "/model-00001-of-00002.safetensors", shards[0]);
  WriteSafetensors(directory + "/model-00002-of-00002.safetensors", shards[1]);
  WriteText(directory + "/model.safetensors.index.json", index.dump(2));
}

// Reads the weights of a directory, whether or not they are sharded.
inline RawTensors ReadHuggingFace(const std::string& directory) {
  RawTensors tensors;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() != ".safetensors") continue;
    tensors.merge(ReadSafetensors(entry.path()));
  }
  return tensors;
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_CHECKPOINT_TOOLS_HUGGING_FACE_DIRECTORY_H_
