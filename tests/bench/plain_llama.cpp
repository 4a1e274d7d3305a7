// The baseline for the trainer in the benchmark: the same LLaMA, with LibTorch's own modules,
// optimizer and loss. Prints the seconds of each step, one per line.
//
//   plain_llama SPEC.json STEPS     the spec that trainyard-trainer reads
#include <torch/torch.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace {

namespace nn = torch::nn;
namespace F = torch::nn::functional;
using torch::Tensor;

struct Shape {
  int64_t layers, hidden, ffn, heads, groups, vocabulary, length, micro_batch, rounds, threads;
};

Shape ReadShape(const char* path) {
  const auto spec = nlohmann::json::parse(std::ifstream(path));
  const auto& model = spec.at("model");
  const auto& train = spec.at("train");
  const int64_t micro_batch = spec.at("layout").at("micro_batch");
  return {model.at("num_layers"),
          model.at("hidden_size"),
          model.at("ffn_hidden_size"),
          model.at("num_attention_heads"),
          model.at("num_query_groups"),
          model.at("vocab_size"),
          train.at("seq_length"),
          micro_batch,
          train.at("global_batch").get<int64_t>() / micro_batch,
          train.at("threads")};
}

nn::Linear Projection(int64_t in, int64_t out) {
  return nn::Linear(nn::LinearOptions(in, out).bias(false));
}

struct RmsNormImpl : nn::Module {
  explicit RmsNormImpl(int64_t size) { weight = register_parameter("weight", torch::ones({size})); }
  Tensor forward(const Tensor& x) {
    return x * torch::rsqrt(x.pow(2).mean(-1, true) + 1e-5) * weight;
  }
  Tensor weight;
};
TORCH_MODULE(RmsNorm);

// x: [batch, heads, length, size].
Tensor Rotate(const Tensor& x, const Tensor& cosine, const Tensor& sine) {
  const auto halves = x.chunk(2, -1);
  return x * cosine + torch::cat({-halves[1], halves[0]}, -1) * sine;
}

struct BlockImpl : nn::Module {
  explicit BlockImpl(const Shape& shape) : shape(shape), size(shape.hidden / shape.heads) {
    query = register_module("query", Projection(shape.hidden, shape.hidden));
    key = register_module("key", Projection(shape.hidden, shape.groups * size));
    value = register_module("value", Projection(shape.hidden, shape.groups * size));
    output = register_module("output", Projection(shape.hidden, shape.hidden));
    gate = register_module("gate", Projection(shape.hidden, shape.ffn));
    up = register_module("up", Projection(shape.hidden, shape.ffn));
    down = register_module("down", Projection(shape.ffn, shape.hidden));
    attention_norm = register_module("attention_norm", RmsNorm(shape.hidden));
    ffn_norm = register_module("ffn_norm", RmsNorm(shape.hidden));
  }

  Tensor forward(const Tensor& x, const Tensor& cosine, const Tensor& sine, const Tensor& mask) {
    const Tensor h = x + Attend(attention_norm(x), cosine, sine, mask);
    const Tensor normed = ffn_norm(h);
    return h + down(F::silu(gate(normed)) * up(normed));
  }

  Tensor Heads(const Tensor& x, int64_t heads) {
    return x.view({x.size(0), x.size(1), heads, size}).transpose(1, 2);
  }

  Tensor Attend(const Tensor& x, const Tensor& cosine, const Tensor& sine, const Tensor& mask) {
    const int64_t repeat = shape.heads / shape.groups;
    const Tensor q = Rotate(Heads(query(x), shape.heads), cosine, sine);
    const Tensor k = Rotate(Heads(key(x), shape.groups), cosine, sine).repeat_interleave(repeat, 1);
    const Tensor v = Heads(value(x), shape.groups).repeat_interleave(repeat, 1);
    const Tensor scores = q.matmul(k.transpose(-2, -1)) / std::sqrt(static_cast<double>(size));
    const Tensor mixed = torch::softmax(scores + mask, -1).matmul(v);
    return output(mixed.transpose(1, 2).reshape({x.size(0), x.size(1), shape.hidden}));
  }

  const Shape shape;
  const int64_t size;
  nn::Linear query{nullptr}, key{nullptr}, value{nullptr}, output{nullptr};
  nn::Linear gate{nullptr}, up{nullptr}, down{nullptr};
  RmsNorm attention_norm{nullptr}, ffn_norm{nullptr};
};
TORCH_MODULE(Block);

// The head and the embedding share their weights.
struct LlamaImpl : nn::Module {
  explicit LlamaImpl(const Shape& shape) {
    embedding = register_module("embedding", nn::Embedding(shape.vocabulary, shape.hidden));
    nn::init::normal_(embedding->weight, 0, 0.02);
    for (int64_t i = 0; i < shape.layers; ++i) blocks->push_back(Block(shape));
    register_module("blocks", blocks);
    norm = register_module("norm", RmsNorm(shape.hidden));
    const int64_t size = shape.hidden / shape.heads;
    const Tensor exponents = torch::arange(0, size, 2, torch::kFloat) / static_cast<double>(size);
    const Tensor positions = torch::arange(shape.length, torch::kFloat);
    const Tensor angles = torch::outer(positions, torch::pow(10000.0, -exponents)).repeat({1, 2});
    cosine = angles.cos();
    sine = angles.sin();
    mask = torch::full({shape.length, shape.length}, -INFINITY).triu(1);
  }

  // tokens: [batch, length + 1].
  Tensor forward(const Tensor& tokens) {
    const int64_t length = tokens.size(1) - 1;
    Tensor x = embedding(tokens.narrow(1, 0, length));
    for (const auto& block : *blocks) x = block->as<Block>()->forward(x, cosine, sine, mask);
    const Tensor logits = norm(x).matmul(embedding->weight.t());
    return F::cross_entropy(logits.flatten(0, 1), tokens.narrow(1, 1, length).flatten());
  }

  nn::Embedding embedding{nullptr};
  nn::ModuleList blocks;
  RmsNorm norm{nullptr};
  Tensor cosine, sine, mask;
};
TORCH_MODULE(Llama);

void Train(const Shape& shape, int64_t steps) {
  torch::manual_seed(1);
  Llama model(shape);
  torch::optim::AdamW optimizer(
      model->parameters(),
      torch::optim::AdamWOptions(3e-4).betas(std::make_tuple(0.9, 0.95)).weight_decay(0.1));
  for (int64_t step = 0; step < steps; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    optimizer.zero_grad();
    for (int64_t round = 0; round < shape.rounds; ++round) {
      const Tensor tokens = torch::randint(shape.vocabulary, {shape.micro_batch, shape.length + 1});
      (model->forward(tokens) / static_cast<double>(shape.rounds)).backward();
    }
    nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    optimizer.step();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%.6f\n", seconds.count());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: plain_llama SPEC.json STEPS\n");
    return 2;
  }
  const Shape shape = ReadShape(argv[1]);
  torch::set_num_threads(static_cast<int>(shape.threads));
  Train(shape, std::atoll(argv[2]));
  return 0;
}
