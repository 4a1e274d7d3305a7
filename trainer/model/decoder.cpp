#include "trainer/model/decoder.h"

#include <string>
#include <utility>

#include "proto/model/expert_capacity.h"
#include "proto/model/model_size.h"
#include "trainer/model/attention/rotary_settings.h"
#include "trainer/model/block_use.h"
#include "trainer/model/tokens_ahead.h"
#include "trainer/ops/tensors/compute_type.h"

namespace trainyard::trainer {
namespace {

using torch::Tensor;

constexpr char kTableName[] = "model.embed_tokens.weight";
constexpr char kHeadName[] = "lm_head.weight";

constexpr char kPositionTableName[] = "model.embed_positions.weight";

bool HasLearnedPositions(const ModelConfig& model) {
  return model.position_embedding_type == PositionEmbedding::kLearnedAbsolute;
}

bool IsTied(const ModelConfig& model) { return !model.untie_embeddings_and_output_weights; }

}  // namespace

class Decoder::Groups {
 public:
  Groups(const ModelConfig& model, const ModelParallel& parallel)
      : model_(model), parallel_(parallel) {
    const PipelinePlace& place = parallel.pipeline;
    first_of_layer_.resize(LayersWithMtp(model), -1);
    groups_of_layer_.resize(LayersWithMtp(model));
    for (int64_t chunk = place.chunks - 1; chunk >= 0; --chunk) {
      if (place.HasHead(chunk)) {
        AddMtpModules();
        AddHead();
      }
      const IndexRange layers = place.Layers(model.num_layers, chunk);
      for (int64_t layer = layers.end() - 1; layer >= layers.first; --layer) AddLayer(layer);
      if (!place.HasEmbedding(chunk)) continue;
      table_group_ = AddTable(/*is_first_holder=*/true);
      table_ = first_;
      if (HasLearnedPositions(model_)) AddPositions();
    }
  }

  const std::vector<GroupDeclaration>& declarations() const { return groups_; }
  int64_t FirstOfLayer(int64_t layer) const { return first_of_layer_[layer]; }
  const BlockGroups& OfLayer(int64_t layer) const { return groups_of_layer_[layer]; }

  // Indices of parameters and groups; -1 if this rank does not have the parameter or group.
  int64_t table_ = -1;
  int64_t table_group_ = -1;
  int64_t positions_ = -1;
  int64_t position_group_ = -1;
  int64_t head_norm_ = -1;
  int64_t head_group_ = -1;
  int64_t head_weight_ = -1;  // -1: the head uses this rank's token table.
  int64_t head_weight_group_ = -1;
  int64_t shared_group_ = -1;
  // The last stage's copy of the token table; -1: none, or the first stage is the last.
  int64_t end_table_ = -1;
  int64_t end_table_group_ = -1;
  // First parameter and group of each module of multi-token prediction, without its block.
  std::vector<int64_t> mtp_;
  std::vector<int64_t> mtp_groups_;

 private:
  // Adds a group and returns its index. Sets first_ to the index of the group's first parameter.
  int64_t Add(GroupDeclaration group) {
    first_ = next_;
    next_ += static_cast<int64_t>(group.parameters.size());
    groups_.push_back(std::move(group));
    return static_cast<int64_t>(groups_.size()) - 1;
  }

  void AddLayer(int64_t layer) {
    first_of_layer_[layer] = next_;
    for (GroupDeclaration& group : Block::Declare(model_, layer, parallel_)) {
      BlockGroups& groups = groups_of_layer_[layer];
      const bool has_experts = group.kind == ParameterKind::kExpert;
      (has_experts ? groups.experts : groups.dense) = Add(std::move(group));
    }
  }

  void AddMtpModules() {
    mtp_.resize(model_.mtp_num_layers);
    mtp_groups_.resize(model_.mtp_num_layers);
    for (int64_t module = model_.mtp_num_layers - 1; module >= 0; --module) {
      const int64_t layer = model_.num_layers + module;
      AddLayer(layer);
      mtp_groups_[module] = Add({Decoder::kMtpGroup + std::to_string(module),
                                 MtpModule::Declare(model_, layer, parallel_.tensor)});
      mtp_[module] = first_;
    }
  }

  int64_t AddTable(bool is_first_holder) {
    ParameterDeclaration table = DeclareVocabularyMatrix(model_, kTableName, parallel_.tensor);
    table.slices.front().is_first_holder = is_first_holder;
    const int64_t group = Add({kEmbeddingGroup, {std::move(table)}});
    const bool has_both = parallel_.pipeline.stages == 1;
    if (HasTableAtBothEnds(model_) && !has_both) shared_group_ = group;
    return group;
  }

  void AddPositions() {
    position_group_ = Add({Decoder::kPositionGroup,
                           {DeclarePositionMatrix(model_, kPositionTableName, parallel_.tensor)}});
    positions_ = first_;
  }

  void AddHead() {
    const NormForm norm = NormFormOf(model_);
    GroupDeclaration head{kHeadGroup,
                          DeclareNorm("model.norm", model_.hidden_size, norm, parallel_.tensor)};
    if (!IsTied(model_)) {
      head.parameters.push_back(DeclareVocabularyMatrix(model_, kHeadName, parallel_.tensor));
    }
    head_group_ = Add(std::move(head));
    head_norm_ = first_;
    if (!IsTied(model_)) {
      head_weight_ = first_ + norm.vectors;
      head_weight_group_ = head_group_;
    }
    if (parallel_.pipeline.stages == 1 || !HasTableAtBothEnds(model_)) return;
    const int64_t group = AddTable(/*is_first_holder=*/false);
    end_table_ = first_;
    end_table_group_ = group;
    if (!IsTied(model_)) return;
    head_weight_ = end_table_;
    head_weight_group_ = end_table_group_;
  }

  const ModelConfig& model_;
  const ModelParallel& parallel_;
  std::vector<GroupDeclaration> groups_;
  std::vector<int64_t> first_of_layer_;
  std::vector<BlockGroups> groups_of_layer_;
  int64_t first_ = 0;
  int64_t next_ = 0;
};

Decoder::Decoder(const ModelConfig& model, const DecoderOptions& options)
    : model_(model), options_(options) {
  const Groups groups(model_, options_.parallel);
  parameters_ = std::make_unique<ParameterStore>(groups.declarations(), options.type,
                                                 options.device, options.seed, options.parts);
  MakeExpertBalance();
  MakeFp8(groups);
  MakeParts(groups);
}

void Decoder::MakeFp8(const Groups& groups) {
  if (options_.fp8.recipe == Fp8Recipe::kNone) return;
  fp8_ = std::make_unique<Fp8Parameters>(options_.fp8, model_, *parameters_);
  for (int64_t layer = 0; layer < LayersWithMtp(model_); ++layer) {
    const int64_t first = groups.FirstOfLayer(layer);
    if (first < 0) continue;  // The layer belongs to another stage.
    const auto numbers = Block::MatricesOf({layer, first}, model_);
    const Fp8Matrices& uses = Fp8MatricesIn(layer, model_, options_.fp8);
    for (int64_t matrix = 0; matrix < kBlockMatrices; ++matrix) {
      if (!uses[matrix] || numbers[matrix] < 0) continue;
      fp8_->Add(numbers[matrix], Fp8MatrixNumber(layer, static_cast<BlockMatrix>(matrix)));
    }
  }
  parameters_->UseFp8(*fp8_);
  parameters_->OnValuesDropped([fp8 = fp8_.get()](int64_t group) { fp8->Drop(group); });
}

void Decoder::PrepareWeights() const {
  if (fp8_ != nullptr) fp8_->ScaleWeights();
}

const char* Decoder::HeadTensor(const ModelConfig& model) {
  return IsTied(model) ? kTableName : kHeadName;
}

void Decoder::MakeExpertBalance() {
  if (!HasExperts(model_)) return;
  const int64_t layers = LayersWithMtp(model_);
  const auto options = torch::TensorOptions().device(options_.device);
  balance_.load = torch::zeros({layers, model_.num_experts}, options.dtype(torch::kInt64));
  balance_.dropped = torch::zeros({layers}, options.dtype(torch::kInt64));
  balance_.figures = torch::zeros({layers, kRouterFigures}, options.dtype(torch::kFloat64));
  if (!model_.moe_router_enable_expert_bias) return;
  balance_.bias = torch::zeros({layers, model_.num_experts}, options.dtype(torch::kFloat32));
}

void Decoder::MakeParts(const Groups& groups) {
  const TensorParallel& tensor = options_.parallel.tensor;
  BlockOptions plain = options_.blocks;
  plain.recompute = Recompute::kNone;
  for (int64_t c = 0; c < place().chunks; ++c) {
    Chunk& chunk = chunks_.emplace_back();
    const IndexRange layers = place().Layers(model_.num_layers, c);
    for (int64_t layer = layers.first; layer < layers.end(); ++layer) {
      const bool recomputes =
          options_.recomputed_layers == 0 || layer - layers.first < options_.recomputed_layers;
      chunk.blocks.emplace_back(model_, *parameters_, BlockPlace{layer, groups.FirstOfLayer(layer)},
                                recomputes ? options_.blocks : plain, options_.parallel);
      chunk.block_groups.push_back(groups.OfLayer(layer));
    }
    if (place().HasHead(c)) chunk.head_group = groups.head_group_;
    if (!place().HasEmbedding(c)) continue;
    chunk.embedding_group = groups.table_group_;
    chunk.position_group = groups.position_group_;
  }
  shared_embedding_group_ = groups.shared_group_;
  end_table_group_ = groups.end_table_group_;
  const IndexRange vocabulary = VocabularyHere(model_, tensor);
  if (groups.table_ >= 0) {
    embedding_.emplace(*parameters_,
                       Embedding::Parameters{.table = groups.table_,
                                             .first_token = vocabulary.first,
                                             .positions = groups.positions_},
                       tensor);
  }
  if (groups.head_norm_ < 0) return;
  const bool uses_table = groups.head_weight_ < 0;
  head_weight_group_ = uses_table ? groups.table_group_ : groups.head_weight_group_;
  head_.emplace(
      *parameters_, Norm(*parameters_, groups.head_norm_, NormFormOf(model_)),
      Head::Parameters{.weight = uses_table ? groups.table_ : groups.head_weight_,
                       .first_token = vocabulary.first,
                       .largest_part = PartOf(model_.vocab_size, tensor.size(), 0).length},
      tensor);
  if (model_.mtp_num_layers > 0) MakeMtpModules(groups);
}

void Decoder::MakeMtpModules(const Groups& groups) {
  const bool has_both = groups.table_ >= 0;
  MultiTokenPrediction::Modules modules;
  modules.embedding_group = has_both ? groups.table_group_ : groups.end_table_group_;
  for (int64_t module = 0; module < model_.mtp_num_layers; ++module) {
    const int64_t layer = model_.num_layers + module;
    modules.modules.emplace_back(
        model_, *parameters_, groups.mtp_[module],
        Block(model_, *parameters_, BlockPlace{layer, groups.FirstOfLayer(layer)}, options_.blocks,
              options_.parallel));
    modules.groups.push_back({groups.OfLayer(layer), groups.mtp_groups_[module]});
  }
  const TensorParallel& tensor = options_.parallel.tensor;
  const Embedding embedding(*parameters_,
                            {.table = has_both ? groups.table_ : groups.end_table_,
                             .first_token = VocabularyHere(model_, tensor).first},
                            tensor);
  mtp_.emplace(std::move(modules), embedding, *head_);
  mtp_loss_ = torch::zeros({}, torch::dtype(torch::kFloat64).device(options_.device));
}

// Tensor-parallel ranks have slices of the same tensors, but each rank has different experts.
std::vector<LogicalTensorSlice> Decoder::TensorsOfStage() const {
  ModelParallel undivided = options_.parallel;
  undivided.expert = {};
  const Groups groups(model_, undivided);
  std::vector<LogicalTensorSlice> tensors;
  for (const GroupDeclaration& group : groups.declarations()) {
    for (const ParameterDeclaration& parameter : group.parameters) {
      tensors.insert(tensors.end(), parameter.slices.begin(), parameter.slices.end());
    }
  }
  return tensors;
}

std::vector<int64_t> Decoder::GroupsOf(int64_t chunk) const {
  std::vector<int64_t> groups;
  const Chunk& here = chunks_[chunk];
  if (here.position_group >= 0) groups.push_back(here.position_group);
  if (here.embedding_group >= 0) groups.push_back(here.embedding_group);
  for (const BlockGroups& block : here.block_groups) {
    groups.push_back(block.dense);
    if (block.experts >= 0) groups.push_back(block.experts);
  }
  if (here.head_group < 0) return groups;
  groups.push_back(here.head_group);
  const bool is_apart = head_weight_group_ != here.head_group && !embedding_.has_value();
  if (is_apart) groups.push_back(head_weight_group_);
  return groups;
}

// `length` is the number of tokens per sample over all ranks.
const RotaryTable& Decoder::Rotary(int64_t length) const {
  if (rotary_length_ != length && !HasLearnedPositions(model_)) {
    const ContextParallel& context = options_.parallel.context;
    const ContextParallel whole;
    const Tensor positions = options_.documents.reset_positions
                                 ? whole.PositionsOf(0, length, options_.device)
                                 : context.PositionsOf(context.index(), length, options_.device);
    rotary_ = MakeRotaryTable(positions, RotarySize(model_), FrequenciesOf(model_),
                              ComputeType(options_.type));
    rotary_length_ = length;
  }
  return rotary_;
}

// Returns the positions of this rank's tokens of a micro-batch, int64 [rows]. Undefined if the
// model has no learned positions. `length` is the number of tokens per sample over all ranks.
Tensor Decoder::LearnedPositions(const MicroBatch& micro_batch, int64_t length) const {
  if (!HasLearnedPositions(model_)) return Tensor();
  if (micro_batch.position_ids.defined()) return micro_batch.position_ids;
  const ContextParallel& context = options_.parallel.context;
  return context.PositionsOf(context.index(), length, options_.device).repeat({micro_batch.batch});
}

// Selects the values of this rank's tokens, [rows], from `of_tokens`, the values of whole samples,
// [batch, length].
Tensor Decoder::OnThisRank(const Tensor& of_tokens) const {
  const ContextParallel& context = options_.parallel.context;
  if (context.size() == 1) return of_tokens.reshape({-1});
  const Tensor positions =
      context.PositionsOf(context.index(), of_tokens.size(1), of_tokens.device());
  return of_tokens.index_select(1, positions).reshape({-1});
}

// `tokens` contains whole samples, [batch, length].
void Decoder::MarkDocuments(const Tensor& tokens, MicroBatch& micro_batch) const {
  const DocumentOptions& documents = options_.documents;
  if (!documents.any()) return;
  const Tensor starts = DocumentStarts(tokens, documents.end_token);
  if (documents.reset_attention) {
    micro_batch.document_starts =
        options_.parallel.context.exchanges_heads()
            ? starts
            : OnThisRank(starts).view({micro_batch.batch, micro_batch.length});
    if (options_.blocks.attention == AttentionKernel::kCudnn) {
      micro_batch.document_bias = DocumentBias(micro_batch.document_starts);
    }
  }
  if (!documents.reset_positions) return;
  micro_batch.position_ids = OnThisRank(torch::arange(tokens.size(1), tokens.options()) - starts);
  if (HasLearnedPositions(model_)) return;
  micro_batch.rotary = {micro_batch.rotary.cos.index_select(0, micro_batch.position_ids),
                        micro_batch.rotary.sin.index_select(0, micro_batch.position_ids)};
}

MicroBatch Decoder::Begin(int64_t chunk, const TrainingTokens& batch, Stash::Mode mode) const {
  const int64_t samples = batch.tokens.size(0), length = batch.tokens.size(1) - 1;
  MicroBatch micro_batch{samples, length / options_.parallel.context.size(), Rotary(length),
                         Stash(mode)};
  micro_batch.share = batch.share;
  micro_batch.records_amax = mode == Stash::Mode::kKeep;
  micro_batch.balance = mode == Stash::Mode::kKeep ? balance_ : balance_.WithoutCounts();
  MarkDocuments(batch.tokens.narrow(1, 0, length), micro_batch);
  if (place().HasEmbedding(chunk)) {
    micro_batch.inputs = OnThisRank(batch.tokens.narrow(1, 0, length));
    micro_batch.positions = LearnedPositions(micro_batch, length);
  }
  if (place().HasHead(chunk)) {
    micro_batch.targets = {OnThisRank(batch.tokens.narrow(1, 1, length)),
                           OnThisRank(batch.loss_weights.view({samples, length}))};
    if (mode == Stash::Mode::kKeep) LookAheadFor(batch, micro_batch);
  }
  return micro_batch;
}

// Sets the tokens of the modules of multi-token prediction. The training loss contains the mean of
// the modules' losses, times a factor.
void Decoder::LookAheadFor(const TrainingTokens& batch, MicroBatch& micro_batch) const {
  const int64_t samples = batch.tokens.size(0), length = batch.tokens.size(1) - 1;
  const double factor = model_.mtp_loss_scaling_factor / static_cast<double>(model_.mtp_num_layers);
  for (int64_t distance = 1; distance <= model_.mtp_num_layers; ++distance) {
    TokensAhead ahead =
        LookAhead(batch.tokens, batch.loss_weights.view({samples, length}), distance);
    if (options_.documents.reset_attention) {
      MaskOtherDocuments(
          DocumentStarts(batch.tokens.narrow(1, 0, length), options_.documents.end_token), distance,
          ahead);
    }
    micro_batch.ahead.push_back(
        {OnThisRank(ahead.inputs),
         {OnThisRank(ahead.targets), OnThisRank(ahead.weights).mul(factor)}});
  }
}

Tensor Decoder::NewActivations(int64_t samples, int64_t length) const {
  const int64_t rows = samples * (length / options_.parallel.context.size());
  return torch::empty({options_.parallel.tensor.RowsHere(rows), model_.hidden_size},
                      parameters_->values().options());
}

Tensor Decoder::Forward(int64_t chunk, Tensor x, MicroBatch& micro_batch) const {
  const Chunk& here = chunks_[chunk];
  if (here.embedding_group >= 0) {
    std::optional<WeightUse> use_positions;
    if (here.position_group >= 0) {
      use_positions.emplace(*access_, here.position_group, Pass::kForward);
    }
    const WeightUse use(*access_, here.embedding_group, Pass::kForward);
    x = embedding_->Forward(micro_batch);
  }
  for (size_t i = 0; i < here.blocks.size(); ++i) {
    const BlockUse use(*access_, here.block_groups[i], Pass::kForward);
    x = here.blocks[i].Forward(x, micro_batch);
  }
  return x;
}

Tensor Decoder::LossAndGradient(const Tensor& x, const MicroBatch& micro_batch, Tensor& loss,
                                WeightGradients& gradients) const {
  const int64_t group = chunks_.back().head_group;
  const WeightUse use(*access_, group, Pass::kForward);
  const WeightUse use_matrix(*access_, head_weight_group_, Pass::kForward);
  const Norm::Result normal = head_->norm().Forward(x);
  Tensor gradient = head_->LossAndGradient(normal.y, micro_batch.targets, loss, gradients);
  if (mtp_.has_value()) {
    Tensor sum = mtp_loss_;
    gradient.add_(mtp_->LossAndGradient(normal.y, micro_batch, *access_, sum, gradients));
  }
  gradient = head_->norm().Backward(std::move(gradient), x, normal.statistics, Tensor(), gradients);
  gradients.FinishGroup(group);
  // If this rank also has the embedding, the gradient of the token table is complete only after the
  // embedding's backward pass.
  if (end_table_group_ >= 0) gradients.FinishGroup(end_table_group_);
  return gradient;
}

void Decoder::Loss(const Tensor& x, const MicroBatch& micro_batch, Tensor& loss) const {
  const WeightUse use(*access_, chunks_.back().head_group, Pass::kForward);
  const WeightUse use_matrix(*access_, head_weight_group_, Pass::kForward);
  head_->Loss(x, micro_batch.targets, loss);
}

Tensor Decoder::Backward(int64_t chunk, Tensor dy, MicroBatch& micro_batch,
                         WeightGradients& gradients) const {
  const Chunk& here = chunks_[chunk];
  for (size_t i = here.blocks.size(); i-- > 0;) {
    const BlockUse use(*access_, here.block_groups[i], Pass::kBackward);
    dy = here.blocks[i].Backward(dy, micro_batch, gradients);
    gradients.FinishGroup(here.block_groups[i].dense);
  }
  if (here.embedding_group < 0) return dy;
  embedding_->Backward(dy, micro_batch, gradients);
  gradients.FinishGroup(here.embedding_group);
  if (here.position_group >= 0) gradients.FinishGroup(here.position_group);
  return Tensor();
}

void Decoder::ForwardBackward(const TrainingTokens& batch, Tensor& loss,
                              WeightGradients& gradients) const {
  PrepareWeights();
  MicroBatch micro_batch = Begin(0, batch, Stash::Mode::kKeep);
  const Tensor x = Forward(0, Tensor(), micro_batch);
  Backward(0, LossAndGradient(x, micro_batch, loss, gradients), micro_batch, gradients);
}

void Decoder::Loss(const TrainingTokens& batch, Tensor& loss) const {
  PrepareWeights();
  MicroBatch micro_batch = Begin(0, batch, Stash::Mode::kDiscard);
  Loss(Forward(0, Tensor(), micro_batch), micro_batch, loss);
}

Tensor Decoder::Logits(const Tensor& tokens) const {
  PrepareWeights();
  MicroBatch micro_batch{tokens.size(0), tokens.size(1), Rotary(tokens.size(1)),
                         Stash(Stash::Mode::kDiscard)};
  micro_batch.balance = balance_.WithoutCounts();
  MarkDocuments(tokens, micro_batch);
  micro_batch.inputs = tokens.reshape({-1});
  micro_batch.positions = LearnedPositions(micro_batch, tokens.size(1));
  return head_->Logits(Forward(0, Tensor(), micro_batch))
      .view({tokens.size(0), tokens.size(1), model_.vocab_size});
}

}  // namespace trainyard::trainer
