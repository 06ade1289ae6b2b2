// An einsum in long double, one product at a time: the oracle of trntensor's tests. It knows nothing of folding, paths
// or blocks.
#pragma once

#include <complex>
#include <cstdint>
#include <random>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/convert.hpp>
#include <trn/tensor/einsum.hpp>

namespace trn::tensor::testing {

using Wide = std::complex<long double>;

// A tensor in memory of its own, with room around it so that any strides fit.
struct Sample {
  DType dtype = DType::Float32;
  Shape shape;
  Strides strides;
  std::vector<std::byte> bytes;
  std::int64_t origin = 0;  // offset of element (0, 0, ...)

  [[nodiscard]] std::byte* data() { return bytes.data() + origin * size_bytes(dtype); }
  [[nodiscard]] TypedView view() { return {Executor::host(), dtype, data(), shape, strides}; }
  [[nodiscard]] Wide at(std::int64_t offset) const {
    const std::byte* from = bytes.data() + (origin + offset) * size_bytes(dtype);
    double parts[2] = {};
    if (is_complex(dtype)) {
      to_double(real_of(dtype), from, parts, 2);
    } else {
      to_double(dtype, from, parts, 1);
    }
    return {parts[0], parts[1]};
  }
  void set(std::int64_t offset, std::complex<double> value) {
    std::byte* to = bytes.data() + (origin + offset) * size_bytes(dtype);
    const double parts[2] = {value.real(), value.imag()};
    from_double(parts, real_of(dtype), to, is_complex(dtype) ? 2 : 1);
  }
};

// Memory for these strides, filled by `fill(index in memory)`.
template <class F> Sample sample(DType dtype, const Shape& shape, const Strides& strides, const F& fill) {
  Sample s{dtype, shape, strides};
  const OffsetRange range = offset_range(shape, strides);
  s.origin = -std::min<std::int64_t>(0, range.lowest);
  const std::int64_t count = std::max<std::int64_t>(1, range.highest + s.origin + 1);
  s.bytes.resize(static_cast<std::size_t>(count * size_bytes(dtype)));
  for (std::int64_t i = 0; i < count; ++i) s.set(i - s.origin, fill(i));
  return s;
}

// Values with few bits, so that 16-bit types hold them too.
struct Values {
  std::mt19937_64& random;
  std::complex<double> operator()(std::int64_t) const {
    const auto one = [&] { return static_cast<double>(static_cast<int>(random() % 255) - 127) / 64; };
    const double re = one();
    return {re, one()};
  }
};

inline std::int64_t offset_of(const std::vector<Label>& labels, const Shape& shape, const Strides& strides,
                              const std::vector<std::int64_t>& index) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < labels.size(); ++i)
    sum += shape[i] == 1 ? 0 : index[static_cast<std::size_t>(labels[i])] * strides[i];
  return sum;
}

struct Exact {
  std::vector<Wide> values;           // of D, row-major over its shape
  std::vector<long double> absolute;  // the einsum of absolute values
};

// sum over all labels of the products; `conj` by operand.
inline Exact oracle(const Expression& e, const Sizes& sizes, const std::vector<Sample>& operands,
                    const std::vector<bool>& conj) {
  Shape shape;
  for (const Label l : e.output) shape.push_back(sizes[static_cast<std::size_t>(l)]);
  const auto count = static_cast<std::size_t>(element_count(shape));
  Exact result{std::vector<Wide>(count), std::vector<long double>(count)};
  for (const std::int64_t s : sizes) {
    if (s == 0) return result;
  }
  const Strides to = row_major_strides(shape);
  std::vector<std::int64_t> index(sizes.size(), 0);
  for (;;) {
    Wide product = 1;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Wide x = operands[i].at(offset_of(e.inputs[i], operands[i].shape, operands[i].strides, index));
      product *= conj[i] ? std::conj(x) : x;
    }
    const auto at = static_cast<std::size_t>(offset_of(e.output, shape, to, index));
    result.values[at] += product;
    result.absolute[at] += std::abs(product);
    std::size_t l = 0;
    for (; l < index.size(); ++l) {
      if (++index[l] < sizes[l]) break;
      index[l] = 0;
    }
    if (l == index.size()) return result;
  }
}

// Offsets of the elements of a view in row-major order of its indices.
inline std::vector<std::int64_t> offsets_of(const Shape& shape, const Strides& strides) {
  std::vector<std::int64_t> result;
  std::vector<std::int64_t> index(shape.size(), 0);
  for (std::int64_t i = 0; i < element_count(shape); ++i) {
    std::int64_t sum = 0;
    for (std::size_t a = 0; a < shape.size(); ++a) sum += index[a] * strides[a];
    result.push_back(sum);
    for (std::size_t a = shape.size(); a-- > 0;) {
      if (++index[a] < shape[a]) break;
      index[a] = 0;
    }
  }
  return result;
}

}  // namespace trn::tensor::testing
