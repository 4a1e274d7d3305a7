#include "trainer/kernels/attention/attention_graph.h"

#include <limits>

namespace trainyard::trainer::kernels {
namespace {

// The score given to a key before the window. The exponential of this score is 0 relative to the
// exponential of a visible key. The score is finite, because an entire block of keys may be outside
// of a query's window, and the difference of two infinite scores would be NaN.
constexpr float kOutsideOfWindow = -1e30F;

// The layouts of the tensors for one shape. The dimensions are always [batch, heads, length,
// size of a head], whatever the order in memory.
class Layouts {
 public:
  explicit Layouts(const AttentionShape& shape) : shape_(shape) {}

  CudnnLayout QueryRows(const AttentionStrides& strides) const {
    return Rows(shape_.query_heads, shape_.query_length, shape_.head_size, strides);
  }
  CudnnLayout KeyRows(const AttentionStrides& strides) const {
    return Rows(shape_.key_heads, shape_.key_length, shape_.head_size, strides);
  }
  CudnnLayout ValueRows(const AttentionStrides& strides) const {
    return Rows(shape_.key_heads, shape_.key_length, shape_.value_head_size, strides);
  }
  CudnnLayout OutRows(const AttentionStrides& strides) const {
    return Rows(shape_.query_heads, shape_.query_length, shape_.value_head_size, strides);
  }
  // One row for each query of each query head, without gaps.
  CudnnLayout QueryHeads() const { return PerQuery(shape_.head_size); }
  CudnnLayout OutHeads() const { return PerQuery(shape_.value_head_size); }
  // One row of `size` elements for each key of each query head.
  CudnnLayout KeysOfQueryHeads(int64_t size) const {
    return DenseLayout(shape_.batch, shape_.query_heads, shape_.key_length, size);
  }
  CudnnLayout Scores() const {
    return DenseLayout(shape_.batch, shape_.query_heads, shape_.query_length, shape_.key_length);
  }
  // One bias, shared by all heads.
  CudnnLayout Bias() const {
    return DenseLayout(shape_.batch, 1, shape_.query_length, shape_.key_length);
  }
  CudnnLayout PerRow() const {
    return DenseLayout(shape_.batch, shape_.query_heads, shape_.query_length, 1);
  }

 private:
  CudnnLayout PerQuery(int64_t size) const {
    return DenseLayout(shape_.batch, shape_.query_heads, shape_.query_length, size);
  }
  CudnnLayout Rows(int64_t heads, int64_t length, int64_t size,
                   const AttentionStrides& strides) const {
    return {{shape_.batch, heads, length, size}, {strides.batch, strides.head, strides.token, 1}};
  }

  AttentionShape shape_;
};

// Adds operations to a graph: operations that both passes share, and operations of each pass.
class Builder {
 public:
  Builder(const AttentionShape& shape, CudnnGraph& graph)
      : shape_(shape),
        layouts_(shape),
        graph_(graph),
        type_(shape.type == ElementType::kFloat16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16),
        scale_(graph.AddScalar(shape.scale)) {}

  AttentionForwardTensors Forward();
  AttentionBackwardTensors Backward();

 private:
  CudnnTensor Memory(const CudnnLayout& layout) { return graph_.AddMemory(layout, type_); }
  CudnnTensor ScoresOf(cudnnPointwiseMode_t mode, std::initializer_list<CudnnTensor> inputs) {
    const CudnnTensor output = graph_.AddVirtual(layouts_.Scores(), CUDNN_DATA_FLOAT);
    graph_.Pointwise(mode, inputs, output);
    return output;
  }
  CudnnTensor ScoresMatmul(CudnnTensor a, CudnnTensor b) {
    const CudnnTensor output = graph_.AddVirtual(layouts_.Scores(), CUDNN_DATA_FLOAT);
    graph_.Matmul(a, b, output);
    return output;
  }
  CudnnTensor PerRow() { return graph_.AddVirtual(layouts_.PerRow(), CUDNN_DATA_FLOAT); }
  CudnnTensor PerRowMemory() { return graph_.AddMemory(layouts_.PerRow(), CUDNN_DATA_FLOAT); }

  CudnnTensor BiasMemory() { return shape_.biased ? Memory(layouts_.Bias()) : CudnnTensor{}; }
  CudnnTensor ScaledScores(CudnnTensor query, CudnnTensor key, CudnnTensor bias);
  CudnnTensor IndexOf(int64_t axis, CudnnTensor scores);
  CudnnTensor Keep(CudnnTensor scores, cudnnPointwiseMode_t comparison, CudnnTensor a,
                   CudnnTensor b, float excluded);
  CudnnTensor Mask(CudnnTensor scores);
  CudnnTensor Softmax(CudnnTensor scores, CudnnTensor log_sum_exp);
  AttentionBackwardTensors AddBackwardMemory();
  void SumRows(const AttentionBackwardTensors& tensors);
  CudnnTensor Probabilities(const AttentionBackwardTensors& tensors);
  CudnnTensor ScoreGradient(const AttentionBackwardTensors& tensors, CudnnTensor probabilities);
  void MultiplyTransposed(CudnnTensor scores, CudnnTensor rows, int64_t size, CudnnTensor output);
  void QueryGradient(const AttentionBackwardTensors& tensors, CudnnTensor score_gradient);

  AttentionShape shape_;
  Layouts layouts_;
  CudnnGraph& graph_;
  const cudnnDataType_t type_;  // The type of all tensors in memory except statistics.
  CudnnTensor scale_;
};

CudnnTensor Builder::ScaledScores(CudnnTensor query, CudnnTensor key, CudnnTensor bias) {
  const CudnnTensor product = ScoresMatmul(query, key);
  const CudnnTensor scaled = ScoresOf(CUDNN_POINTWISE_MUL, {product, scale_});
  return shape_.biased ? ScoresOf(CUDNN_POINTWISE_ADD, {scaled, bias}) : scaled;
}

CudnnTensor Builder::IndexOf(int64_t axis, CudnnTensor scores) {
  const CudnnTensor index = graph_.AddVirtual(layouts_.Scores(), CUDNN_DATA_INT32);
  graph_.Index(axis, scores, index);
  return index;
}

// Keeps each score for which the comparison of a and b is true. Replaces the other scores with
// `excluded`.
CudnnTensor Builder::Keep(CudnnTensor scores, cudnnPointwiseMode_t comparison, CudnnTensor a,
                          CudnnTensor b, float excluded) {
  const CudnnTensor kept = graph_.AddVirtual(layouts_.Scores(), CUDNN_DATA_BOOLEAN);
  graph_.Pointwise(comparison, {a, b}, kept);
  return ScoresOf(CUDNN_POINTWISE_BINARY_SELECT, {scores, graph_.AddScalar(excluded), kept});
}

// Replaces the scores of keys that are not visible. Engines recognize a window only as a second
// comparison, after the causal comparison: column + window > row, with the sum in floating point.
CudnnTensor Builder::Mask(CudnnTensor scores) {
  if (!shape_.causal) return scores;
  const CudnnTensor row = IndexOf(2, scores), column = IndexOf(3, scores);
  const CudnnTensor causal =
      Keep(scores, CUDNN_POINTWISE_CMP_GE, row, column, -std::numeric_limits<float>::infinity());
  if (shape_.window == 0) return causal;
  const CudnnTensor own_row = IndexOf(2, causal), own_column = IndexOf(3, causal);
  const CudnnTensor window = graph_.AddScalar(static_cast<float>(shape_.window));
  const CudnnTensor end = ScoresOf(CUDNN_POINTWISE_ADD, {own_column, window});
  return Keep(causal, CUDNN_POINTWISE_CMP_GT, end, own_row, kOutsideOfWindow);
}

CudnnTensor Builder::Softmax(CudnnTensor scores, CudnnTensor log_sum_exp) {
  const CudnnTensor maximum = PerRow();
  graph_.Reduce(CUDNN_REDUCE_TENSOR_MAX, scores, maximum);
  const CudnnTensor shifted = ScoresOf(CUDNN_POINTWISE_SUB, {scores, maximum});
  const CudnnTensor powers = ScoresOf(CUDNN_POINTWISE_EXP, {shifted});
  const CudnnTensor sum = PerRow();
  graph_.Reduce(CUDNN_REDUCE_TENSOR_ADD, powers, sum);
  const CudnnTensor logarithm = PerRow();
  graph_.Pointwise(CUDNN_POINTWISE_LOG, {sum}, logarithm);
  graph_.Pointwise(CUDNN_POINTWISE_ADD, {maximum, logarithm}, log_sum_exp);
  // 16 bits, because tensor cores multiply the probabilities with the values.
  const CudnnTensor output = graph_.AddVirtual(layouts_.Scores(), type_);
  graph_.Pointwise(CUDNN_POINTWISE_DIV, {powers, sum}, output);
  return output;
}

AttentionForwardTensors Builder::Forward() {
  const AttentionForwardTensors tensors = {
      .query = Memory(layouts_.QueryRows(shape_.query)),
      .key = Memory(TransposedLayout(layouts_.KeyRows(shape_.key))),
      .value = Memory(layouts_.ValueRows(shape_.value)),
      .bias = BiasMemory(),
      .out = Memory(layouts_.OutRows(shape_.out)),
      .log_sum_exp = PerRowMemory(),
  };
  const CudnnTensor scaled = ScaledScores(tensors.query, tensors.key, tensors.bias);
  const CudnnTensor probabilities = Softmax(Mask(scaled), tensors.log_sum_exp);
  graph_.Matmul(probabilities, tensors.value, tensors.out);
  return tensors;
}

AttentionBackwardTensors Builder::AddBackwardMemory() {
  return {
      .query = Memory(layouts_.QueryRows(shape_.query)),
      .key = Memory(TransposedLayout(layouts_.KeyRows(shape_.key))),
      .value = Memory(TransposedLayout(layouts_.ValueRows(shape_.value))),
      .bias = BiasMemory(),
      .out = Memory(layouts_.OutRows(shape_.out)),
      .dout = Memory(layouts_.OutRows(shape_.dout)),
      .log_sum_exp = PerRowMemory(),
      .row_sum = PerRowMemory(),
      .query_sum = shape_.deterministic ? CudnnTensor{}
                                        : graph_.AddMemory(layouts_.QueryHeads(), CUDNN_DATA_FLOAT),
      .d_query = Memory(layouts_.QueryRows(shape_.d_query)),
      .d_key = Memory(layouts_.KeyRows(shape_.d_key)),
      .d_value = Memory(layouts_.ValueRows(shape_.d_value)),
  };
}

// Computes row_sum, the sum of dout * out per row. The gradient of a softmax subtracts row_sum.
void Builder::SumRows(const AttentionBackwardTensors& tensors) {
  const CudnnTensor product = graph_.AddVirtual(layouts_.OutHeads(), CUDNN_DATA_FLOAT);
  graph_.Pointwise(CUDNN_POINTWISE_MUL, {tensors.dout, tensors.out}, product);
  const CudnnTensor sum = PerRow();
  graph_.Reduce(CUDNN_REDUCE_TENSOR_ADD, product, sum);
  // Multiplies by 1, because engines recognize the graph only with this factor. The factor exists
  // for dropout.
  graph_.Pointwise(CUDNN_POINTWISE_MUL, {sum, graph_.AddScalar(1.0F)}, tensors.row_sum);
}

CudnnTensor Builder::Probabilities(const AttentionBackwardTensors& tensors) {
  const CudnnTensor scaled = ScaledScores(tensors.query, tensors.key, tensors.bias);
  const CudnnTensor shifted = ScoresOf(CUDNN_POINTWISE_SUB, {scaled, tensors.log_sum_exp});
  return ScoresOf(CUDNN_POINTWISE_EXP, {Mask(shifted)});
}

CudnnTensor Builder::ScoreGradient(const AttentionBackwardTensors& tensors,
                                   CudnnTensor probabilities) {
  const CudnnTensor product = ScoresMatmul(tensors.dout, tensors.value);
  const CudnnTensor shifted = ScoresOf(CUDNN_POINTWISE_SUB, {product, tensors.row_sum});
  const CudnnTensor gradient = ScoresOf(CUDNN_POINTWISE_MUL, {shifted, probabilities});
  return ScoresOf(CUDNN_POINTWISE_MUL, {gradient, scale_});
}

// Computes output = scores^T rows, where a row of the output has `size` elements. Sums over the
// query heads that share one head of the output.
void Builder::MultiplyTransposed(CudnnTensor scores, CudnnTensor rows, int64_t size,
                                 CudnnTensor output) {
  const CudnnTensor transposed = graph_.AddVirtual(TransposedLayout(layouts_.Scores()), type_);
  graph_.Reshape(scores, transposed);
  if (shape_.query_heads == shape_.key_heads) {
    graph_.Matmul(transposed, rows, output);
    return;
  }
  const CudnnTensor per_query = graph_.AddVirtual(layouts_.KeysOfQueryHeads(size), type_);
  graph_.Matmul(transposed, rows, per_query);
  graph_.Reduce(CUDNN_REDUCE_TENSOR_ADD, per_query, output);
}

void Builder::QueryGradient(const AttentionBackwardTensors& tensors, CudnnTensor score_gradient) {
  const CudnnTensor key = graph_.AddVirtual(layouts_.KeyRows(shape_.key), type_);
  graph_.Reshape(tensors.key, key);
  if (shape_.deterministic) {
    graph_.Matmul(score_gradient, key, tensors.d_query);
    return;
  }
  graph_.Matmul(score_gradient, key, tensors.query_sum);
  graph_.Pointwise(CUDNN_POINTWISE_IDENTITY, {tensors.query_sum}, tensors.d_query);
}

AttentionBackwardTensors Builder::Backward() {
  const AttentionBackwardTensors tensors = AddBackwardMemory();
  SumRows(tensors);
  const CudnnTensor probabilities = Probabilities(tensors);
  MultiplyTransposed(probabilities, tensors.dout, shape_.value_head_size, tensors.d_value);
  const CudnnTensor score_gradient = ScoreGradient(tensors, probabilities);
  MultiplyTransposed(score_gradient, tensors.query, shape_.head_size, tensors.d_key);
  QueryGradient(tensors, score_gradient);
  return tensors;
}

}  // namespace

AttentionForwardTensors BuildAttentionForward(const AttentionShape& shape, CudnnGraph& graph) {
  return Builder(shape, graph).Forward();
}

AttentionBackwardTensors BuildAttentionBackward(const AttentionShape& shape, CudnnGraph& graph) {
  return Builder(shape, graph).Backward();
}

}  // namespace trainyard::trainer::kernels
