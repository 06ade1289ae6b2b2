// Discrete cosine and sine transforms of types I to IV, in the manner of scipy.fft.dct, idct, dst, idst and their
// n-dimensional forms.
//
//   dct I    y_k = x_0 + (-1)^k x_{n-1} + 2 sum_{j=1}^{n-2} x_j cos(pi jk/(n-1))
//   dct II   y_k = 2 sum_j x_j cos(pi k(2j+1)/(2n))
//   dct III  y_k = x_0 + 2 sum_{j>=1} x_j cos(pi j(2k+1)/(2n))
//   dct IV   y_k = 2 sum_j x_j cos(pi (2j+1)(2k+1)/(4n))
//   dst I    y_k = 2 sum_j x_j sin(pi (j+1)(k+1)/(n+1))
//   dst II   y_k = 2 sum_j x_j sin(pi (k+1)(2j+1)/(2n))
//   dst III  y_k = (-1)^k x_{n-1} + 2 sum_{j<n-1} x_j sin(pi (j+1)(2k+1)/(2n))
//   dst IV   y_k = 2 sum_j x_j sin(pi (2j+1)(2k+1)/(4n))
//
// The inverse of type I is I, of II is III, of III is II, of IV is IV, over N = 2(n-1) (dct I), 2(n+1) (dst I) or 2n.
// Norm says where 1/N goes; with Ortho the matrix is orthogonal: its first (dst: last) row or column, for dct I both
// ends, is also scaled by sqrt(1/2), which `orthogonalize` asks for alone. (SciPy 1.10 scales the first row of dst II
// and column of dst III instead, and its "ortho" sine matrices are not orthogonal; these are.)
//
// On the host each is one real transform of n points (II, III), one complex transform of n/2 points (IV; 2n for odd n)
// or one real transform of N points (I), between two passes over the data. || y - exact ||_2 <= (2 B + 12 u) || exact
// ||_2, B being that transform's bound. A device computes in float (NotImplemented for double). Up to 128 points a line
// is one matrix product there, || y - exact ||_2 <= matrix_error_bound(n, mode) || exact ||_2, 2 (n + sqrt(n) + 2) u in
// mode native; dense lines of up to 64 points share it, 128/n at a time, and an infinity or NaN reaches all of them.
// Longer ones are a transform of N points with zeros behind the data, real (I, II, III) or complex (IV), the bound as
// above.
//
// `precision` is that of the transform or of the matrix product: Native, Tf32, Bf16, Tf32x3 and Bf16x6 on a device,
// Native on the host. A target is held against the bounds above, over several axes against the product of all 1 +
// bound, less 1; all axes have the same mode.
#pragma once

#include <trn/fft/transforms.hpp>

namespace trn::fft {

enum class CosineType : std::uint8_t { I = 1, II, III, IV };

struct CosineOptions {
  CosineType type = CosineType::II;
  std::optional<std::int64_t> n{};  // points of the transform; default: the axis'
  std::int64_t axis = -1;
  Norm norm = Norm::Backward;
  std::optional<bool> orthogonalize{};  // default: with Norm::Ortho
  Precision precision = {};
  PlanCache* cache = nullptr;
};
struct CosineNOptions {
  CosineType type = CosineType::II;
  std::optional<std::vector<std::int64_t>> s{}, axes{};  // as in TransformNOptions
  Norm norm = Norm::Backward;
  std::optional<bool> orthogonalize{};
  Precision precision = {};
  PlanCache* cache = nullptr;
};

namespace detail {
enum class Wave : std::uint8_t { Cosine, Sine };
struct CosineRequest {
  const char* operation;
  Wave wave;
  Direction direction;
};
template <Real T>
[[nodiscard]] Array<T> cosine(const Executor&, const View<const T>&, const CosineRequest&, const CosineNOptions&);
[[nodiscard]] CosineNOptions along_one_axis(const CosineOptions& o);
}  // namespace detail

#define TRN_FFT_COSINE(function, wave, direction)                                                              \
  template <RealOperand X>                                                                                     \
  [[nodiscard]] Array<ElementOf<X>> function(const Executor& e, const X& x, const CosineOptions& o = {}) {     \
    return detail::cosine(e, view_of(x), {"fft." #function, detail::Wave::wave, Direction::direction},         \
                          detail::along_one_axis(o));                                                          \
  }                                                                                                            \
  template <RealOperand X>                                                                                     \
  [[nodiscard]] Array<ElementOf<X>> function##n(const Executor& e, const X& x, const CosineNOptions& o = {}) { \
    return detail::cosine(e, view_of(x), {"fft." #function "n", detail::Wave::wave, Direction::direction}, o); \
  }
TRN_FFT_COSINE(dct, Cosine, Forward)   // dct, dctn
TRN_FFT_COSINE(idct, Cosine, Inverse)  // idct, idctn
TRN_FFT_COSINE(dst, Sine, Forward)     // dst, dstn
TRN_FFT_COSINE(idst, Sine, Inverse)    // idst, idstn
#undef TRN_FFT_COSINE

}  // namespace trn::fft
