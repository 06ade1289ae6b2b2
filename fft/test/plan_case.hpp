// One plan on the host against the plain oracle: any kind, direction, format and scale, over axes, strides and batches
// as a test lays them out, in and out of place. The error of each transform is within the bound that the plan states,
// and nothing but the output's elements is written.
#pragma once

#include "fft_support.hpp"

#include <algorithm>
#include <numeric>

namespace trn::fft::test {

using L = long double;

// Memory of one side: guard elements around, so that a stray write is seen.
struct Side {
  Strides strides;         // of axes then batch, in elements
  std::int64_t first = 0;  // offset of element (0, 0, ...)
  std::int64_t size = 0;
};

struct Case {
  Kind kind;
  Direction direction;
  Scale scale;
  Format input, output;
  Shape axes, batch;
  bool in_place;
  std::uint32_t seed;
};

// Nested strides in a random order of dimensions, with gaps and signs.
inline Side random_side(const Shape& extents, std::mt19937& rng) {
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), rng);
  Side side{Strides(extents.size()), 0, 0};
  std::int64_t stride = 1 + static_cast<std::int64_t>(rng() % 2);
  std::int64_t reach = 1;
  for (const std::size_t d : order) {
    side.strides[d] = stride;
    reach += stride * (extents[d] - 1);
    if (rng() % 5 == 0) {
      side.strides[d] = -stride;
      side.first += stride * (extents[d] - 1);
    }
    stride *= extents[d];
    if (rng() % 3 == 0) stride += static_cast<std::int64_t>(rng() % 3);
  }
  side.size = reach;
  return side;
}

// Extents of a side, axes then batch.
inline Shape side_shape(const Case& c, bool input) {
  Shape shape = c.axes;
  if (c.kind == (input ? Kind::ComplexToReal : Kind::RealToComplex)) shape.back() = c.axes.back() / 2 + 1;
  shape.insert(shape.end(), c.batch.begin(), c.batch.end());
  return shape;
}

// Runs the case and compares it with the oracle; layout(extents, rng) lays out either side.
template <class T, class Layout> void check_case(const Case& c, const Layout& layout) {
  SCOPED_TRACE(::testing::Message() << name(c.kind) << " " << name(c.direction) << " " << name(c.scale) << " in "
                                    << name(c.input) << " out " << name(c.output) << " axes " << to_string(c.axes)
                                    << " batch " << to_string(c.batch) << (c.in_place ? " in place" : "") << " seed "
                                    << c.seed << " " << sizeof(T) * 8 << " bits");
  std::mt19937 rng(c.seed);
  const std::size_t halved = c.axes.size() - 1;
  Shape full = c.axes;
  full.insert(full.end(), c.batch.begin(), c.batch.end());
  const Shape in_shape = side_shape(c, true), out_shape = side_shape(c, false);
  const std::int64_t half = c.axes.back() / 2 + 1;
  Side in = layout(in_shape, rng), out = layout(out_shape, rng);
  if (c.in_place && c.kind == Kind::ComplexToComplex) out = in;
  if (c.in_place && c.kind != Kind::ComplexToComplex) {
    // FFTW's padded rows, the halved axis contiguous, everything else row-major behind it.
    Shape padded = full;
    padded[halved] = half;
    std::rotate(padded.begin() + static_cast<std::ptrdiff_t>(halved),
                padded.begin() + static_cast<std::ptrdiff_t>(halved) + 1, padded.end());
    Strides complex = row_major_strides(padded);
    std::rotate(complex.begin() + static_cast<std::ptrdiff_t>(halved), complex.end() - 1, complex.end());
    Side pairs{complex, 0, element_count(padded)}, reals = pairs;
    for (std::size_t d = 0; d < full.size(); ++d) reals.strides[d] = d == halved ? 1 : 2 * complex[d];
    reals.size *= 2;
    (c.kind == Kind::RealToComplex ? in : out) = reals;
    (c.kind == Kind::RealToComplex ? out : in) = pairs;
  }

  Description d{c.kind, c.direction, {}, {}, c.scale, {}, c.input, c.output};
  for (std::size_t i = 0; i < full.size(); ++i) {
    (i < c.axes.size() ? d.axes : d.batch).push_back({full[i], in.strides[i], out.strides[i]});
  }

  // A random logical array; for ComplexToReal the half of a Hermitian one comes from a forward oracle of real data,
  // with noise where it is unused.
  const std::int64_t count = element_count(full);
  std::vector<Wide<L>> x(static_cast<std::size_t>(count));
  std::normal_distribution<double> normal;
  for (auto& z : x)
    z = {static_cast<T>(normal(rng)), c.kind == Kind::ComplexToComplex ? static_cast<T>(normal(rng)) : T(0)};
  std::vector<std::size_t> axes(c.axes.size());
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  const int sign = c.direction == Direction::Forward ? -1 : 1;
  if (c.kind == Kind::ComplexToReal) {
    oracle(x, full, axes, -sign);
    // Rounded in pairs, so that the array stays Hermitian: a point takes its value from itself, its mirror image the
    // conjugate of it.
    for (auto& z : x) z = {static_cast<T>(z.re), static_cast<T>(z.im)};
    auto hermitian = x;
    each_index(full, [&](const Shape& index, std::size_t at) {
      Shape mirror = index;
      for (std::size_t a = 0; a < c.axes.size(); ++a) mirror[a] = (c.axes[a] - index[a]) % c.axes[a];
      const auto m = static_cast<std::size_t>(offset(mirror, row_major_strides(full)));
      if (at > m) hermitian[at] = {x[m].re, -x[m].im};
      if (at == m) hermitian[at].im = 0;
    });
    x = hermitian;
  }
  const std::vector<Wide<L>> given = x;
  oracle(x, full, axes, sign);
  L points = 1;
  for (const std::int64_t n : c.axes) points *= static_cast<L>(n);
  const L factor = c.scale == Scale::None ? 1 : c.scale == Scale::ByLength ? 1 / points : 1 / std::sqrt(points);

  // Lay the input out. Planar parts lie in two arrays, pairs in one.
  const Executor e = Executor::host();
  const T guard = static_cast<T>(-77.25);
  const auto parts = [](bool complex, Format f) { return complex && f == Format::Interleaved ? 2 : 1; };
  const bool in_complex = c.kind != Kind::RealToComplex, out_complex = c.kind != Kind::ComplexToReal;
  const int in_step = parts(in_complex, c.input), out_step = parts(out_complex, c.output);
  constexpr std::int64_t kMargin = 8;
  const auto reals = [&](const Side& s, int step) { return static_cast<std::size_t>((s.size + 2 * kMargin) * step); };
  std::vector<T> in_re(reals(in, in_step), guard), in_im(reals(in, in_step), guard),
      out_re(reals(out, out_step), guard), out_im(out_re);
  const auto place = [&](const Side& s, int step, const Shape& index) {
    return static_cast<std::size_t>((kMargin + s.first + offset(index, s.strides)) * step);
  };
  each_index(in_shape, [&](const Shape& index, std::size_t) {
    const Wide<L>& z = given[static_cast<std::size_t>(offset(index, row_major_strides(full)))];
    const std::size_t at = place(in, in_step, index);
    in_re[at] = static_cast<T>(z.re);
    if (in_complex) (in_step == 2 ? in_re[at + 1] : in_im[at]) = static_cast<T>(z.im);
  });
  const std::vector<T> in_re_before = in_re, in_im_before = in_im;

  const Plan<T> plan(e, d);
  // Views that cover the side's elements and nothing of the margins.
  const auto view_shape = [](const Side& s) { return Shape{s.size - s.first, s.first + 1}; };
  const Strides view_strides{1, -1};
  using C = std::complex<T>;
  const auto reals_of = [&](std::vector<T>& v, const Side& s) {
    return View<T>(e, v.data() + kMargin + s.first, view_shape(s), view_strides);
  };
  const auto pairs_of = [&](std::vector<T>& v, const Side& s) {
    return View<C>(e, reinterpret_cast<C*>(v.data()) + kMargin + s.first, view_shape(s), view_strides);
  };
  std::vector<T>& target_re = c.in_place ? in_re : out_re;
  std::vector<T>& target_im = c.in_place ? in_im : out_im;
  const Buffer workspace(e, plan.workspace_bytes());
  // In place the real and the complex side begin at the same address, behind a margin of their own.
  std::vector<T> joint;
  if (c.in_place && c.kind != Kind::ComplexToComplex) {
    joint.assign(static_cast<std::size_t>(2 * (std::max(in.size, out.size) + 2 * kMargin)), guard);
    const std::size_t shift = static_cast<std::size_t>(kMargin * 2);
    for (std::int64_t i = 0; i < in.size * in_step; ++i) {
      joint[shift + static_cast<std::size_t>(i)] = in_re[static_cast<std::size_t>(kMargin * in_step + i)];
    }
    T* base = joint.data() + shift;
    C* pair = reinterpret_cast<C*>(base);
    if (c.kind == Kind::RealToComplex) {
      plan.execute(View<const T>(e, base, {in.size}), View<C>(e, pair, {out.size}), workspace);
    } else {
      plan.execute(View<const C>(e, pair, {in.size}), View<T>(e, base, {out.size}), workspace);
    }
    for (std::int64_t i = 0; i < out.size * out_step; ++i) {
      out_re[static_cast<std::size_t>(kMargin * out_step + i)] = joint[shift + static_cast<std::size_t>(i)];
    }
    for (std::size_t i = 0; i < shift; ++i) ASSERT_EQ(joint[i], guard);
  } else if (c.kind == Kind::ComplexToComplex && c.input == Format::Interleaved && c.output == Format::Interleaved) {
    plan.execute(View<const C>(pairs_of(in_re, in)), pairs_of(target_re, out), workspace);
  } else if (c.kind == Kind::ComplexToComplex) {
    plan.execute(PlanarView<const T>{reals_of(in_re, in), reals_of(in_im, in)},
                 PlanarView<T>{reals_of(target_re, out), reals_of(target_im, out)});
  } else if (c.kind == Kind::RealToComplex && c.output == Format::Interleaved) {
    plan.execute(View<const T>(reals_of(in_re, in)), pairs_of(out_re, out), workspace);
  } else if (c.kind == Kind::RealToComplex) {
    plan.execute(View<const T>(reals_of(in_re, in)), PlanarView<T>{reals_of(out_re, out), reals_of(out_im, out)});
  } else if (c.input == Format::Interleaved) {
    plan.execute(View<const C>(pairs_of(in_re, in)), reals_of(out_re, out), workspace);
  } else {
    plan.execute(PlanarView<const T>{reals_of(in_re, in), reals_of(in_im, in)}, reals_of(out_re, out));
  }
  if (c.in_place && c.kind == Kind::ComplexToComplex) out_re = in_re, out_im = in_im;

  // Error per transform, and every place of the output that is not an element keeps its guard.
  const std::int64_t batch = element_count(c.batch);
  std::vector<L> error(static_cast<std::size_t>(batch), 0), norm(error);
  std::vector<char> element(out_re.size(), 0);
  each_index(out_shape, [&](const Shape& index, std::size_t) {
    Wide<L> want = x[static_cast<std::size_t>(offset(index, row_major_strides(full)))];
    want = {want.re * factor, want.im * factor};
    const std::size_t at = place(out, out_step, index);
    element[at] = 1;
    if (out_step == 2) element[at + 1] = 1;
    const L re = out_re[at] - want.re, im = out_complex ? (out_step == 2 ? out_re[at + 1] : out_im[at]) - want.im : 0;
    const Shape b(index.begin() + static_cast<std::ptrdiff_t>(c.axes.size()), index.end());
    const auto which = static_cast<std::size_t>(offset(b, row_major_strides(c.batch)));
    error[which] += re * re + im * im;
    norm[which] += want.re * want.re + (out_complex ? want.im * want.im : 0);
  });
  for (std::size_t b = 0; b < error.size(); ++b) {
    ASSERT_LE(std::sqrt(error[b]), plan.accuracy().bound * std::sqrt(norm[b])) << "transform " << b;
  }
  if (!c.in_place) {
    for (std::size_t i = 0; i < element.size(); ++i) {
      if (!element[i]) {
        ASSERT_EQ(out_re[i], guard) << "written outside the output at " << i;
      }
    }
    ASSERT_EQ(in_re, in_re_before);
    ASSERT_EQ(in_im, in_im_before);
  }
}
template <class T> void check_case(const Case& c) { check_case<T>(c, random_side); }

}  // namespace trn::fft::test
