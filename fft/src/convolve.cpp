// Convolution: shapes and modes, by transforms, in blocks, or by direct sums.
#include <trn/core/enumerators.hpp>
#include <trn/fft/bounds.hpp>
#include <trn/fft/convolve.hpp>

#include <cmath>
#include <limits>
#include <numeric>

#include <trn/fft/frequencies.hpp>

#include "function_precision.hpp"
#include "matrix.hpp"

namespace trn::fft {
namespace {

template <class E> using RealPartOf = typename detail::RealPart<E>::type;
template <class E> constexpr bool kComplex = !std::is_same_v<E, RealPartOf<E>>;

// out = a op b for operands of any element type and strides; null imaginary parts for real ones.
template <class E>
void combine(const Executor& e, ComplexOp op, const View<const E>& a, const View<const E>& b, const View<E>& out) {
  using T = RealPartOf<E>;
  const auto side = [](const E* data, const Strides& s) {
    T* re = reinterpret_cast<T*>(const_cast<E*>(data));
    Strides strides = s;
    if constexpr (kComplex<E>) {
      for (std::int64_t& v : strides) v *= 2;
      return ElementwiseSide{re, re + 1, strides};
    } else {
      return ElementwiseSide{re, nullptr, strides};
    }
  };
  if (out.size() == 0) return;
  dispatch(kElementwise, e,
           ElementwiseArgs{op, dtype_of<T>, out.shape(), side(a.data(), a.strides()), side(b.data(), b.strides()),
                           side(out.data(), out.strides())});
}

// x seen with `shape`: extents of 1 repeated.
template <class E> View<const E> spread(const View<const E>& x, const Shape& shape) {
  Strides strides = x.strides();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (x.shape()[d] == 1) strides[d] = 0;
  }
  return {x.executor(), x.data(), shape, strides};
}

// x turned round along the axes, dense: on the host a copy of a view, on a device one mirror image after the other.
template <class E> Array<E> mirrored(const Executor& e, const View<const E>& x, const std::vector<std::size_t>& axes) {
  Array<E> y(e, x.shape());
  if (x.size() == 0) return y;
  if (e.family() == Family::Host || axes.empty()) {
    Strides strides = x.strides();
    std::int64_t offset = 0;
    for (const std::size_t d : axes) {
      offset += (x.shape()[d] - 1) * strides[d];
      strides[d] = -strides[d];
    }
    move_elements(View<const E>(e, x.data() + offset, x.shape(), strides), y.view());
    return y;
  }
  constexpr std::int64_t parts = kComplex<E> ? 2 : 1;
  const Strides dense = y.view().strides();
  const std::size_t axis = axes[0];
  MirrorArgs args{{x.shape()[axis], x.strides()[axis] * parts, dense[axis] * parts, {}},
                  reinterpret_cast<const float*>(x.data()),
                  reinterpret_cast<float*>(y.data())};
  for (std::size_t d = 0; d < dense.size(); ++d) {
    if (d != axis) args.shape.lines.push_back({x.shape()[d], x.strides()[d] * parts, dense[d] * parts});
  }
  args.shape.lines.push_back({parts, 1, 1});
  dispatch(kMirror, e, args);
  return axes.size() == 1 ? std::move(y) : mirrored(e, View<const E>(y.view()), {axes.begin() + 1, axes.end()});
}

std::vector<std::int64_t> as_integers(const std::vector<std::size_t>& axes) { return {axes.begin(), axes.end()}; }

// The circular convolution of `lengths` points along `axes`, other axes broadcast.
template <class E> Array<E> circular(const Executor& e, const View<const E>& a, const View<const E>& b,
                                     const std::vector<std::size_t>& axes, const std::vector<std::int64_t>& lengths,
                                     const TransformNOptions& how) {
  TransformNOptions options = how;
  options.s = lengths;
  options.axes = as_integers(axes);
  const auto product = [&](const auto& fa, const auto& fb) {
    Shape shape = fa.shape();
    for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = std::max(shape[d], fb.shape()[d]);
    Array<std::complex<RealPartOf<E>>> y(e, shape);
    using C = std::complex<RealPartOf<E>>;
    combine<C>(e, ComplexOp::Multiply, spread(View<const C>(fa.view()), shape), spread(View<const C>(fb.view()), shape),
               y.view());
    return y;
  };
  if constexpr (kComplex<E>) {
    return ifftn(e, product(fftn(e, a, options), fftn(e, b, options)), options);
  } else {
    return irfftn(e, product(rfftn(e, a, options), rfftn(e, b, options)), options);
  }
}

template <class E> Array<E> cropped(const Executor& e, Array<E> x, const Shape& start, const Shape& extents) {
  if (extents == x.shape()) return x;
  Array<E> y(e, extents);
  move_elements(box(x.view(), start, extents), y.view());
  return y;
}

struct Extents {
  std::vector<std::size_t> axes;  // those that are convolved, not those where one extent is 1
  Shape full, start, result;
};

Extents extents(const char* op, const Shape& a, const Shape& b, const ConvolveOptions& o) {
  operands::check_enumerator(op, "ConvolveMode", o.mode, ConvolveMode::Valid);
  operands::check_enumerator(op, "ConvolveMethod", o.method, ConvolveMethod::Fft);
  require(a.size() == b.size(), "{}: a has shape {}, b {}; give arrays of the same rank", op, to_string(a),
          to_string(b));
  std::vector<std::int64_t> all(a.size());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  const std::vector<std::size_t> axes = axes_of(op, o.axes.value_or(all), a.size());
  Extents x{{}, a, Shape(a.size(), 0), a};
  bool a_holds = true, b_holds = true;
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (std::find(axes.begin(), axes.end(), d) != axes.end()) {
      require(a[d] > 0 && b[d] > 0, "{}: a has shape {}, b {}; along axis {} both need at least one element", op,
              to_string(a), to_string(b), d);
      x.full[d] = a[d] + b[d] - 1;
      if (a[d] != 1 && b[d] != 1) x.axes.push_back(d);
      a_holds = a_holds && a[d] >= b[d];
      b_holds = b_holds && b[d] >= a[d];
      x.result[d] = o.mode == ConvolveMode::Full   ? x.full[d]
                    : o.mode == ConvolveMode::Same ? a[d]
                                                   : std::max(a[d], b[d]) - std::min(a[d], b[d]) + 1;
      x.start[d] = (x.full[d] - x.result[d]) / 2;
    } else {
      require(a[d] == b[d] || a[d] == 1 || b[d] == 1,
              "{}: a has shape {}, b {}; along axis {}, which is not convolved, extents must be equal or 1", op,
              to_string(a), to_string(b), d);
      x.full[d] = x.result[d] = a[d] == 1 ? b[d] : a[d];
    }
  }
  require(o.mode != ConvolveMode::Valid || a_holds || b_holds,
          "{}: mode valid with shapes {} and {}; one array must be at least as long as the other along every convolved "
          "axis",
          op, to_string(a), to_string(b));
  return x;
}

std::vector<std::int64_t> padded_lengths(const Extents& x) {
  std::vector<std::int64_t> lengths;
  for (const std::size_t d : x.axes) lengths.push_back(next_fast_len(x.full[d]));
  return lengths;
}

// The header's bound of convolutions by transforms of these lengths, `batch` of them at once.
double transform_bound(const Executor& e, const std::vector<std::int64_t>& lengths, std::int64_t batch, bool complex,
                       DType real, Mode mode) {
  const auto plan = [&](Direction direction) {
    const Kind kind = complex                           ? Kind::ComplexToComplex
                      : direction == Direction::Forward ? Kind::RealToComplex
                                                        : Kind::ComplexToReal;
    return 1 + plan_bound(e, dense(kind, direction, lengths, {.batch = batch}), real, mode);
  };
  const double there = plan(Direction::Forward), u = real == DType::Float32 ? 0x1p-24 : 0x1p-53;
  return there * there * plan(Direction::Inverse) * (1 + 6 * u) - 1;
}

// Blocks of `step` points along `axis`: block i covers points i * step on, transformed with n >= step + m - 1 points,
// so that it needs no neighbour; the m - 1 last points of its result are added to the next block's first.
struct Blocking {
  std::int64_t n = 0, step = 0, blocks = 0;
};
// The n that makes the work n log2(n) per block times the number of blocks least, among 2^i times the shortest.
Blocking choose_blocks(std::int64_t longer, std::int64_t m) {
  Blocking best;
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t n = next_fast_len(2 * m); n < 2 * (longer + m); n *= 2) {
    const Blocking x{n, n - m + 1, (longer + n - m) / (n - m + 1)};
    const double work = static_cast<double>(x.blocks) * static_cast<double>(n) * std::log2(static_cast<double>(n) + 1);
    if (work < least) {
      least = work;
      best = x;
    }
  }
  return best;
}

// Lengths of the blocks' transforms.
std::vector<std::int64_t> block_lengths(const Extents& x, std::size_t axis, const Blocking& k) {
  std::vector<std::int64_t> lengths = padded_lengths(x);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (x.axes[i] == axis) lengths[i] = k.n;
  }
  return lengths;
}

// `a` is the longer one along `axis`.
template <class E> Array<E> in_blocks(const Executor& e, const View<const E>& a, const View<const E>& b,
                                      const Extents& x, std::size_t axis, const Blocking& k,
                                      const TransformNOptions& how) {
  const auto inserted = [&](Shape s, std::int64_t value) {
    s.insert(s.begin() + static_cast<std::ptrdiff_t>(axis), value);
    return s;
  };
  // a as (..., blocks, step, ...): whole blocks are a view, the rest is one padded block.
  const std::int64_t extent = a.shape()[axis], whole = extent / k.step, rest = extent - whole * k.step;
  Shape shape = inserted(a.shape(), k.blocks);
  shape[axis + 1] = k.step;
  const Array<E> cut(e, shape);
  const auto blocks_of = [&](std::int64_t first, std::int64_t count, std::int64_t points) {  // of a
    Shape s = inserted(a.shape(), count);
    s[axis + 1] = points;
    Strides t = inserted(a.strides(), a.strides()[axis] * k.step);
    const E* data = a.data() + (element_count(s) == 0 ? 0 : first * k.step * a.strides()[axis]);
    return View<const E>(e, data, s, t);
  };
  const auto window = [&](const View<E>& v, std::int64_t first, std::int64_t count, std::int64_t from,
                          std::int64_t points) {
    Shape start(v.shape().size(), 0), size = v.shape();
    start[axis] = first;
    size[axis] = count;
    start[axis + 1] = from;
    size[axis + 1] = points;
    return box(v, start, size);
  };
  Moves moves(e);
  moves.elements(blocks_of(0, whole, k.step), window(cut.view(), 0, whole, 0, k.step));
  if (rest > 0) {
    moves.elements(blocks_of(whole, 1, rest), window(cut.view(), whole, 1, 0, rest));
    moves.zero(window(cut.view(), whole, 1, rest, k.step - rest));
  }
  moves.run();

  std::vector<std::size_t> axes;
  for (const std::size_t d : x.axes) axes.push_back(d < axis ? d : d + 1);
  const View<const E> kernel(e, b.data(), inserted(b.shape(), 1), inserted(b.strides(), 0));
  const Array<E> y = circular<E>(e, cut.view(), kernel, axes, block_lengths(x, axis, k), how);

  // Heads lie side by side; tails are added one step further on.
  Shape out_shape = y.shape();
  const std::int64_t total = (k.blocks + 1) * k.step, overlap = k.n - k.step;
  out_shape[axis + 1] = total;
  out_shape.erase(out_shape.begin() + static_cast<std::ptrdiff_t>(axis));
  Array<E> out(e, out_shape);
  Shape split = out_shape;
  split[axis] = k.step;
  split.insert(split.begin() + static_cast<std::ptrdiff_t>(axis), k.blocks + 1);
  const View<E> steps(e, out.data(), split);
  moves.elements(View<const E>(window(y.view(), 0, k.blocks, 0, k.step)), window(steps, 0, k.blocks, 0, k.step));
  moves.zero(window(steps, k.blocks, 1, 0, k.step));
  moves.run();
  const View<E> next = window(steps, 1, k.blocks, 0, overlap);
  combine<E>(e, ComplexOp::Add, next, window(y.view(), 0, k.blocks, k.step, overlap), next);
  return out;
}

// The axis where the lengths differ most and the blocks along it, of which one is the whole.
struct Blocks {
  std::size_t axis = 0;
  Blocking k;
};
Blocks blocks_of(const Shape& a, const Shape& b, const Extents& x) {
  std::size_t axis = x.axes.front();
  double ratio = 0;
  for (const std::size_t d : x.axes) {
    const double r = static_cast<double>(std::max(a[d], b[d])) / static_cast<double>(std::min(a[d], b[d]));
    if (r > ratio) ratio = r, axis = d;
  }
  return {axis, choose_blocks(std::max(a[axis], b[axis]), std::min(a[axis], b[axis]))};
}

// By transforms of the whole arrays, or of blocks.
template <class E> Array<E> by_transforms(const char* op, const Executor& e, const View<const E>& a,
                                          const View<const E>& b, const Extents& x, bool blocks,
                                          const ConvolveOptions& o) {
  const Blocks cut = blocks ? blocks_of(a.shape(), b.shape(), x) : Blocks{};
  const bool whole = cut.k.blocks <= 1;
  const std::vector<std::int64_t> lengths = whole ? padded_lengths(x) : block_lengths(x, cut.axis, cut.k);
  std::int64_t batch = whole ? 1 : cut.k.blocks;
  for (std::size_t d = 0; d < x.full.size(); ++d) {
    if (std::find(x.axes.begin(), x.axes.end(), d) == x.axes.end()) batch *= x.full[d];
  }
  const Mode mode = choose_mode<RealPartOf<E>>(op, e, o.precision, ExactMode::Offered, [&](Mode each) {
    return transform_bound(e, lengths, batch, kComplex<E>, dtype_of<RealPartOf<E>>, each);
  });
  const TransformNOptions how{.precision = mode, .cache = o.cache};
  if (whole) return circular<E>(e, a, b, x.axes, lengths, how);
  const bool swapped = b.shape()[cut.axis] > a.shape()[cut.axis];
  return in_blocks(e, swapped ? b : a, swapped ? a : b, x, cut.axis, cut.k, how);
}

// Direct sums: for every element of b, a times it is added to the part of the result that begins at its index.
template <class E> Array<E> by_sums(const Executor& e, const View<const E>& a, const View<const E>& b, const Extents& x,
                                    const std::vector<std::size_t>& convolved) {
  Array<E> y(e, x.full);
  fill_zero(y.view());
  // Axes that are not convolved stay whole; along the others one element of b after the other.
  Shape count = b.shape(), part = b.shape(), span = x.full;
  for (std::size_t d = 0; d < count.size(); ++d) {
    const bool sum = std::find(convolved.begin(), convolved.end(), d) != convolved.end();
    (sum ? part : count)[d] = 1;
    if (sum) span[d] = a.shape()[d];
  }
  const Array<E> term(e, span);
  Shape index(count.size(), 0);
  for (std::int64_t i = element_count(count); i > 0; --i) {
    combine<E>(e, ComplexOp::Multiply, spread(a, span), spread(box(b, index, part), span), term.view());
    const View<E> target = box(y.view(), index, span);
    combine<E>(e, ComplexOp::Add, target, term.view(), target);
    for (std::size_t d = count.size(); d-- > 0;) {
      if (++index[d] < count[d]) break;
      index[d] = 0;
    }
  }
  return y;
}

// Direct sums on the Tensor Engine: y_o of a block of L results is sum_j T_jo a_(o0 - (m-1) + j), the m values of b in
// a band of a matrix of L + m - 1 rows, T_jo = b_(o + m - 1 - j). The blocks of a, with zeros around it, are
// overlapping lines; DMA lays b into the band. The result is whole blocks: longer than the full convolution.
constexpr std::int64_t kBandOfChoice = 64;  // values of b up to which a block has more results than that

// Whether m values, the same for every line of n points, have a band.
bool fits_band(const Executor& e, std::int64_t n, std::int64_t m, DType real) {
  return e.family() == Family::Device && real == DType::Float32 && m <= n &&
         m <= ask(kMatrixPoints, e, {}) - 8;  // 9 results a block at least
}
// Whether b, the same for every line of a, has a band for its only convolved axis.
template <class E> bool fits_band(const Executor& e, const View<const E>& a, const View<const E>& b, const Extents& x) {
  if (x.axes.size() != 1) return false;
  const std::int64_t m = b.shape()[x.axes[0]];
  return b.size() == m && fits_band(e, a.shape()[x.axes[0]], m, dtype_of<RealPartOf<E>>);
}

// The header's bounds of direct sums of m terms: in a band, and term by term in the operands' type.
double band_bound(std::int64_t m, bool complex, Mode mode) {
  const auto [error, products] = product_error(mode);
  const double sums = static_cast<double>(m + products + (complex ? 2 : 0)) * 0x1p-24 + error;
  return complex ? std::sqrt(2.0) * sums : sums;
}
double sums_bound(std::int64_t m, bool complex, DType real) {
  const double units = static_cast<double>(m + (complex ? 3 : 1)) * unit_roundoff(real);
  return complex ? std::sqrt(2.0) * units : units;
}

template <class E> Array<E> by_band(const char* op, const Executor& e, const View<const E>& a, const View<const E>& b,
                                    const Extents& x, const Precision& precision) {
  constexpr std::int64_t parts = kComplex<E> ? 2 : 1;
  const std::size_t axis = x.axes[0];
  const std::int64_t m = b.shape()[axis], full = x.full[axis],
                     block = std::min(ask(kMatrixPoints, e, {}) - m + 1, full);
  const std::int64_t blocks = (full + block - 1) / block, points = block + m - 1;
  const Mode mode = choose_mode<RealPartOf<E>>(op, e, precision, ExactMode::NotOffered,
                                               [&](Mode each) { return band_bound(m, kComplex<E>, each); });
  Shape padded_shape = a.shape(), corner(padded_shape.size(), 0), out_shape = x.full;
  padded_shape[axis] = blocks * block + m - 1;
  out_shape[axis] = blocks * block;
  corner[axis] = m - 1;
  const Array<E> padded(e, padded_shape), band(e, {parts, points, block});
  Array<E> y(e, out_shape);
  copy_padded(a, padded.view(), corner);
  fill_zero(band.view());
  // b backwards, down every column one row further on.
  const Array<E> backwards = mirrored(e, View<const E>(e, b.data(), {m}, {b.strides()[axis]}), {0});
  Moves moves(e);
  const auto lay = [&](const auto* values, std::int64_t unit, auto* first) {  // unit: of both
    using V = std::remove_pointer_t<decltype(first)>;
    moves.elements(View<const V>(e, values, {block, m}, {0, unit}),
                   View<V>(e, first, {block, m}, {(block + 1) * unit, block * unit}));
  };
  lay(backwards.data(), 1, band.data());
  if constexpr (kComplex<E>) {  // the rows of imaginary parts have i b: re = -b_im, im = b_re
    const Array<E> conjugate(e, {m});
    combine<E>(e, ComplexOp::Conjugate, backwards.view(), backwards.view(), conjugate.view());
    auto* rows = reinterpret_cast<float*>(band.data() + points * block);
    lay(reinterpret_cast<const float*>(conjugate.data()) + 1, 2, rows);
    lay(reinterpret_cast<const float*>(backwards.data()), 2, rows + 1);
    moves.run();  // while there is a conjugate
  }
  moves.run();
  const Strides in = row_major_strides(padded_shape), out = row_major_strides(out_shape);
  MatrixArgs args{{{points, parts, in[axis] * parts}, {block, parts, out[axis] * parts}, {}, mode},
                  reinterpret_cast<const float*>(padded.data()),
                  reinterpret_cast<const float*>(band.data()),
                  reinterpret_cast<float*>(y.data())};
  for (std::size_t d = 0; d < in.size(); ++d) {
    const std::int64_t times = d == axis ? block : 1;
    args.shape.lines.push_back({d == axis ? blocks : out_shape[d], in[d] * times * parts, out[d] * times * parts});
  }
  dispatch(kMatrix, e, args);
  return y;
}

}  // namespace

double convolve_error_bound(const Executor& executor, ConvolveWay way, std::int64_t n, std::int64_t m,
                            std::int64_t lines, DType real, Mode mode) {
  const std::int64_t shorter = std::min(n, m);
  if (way == ConvolveWay::Sums)
    return fits_band(executor, n, m, real) ? band_bound(m, false, mode) : sums_bound(shorter, false, real);
  const Blocking cut = way == ConvolveWay::Blocks ? choose_blocks(std::max(n, m), shorter) : Blocking{};
  const bool whole = cut.blocks <= 1;
  return transform_bound(executor, {whole ? next_fast_len(n + m - 1) : cut.n}, whole ? lines : lines * cut.blocks,
                         false, real, mode);
}

namespace detail {

template <class E> Array<E> convolve(const char* op, Convolution how, const Executor& e, const View<const E>& a,
                                     const View<const E>& b, const ConvolveOptions& o) {
  check_owner(op, "a", e, a.executor());
  check_owner(op, "b", e, b.executor());
  using T = RealPartOf<E>;
  (void)offered_modes(op, e, dtype_of<T>, o.precision, ExactMode::Offered);
  const Extents x = extents(op, a.shape(), b.shape(), o);
  if (element_count(x.full) == 0) return Array<E>(e, x.result);
  std::vector<std::size_t> convolved;
  std::int64_t shorter = 1;
  for (std::size_t d = 0; d < a.shape().size(); ++d) {
    if (x.full[d] == a.shape()[d] + b.shape()[d] - 1) convolved.push_back(d);
  }
  for (const std::size_t d : x.axes) shorter *= std::min(a.shape()[d], b.shape()[d]);
  // A term of a direct sum is one pass over the data, the transforms are about a dozen; on a device it is two programs,
  // the transforms are about eight, and a band is four.
  const bool band_b = fits_band(e, a, b, x), band = band_b || fits_band(e, b, a, x);
  const bool exact = e.family() == Family::Device && std::is_same_v<T, double>;  // has no direct sums
  const std::int64_t few = e.family() == Family::Host ? 8 : exact ? 0 : band ? kBandOfChoice : 3;
  const bool direct =
      x.axes.empty() || (how == Convolution::Choose &&
                         (o.method == ConvolveMethod::Direct || (o.method == ConvolveMethod::Auto && shorter <= few)));
  if (direct && exact && how == Convolution::Choose && o.method == ConvolveMethod::Direct) {
    fail<NotImplemented>(
        "{}: executor '{}' has no direct sums in mode exact; use ConvolveMethod::Fft, float, or the host", op,
        e.name());
  }
  if (direct && band) {
    return cropped(e, band_b ? by_band(op, e, a, b, x, o.precision) : by_band(op, e, b, a, x, o.precision), x.start,
                   x.result);
  }
  if (direct) {
    // Sums in the operands' type, in every mode.
    (void)choose_mode<T>(op, e, o.precision, ExactMode::Offered,
                         [&](Mode) { return sums_bound(shorter, kComplex<E>, dtype_of<T>); });
    std::int64_t na = 1, nb = 1;
    for (const std::size_t d : convolved) na *= a.shape()[d], nb *= b.shape()[d];
    return cropped(e, na >= nb ? by_sums(e, a, b, x, convolved) : by_sums(e, b, a, x, convolved), x.start, x.result);
  }
  return cropped(e, by_transforms(op, e, a, b, x, how == Convolution::OverlapAdd, o), x.start, x.result);
}

template <class E>
Array<E> correlate(const Executor& e, const View<const E>& a, const View<const E>& b, const ConvolveOptions& o) {
  const char* op = "fft.correlate";
  check_owner(op, "b", e, b.executor());
  (void)offered_modes(op, e, dtype_of<RealPartOf<E>>, o.precision, ExactMode::NotOffered);
  std::vector<std::int64_t> all(b.shape().size());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  const std::vector<std::size_t> axes = axes_of(op, o.axes.value_or(all), b.shape().size());
  const Array<E> turned = mirrored(e, b, axes);
  if constexpr (kComplex<E>) combine<E>(e, ComplexOp::Conjugate, turned.view(), turned.view(), turned.view());
  return convolve<E>(op, Convolution::Choose, e, a, turned.view(), o);
}

#define TRN_FFT_INSTANTIATE(E)                                                                                         \
  template Array<E> convolve<E>(const char*, Convolution, const Executor&, const View<const E>&, const View<const E>&, \
                                const ConvolveOptions&);                                                               \
  template Array<E> correlate<E>(const Executor&, const View<const E>&, const View<const E>&, const ConvolveOptions&);
TRN_FFT_INSTANTIATE(float)
TRN_FFT_INSTANTIATE(double)
TRN_FFT_INSTANTIATE(std::complex<float>)
TRN_FFT_INSTANTIATE(std::complex<double>)
#undef TRN_FFT_INSTANTIATE

}  // namespace detail
}  // namespace trn::fft
