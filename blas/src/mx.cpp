// MxMatrix, and the entry points of mx_gemm and mx_quantize.
#include <trn/blas/mx.hpp>

#include "checks.hpp"
#include "host/mx_values.hpp"
#include "kernels/mx.hpp"

namespace trn::blas {

namespace {

void check_type(const char* operation, MxType type) {
  operands::check_enumerator(operation, "MxType", type, MxType::Float4E2M1FN);
}

// The padding and the bytes must be numbers of elements that memory can have.
std::int64_t checked_extent(std::int64_t x) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  require(x >= 0 && x <= kMost, "MxMatrix: an extent is {}; it must be between 0 and {}", x, kMost);
  return x;
}

Array<std::uint8_t> zeros(const Executor& executor, std::int64_t count) {
  return Array<std::uint8_t>::from_host(executor, {count}, std::vector<std::uint8_t>(static_cast<std::size_t>(count)));
}

template <class T> MxMatrix quantized(const Executor& executor, const MatrixView<const T>& x, MxType type) {
  constexpr const char* kOperation = "blas.mx_quantize";
  check_type(kOperation, type);
  checks::operand(kOperation, "x", executor, x);
  MxMatrix result(executor, type, x.rows(), x.columns());
  if (x.rows() == 0 || x.columns() == 0) return result;
  dispatch(
      kMxQuantize, executor,
      MxQuantizeArgs{{type, dtype_of<T>, x.rows(), x.columns(), x.row_stride(), x.column_stride()}, x.data(), &result});
  return result;
}

Factor factor_of(float x) { return x == 0 ? Factor::Zero : x == 1 ? Factor::One : Factor::Input; }

template <class Out> Accuracy product(const Executor& executor, float alpha, const MxMatrix& a, const MxMatrix& b,
                                      float beta, const MatrixView<Out>& c) {
  constexpr const char* kOperation = "blas.mx_gemm";
  checks::check_owner(kOperation, "A", executor, a.executor());
  checks::check_owner(kOperation, "B", executor, b.executor());
  checks::operand(kOperation, "C", executor, c);
  require(a.rows() == c.rows() && b.rows() == c.columns() && a.depth() == b.depth(),
          "{}: A is {} x {}, B is {} x {}, C is {} x {}; they must be m x k, n x k and m x n", kOperation, a.rows(),
          a.depth(), b.rows(), b.depth(), c.rows(), c.columns());
  constexpr std::int64_t kDepth = 512;
  const double u = unit_roundoff(DType::Float32),
               roundings = static_cast<double>(std::min(a.depth(), kDepth) + (a.depth() + kDepth - 1) / kDepth + 3);
  const Accuracy accuracy{
      Mode::Native, 1,
      roundings * u / (1 - roundings * u) + (std::is_same_v<Out, float> ? 0 : unit_roundoff(dtype_of<Out>))};
  if (c.rows() == 0 || c.columns() == 0) return accuracy;
  checks::distinct_elements(kOperation, "C", checks::extent(c));
  const MxGemmShape shape{a.type(),  b.type(),       dtype_of<Out>,     c.rows(),         c.columns(),
                          a.depth(), c.row_stride(), c.column_stride(), factor_of(alpha), factor_of(beta)};
  dispatch(kMxGemm, executor, MxGemmArgs{shape, &a, &b, c.data(), alpha, beta});
  return accuracy;
}

}  // namespace

const char* name(MxType type) {
  constexpr const char* kNames[] = {"float8_e4m3fn", "float8_e5m2", "float4_e2m1fn"};
  return kNames[static_cast<std::size_t>(type)];
}

MxMatrix::MxMatrix(const Executor& executor, MxType type, std::int64_t rows, std::int64_t depth)
    : type_(type),
      rows_(checked_extent(rows)),
      depth_(checked_extent(depth)),
      data_(zeros(executor, padded_depth() / 8 * padded_rows() * bits())),
      scales_(zeros(executor, padded_depth() / kMxGroup * padded_rows())) {
  check_type("MxMatrix", type);
}

MxMatrix MxMatrix::from_host(const Executor& executor, MxType type, std::int64_t rows, std::int64_t depth,
                             std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales) {
  MxMatrix m(executor, type, rows, depth);
  const std::int64_t groups = (depth + kMxGroup - 1) / kMxGroup;
  require(static_cast<std::int64_t>(codes.size()) == rows * depth &&
              static_cast<std::int64_t>(scales.size()) == rows * groups,
          "MxMatrix: {} codes and {} scales for {} x {}; give {} and {}", codes.size(), scales.size(), rows, depth,
          rows * depth, rows * groups);
  std::vector<std::uint8_t> data(static_cast<std::size_t>(m.data_.size())),
      held(static_cast<std::size_t>(m.scales_.size()));
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < depth; ++k) {
      const std::uint8_t code = codes[static_cast<std::size_t>(i * depth + k)];
      require(m.bits() == 8 || code < 16, "MxMatrix: code {} of row {}, k {} has more than 4 bits", code, i, k);
      const host::MxPlace at = host::mx_place(m.bits(), m.padded_rows(), i, k);
      data[static_cast<std::size_t>(at.byte)] |= static_cast<std::uint8_t>(code << at.shift);
    }
    for (std::int64_t g = 0; g < groups; ++g)
      held[static_cast<std::size_t>(g * m.padded_rows() + i)] = scales[static_cast<std::size_t>(i * groups + g)];
  }
  m.data_ = Array<std::uint8_t>::from_host(executor, m.data_.shape(), data);
  m.scales_ = Array<std::uint8_t>::from_host(executor, m.scales_.shape(), held);
  return m;
}

std::vector<float> MxMatrix::to_host() const {
  const auto data = data_.to_host(), scales = scales_.to_host();
  const std::array<float, 256> values = host::mx_values(type_);
  const int mask = (1 << bits()) - 1;
  std::vector<float> result(static_cast<std::size_t>(rows_ * depth_));
  for (std::int64_t i = 0; i < rows_; ++i) {
    for (std::int64_t k = 0; k < depth_; ++k) {
      const host::MxPlace at = host::mx_place(bits(), padded_rows(), i, k);
      const int code = data[static_cast<std::size_t>(at.byte)] >> at.shift & mask;
      result[static_cast<std::size_t>(i * depth_ + k)] =
          values[static_cast<std::size_t>(code)] *
          host::mx_scale(scales[static_cast<std::size_t>(k / kMxGroup * padded_rows() + i)]);
    }
  }
  return result;
}

MxMatrix MxMatrix::on(const Executor& executor) const {
  MxMatrix m(executor, type_, rows_, depth_);
  m.data_ = Array<std::uint8_t>::from_host(executor, data_.shape(), data_.to_host());
  m.scales_ = Array<std::uint8_t>::from_host(executor, scales_.shape(), scales_.to_host());
  return m;
}

MxMatrix mx_quantize(const Executor& executor, const MatrixView<const bfloat16>& x, MxType type) {
  return quantized(executor, x, type);
}
MxMatrix mx_quantize(const Executor& executor, const MatrixView<const float16>& x, MxType type) {
  return quantized(executor, x, type);
}

Accuracy mx_gemm(const Executor& executor, float alpha, const MxMatrix& a, const MxMatrix& b, float beta,
                 const MatrixView<float>& c) {
  return product(executor, alpha, a, b, beta, c);
}
Accuracy mx_gemm(const Executor& executor, float alpha, const MxMatrix& a, const MxMatrix& b, float beta,
                 const MatrixView<bfloat16>& c) {
  return product(executor, alpha, a, b, beta, c);
}
Accuracy mx_gemm(const Executor& executor, float alpha, const MxMatrix& a, const MxMatrix& b, float beta,
                 const MatrixView<float16>& c) {
  return product(executor, alpha, a, b, beta, c);
}

}  // namespace trn::blas
