// Carries out one case of `trnsci fuzz fft` and compares it with the definition.
//
// What is checked, all of it by analysis. Of transforms up to 96 points every result: || y - exact || <= bound || exact
// ||. Of longer ones single results, each of which may err by bound || exact || at most, and the norm of all results,
// which by Parseval's identity is known from the input. Besides: transforms whose input is finite have finite results
// (on the host also beside others that have not), memory that is not a result keeps its bits, so does the input out of
// place.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>

#include <fmt/core.h>
#include <omp.h>

#include "fuzz_driver.hpp"
#include "fuzz_fft.hpp"
#include "fuzz_fft_oracle.hpp"

namespace trn::tools::fuzz {
namespace {

using fft::Direction;
using fft::Format;
using fft::Kind;

[[noreturn]] void report(const std::string& text) { throw Finding{text}; }

// A side's elements, batch before axes: strides in elements, the place of the first one, how many places there are.
struct Layout {
  Shape extents;
  Strides strides;
  std::int64_t first = 0, size = 0;
  [[nodiscard]] std::int64_t offset(std::int64_t element) const {  // of row-major index `element`
    std::int64_t at = first;
    for (std::size_t d = extents.size(); d-- > 0; element /= extents[d]) at += element % extents[d] * strides[d];
    return at;
  }
};

// Row-major, or the dimensions in any order with gaps and signs.
Layout draw_layout(Draw& draw, const Shape& extents) {
  Layout l{extents, Strides(extents.size()), 0, 1};
  std::vector<std::size_t> order(extents.size());  // innermost first
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  const bool dense = draw.chance(2);
  if (!dense) std::shuffle(order.begin(), order.end(), draw.random);
  std::int64_t stride = dense ? 1 : 1 + draw.below(2);
  for (const std::size_t d : order) {
    const std::int64_t reach = stride * std::max<std::int64_t>(extents[d] - 1, 0);
    const bool backward = !dense && draw.chance(5);
    l.strides[d] = backward ? -stride : stride;
    if (backward) l.first += reach;
    l.size += reach;
    stride *= std::max<std::int64_t>(extents[d], 1);
    if (!dense && draw.chance(3)) stride += draw.below(3);
  }
  return l;
}
// FFTW's padded rows, as the complex or the real side sees them; `halved` are the extents of the complex side.
Layout padded_layout(const Shape& halved, std::int64_t n, bool real) {
  Layout l{halved, row_major_strides(halved), 0, element_count(halved)};
  if (!real) return l;
  l.extents.back() = n;
  for (std::size_t d = 0; d + 1 < l.strides.size(); ++d) l.strides[d] *= 2;
  l.size *= 2;
  return l;
}

// One or two pieces of an executor's memory and what they held before.
template <class T> struct Memory {
  std::vector<std::vector<T>> before;
  std::vector<Array<T>> now;
  Memory(const Executor& e, int parts, std::int64_t reals, Draw& draw) : before(static_cast<std::size_t>(parts)) {
    for (auto& part : before)
      part.assign(static_cast<std::size_t>(reals + 40),
                  static_cast<T>(draw.chance(2) ? std::numeric_limits<T>::quiet_NaN() : T(-77.25)));
    for (int i = 0; i < parts; ++i) now.emplace_back(e, Shape{reals + 40});
  }
  void upload() {
    for (std::size_t i = 0; i < now.size(); ++i)
      now[i] = Array<T>::from_host(now[i].executor(), now[i].shape(), before[i]);
  }
};

template <class T> class Runner {
 public:
  Runner(const FftCase& c, Draw& draw) : c_(c), draw_(draw) {}

  void run() {
    batch_ = element_count(c_.batch);
    points_ = element_count(c_.axes);
    Shape in_extents = c_.batch, out_extents = c_.batch;
    half_ = c_.axes;
    half_.back() = half_.back() / 2 + 1;
    const Shape& in_axes = c_.kind == Kind::ComplexToReal ? half_ : c_.axes;
    const Shape& out_axes = c_.kind == Kind::RealToComplex ? half_ : c_.axes;
    in_points_ = element_count(in_axes);
    out_points_ = element_count(out_axes);
    in_extents.insert(in_extents.end(), in_axes.begin(), in_axes.end());
    out_extents.insert(out_extents.end(), out_axes.begin(), out_axes.end());
    lay_out(in_extents, out_extents);
    make_points();
    execute();
    check();
  }

 private:
  using C = std::complex<T>;
  [[nodiscard]] bool complex_in() const { return c_.kind != Kind::RealToComplex; }
  [[nodiscard]] bool complex_out() const { return c_.kind != Kind::ComplexToReal; }

  void lay_out(const Shape& in_extents, const Shape& out_extents) {
    const bool joint = c_.in_place && c_.kind != Kind::ComplexToComplex;
    if (joint) {
      const Shape& halved = c_.kind == Kind::RealToComplex ? out_extents : in_extents;
      in_ = padded_layout(halved, c_.axes.back(), c_.kind == Kind::RealToComplex);
      out_ = padded_layout(halved, c_.axes.back(), c_.kind == Kind::ComplexToReal);
    } else {
      in_ = draw_layout(draw_, in_extents);
      out_ = c_.in_place ? in_ : draw_layout(draw_, out_extents);
    }
    in_step_ = complex_in() && c_.input == Format::Interleaved ? 2 : 1;
    out_step_ = complex_out() && c_.output == Format::Interleaved ? 2 : 1;
    in_base_ = 16 + in_step_ * draw_.below(3);
    out_base_ = c_.in_place ? in_base_ : 16 + out_step_ * draw_.below(3);
    const int in_parts = c_.input == Format::Planar ? 2 : 1, out_parts = c_.output == Format::Planar ? 2 : 1;
    in_memory_.emplace(c_.executor, in_parts, in_.size * in_step_, draw_);
    if (!c_.in_place) out_memory_.emplace(c_.executor, out_parts, out_.size * out_step_, draw_);
  }
  [[nodiscard]] Memory<T>& out_memory() { return c_.in_place ? *in_memory_ : *out_memory_; }

  // One number of transform b, point j.
  double number(std::int64_t b, std::int64_t j, double value, std::int64_t where) {
    const auto wide = [&](int range) {
      return std::ldexp(2 * draw_.unit() - 1, static_cast<int>(draw_.below(2 * range)) - range);
    };
    const int far = std::is_same_v<T, float> ? 60 : 400;
    switch (c_.points) {
      case Points::Noise:
        return 2 * draw_.unit() - 1;
      case Points::Spike:
        return j == where ? value : 0;
      case Points::Equal:
        return value;
      case Points::Alternating:
        return (j + b) % 2 == 0 ? value : -value;
      case Points::Tone:
        return std::cos(
            2 * M_PI * static_cast<double>(j) * static_cast<double>(where) / static_cast<double>(in_points_) + value);
      case Points::Wide:
        return wide(std::is_same_v<T, float> ? 20 : 100);
      case Points::Small:
        return std::ldexp(2 * draw_.unit() - 1, -far);
      case Points::Large:
        return std::ldexp(2 * draw_.unit() - 1, far);
      case Points::Zero:
        return 0;
    }
    return 0;
  }
  void make_points() {
    x_.resize(static_cast<std::size_t>(batch_ * in_points_));
    spoiled_.assign(static_cast<std::size_t>(batch_), false);
    for (std::int64_t b = 0; b < batch_; ++b) {
      const double re = 2 * draw_.unit() - 1, im = 2 * draw_.unit() - 1;
      const std::int64_t where = draw_.below(in_points_);
      for (std::int64_t j = 0; j < in_points_; ++j) {
        C& z = x_[static_cast<std::size_t>(b * in_points_ + j)];
        z = {static_cast<T>(number(b, j, re, where)), T(0)};
        if (complex_in()) z.imag(static_cast<T>(number(b, j, im, where)));
      }
    }
    for (std::int64_t count = c_.special && batch_ > 0 ? 1 + draw_.below(2) : 0; count > 0; --count) {
      const std::int64_t at = draw_.below(batch_ * in_points_);
      C& z = x_[static_cast<std::size_t>(at)];
      const T bad = draw_.pick({std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                                -std::numeric_limits<T>::infinity()});
      if (complex_in() && draw_.chance(2))
        z.imag(bad);
      else
        z.real(bad);
      spoiled_[static_cast<std::size_t>(at / in_points_)] = true;
    }
    for (std::size_t i = 0; i < x_.size(); ++i) {
      const auto at = static_cast<std::size_t>(in_base_ + in_.offset(static_cast<std::int64_t>(i)) * in_step_);
      in_memory_->before[0][at] = x_[i].real();
      if (complex_in()) (in_step_ == 2 ? in_memory_->before[0][at + 1] : in_memory_->before[1][at]) = x_[i].imag();
    }
    in_memory_->upload();
    if (out_memory_) out_memory_->upload();
  }

  template <class E> E* place(Memory<T>& m, std::size_t part, const Layout& l, std::int64_t base, int step) {
    return reinterpret_cast<E*>(m.now[part].data() + base + l.first * step);
  }
  // Every place of a side, seen from its first element.
  template <class E> View<E> view(E* at, const Layout& l) const {
    if (batch_ == 0) return View<E>(c_.executor, at, {0});
    return View<E>(c_.executor, at, {l.size - l.first, l.first + 1}, {1, -1});
  }
  void execute() {
    fft::Description d{c_.kind, c_.direction, {}, {}, c_.scale, c_.precision, c_.input, c_.output};
    for (std::size_t i = 0; i < in_.extents.size(); ++i) {
      const bool batch = i < c_.batch.size();
      const std::int64_t extent = batch ? c_.batch[i] : c_.axes[i - c_.batch.size()];
      (batch ? d.batch : d.axes).push_back({extent, in_.strides[i], out_.strides[i]});
    }
    omp_set_num_threads(c_.threads);
    const fft::Plan<T> plan(c_.executor, d);
    bound_ = plan.accuracy().bound;
    const Buffer workspace(c_.executor, c_.workspace ? plan.workspace_bytes() : 0);
    const auto call = [&](auto in, auto out, const auto& in_view, const auto& out_view) {
      if (c_.addresses) return plan.execute(in, out, c_.workspace ? workspace.data() : nullptr);
      if (c_.workspace) return plan.execute(in_view, out_view, workspace);
      plan.execute(in_view, out_view);
    };
    Memory<T>&from = *in_memory_, &to = out_memory();
    const auto in_part = [&](std::size_t i) { return place<T>(from, i, in_, in_base_, in_step_); };
    const auto out_part = [&](std::size_t i) { return place<T>(to, i, out_, out_base_, out_step_); };
    C *in_pairs = place<C>(from, 0, in_, in_base_, in_step_), *out_pairs = place<C>(to, 0, out_, out_base_, out_step_);
    const auto planar_in = [&] {
      return fft::PlanarView<const T>{view<const T>(in_part(0), in_), view<const T>(in_part(1), in_)};
    };
    const auto planar_out = [&] { return fft::PlanarView<T>{view(out_part(0), out_), view(out_part(1), out_)}; };
    const auto in_parts = [&] { return fft::PlanarPointer<const T>{in_part(0), in_part(1)}; };
    const auto out_parts = [&] { return fft::PlanarPointer<T>{out_part(0), out_part(1)}; };
    if (c_.kind == Kind::ComplexToComplex && c_.input == Format::Planar) {
      call(in_parts(), out_parts(), planar_in(), planar_out());
    } else if (c_.kind == Kind::ComplexToComplex) {
      call(static_cast<const C*>(in_pairs), out_pairs, view<const C>(in_pairs, in_), view(out_pairs, out_));
    } else if (c_.kind == Kind::RealToComplex && c_.output == Format::Planar) {
      call(static_cast<const T*>(in_part(0)), out_parts(), view<const T>(in_part(0), in_), planar_out());
    } else if (c_.kind == Kind::RealToComplex) {
      call(static_cast<const T*>(in_part(0)), out_pairs, view<const T>(in_part(0), in_), view(out_pairs, out_));
    } else if (c_.input == Format::Planar) {
      call(in_parts(), out_part(0), planar_in(), view(out_part(0), out_));
    } else {
      call(static_cast<const C*>(in_pairs), out_part(0), view<const C>(in_pairs, in_), view(out_part(0), out_));
    }
  }

  // Reads the results; everything else must be as it was.
  void read_results() {
    Memory<T>& m = out_memory();
    std::vector<std::vector<T>> after;
    for (const Array<T>& part : m.now) after.push_back(part.to_host());
    std::vector<std::vector<T>> expected = m.before;
    const auto keep = [&](std::size_t part, std::size_t at) { expected[part][at] = after[part][at]; };
    y_.resize(static_cast<std::size_t>(batch_ * out_points_));
    for (std::size_t i = 0; i < y_.size(); ++i) {
      const auto at = static_cast<std::size_t>(out_base_ + out_.offset(static_cast<std::int64_t>(i)) * out_step_);
      const bool pair = out_step_ == 2;
      y_[i] = {after[0][at], !complex_out() ? T(0) : pair ? after[0][at + 1] : after[1][at]};
      keep(0, at);
      if (complex_out()) keep(pair ? 0 : 1, pair ? at + 1 : at);
    }
    if (c_.in_place) {  // the rest of a row may be scratch
      for (std::size_t i = 0; i < x_.size(); ++i) {
        const auto at = static_cast<std::size_t>(in_base_ + in_.offset(static_cast<std::int64_t>(i)) * in_step_);
        keep(0, at);
        if (in_step_ == 2) keep(0, at + 1);
      }
    }
    const auto same = [](const std::vector<T>& a, const std::vector<T>& b) {
      return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
    };
    for (std::size_t part = 0; part < after.size(); ++part) {
      if (!same(after[part], expected[part])) report("memory outside the results was changed");
    }
    if (c_.in_place) return;
    for (std::size_t part = 0; part < in_memory_->now.size(); ++part) {
      if (!same(in_memory_->now[part].to_host(), in_memory_->before[part])) report("the input was changed");
    }
  }

  void check() {
    read_results();
    std::vector<std::int64_t> which;
    for (std::int64_t b = 0; b < batch_; ++b) {
      const bool spoiled = spoiled_[static_cast<std::size_t>(b)];
      if (spoiled || (c_.special && c_.executor.family() != Family::Host)) continue;
      for (std::int64_t k = 0; k < out_points_; ++k) {
        const C z = y_[static_cast<std::size_t>(b * out_points_ + k)];
        if (!std::isfinite(z.real()) || !std::isfinite(z.imag()))
          report(fmt::format("result {} of transform {} is not finite", k, b));
      }
      which.push_back(b);
    }
    std::shuffle(which.begin(), which.end(), draw_.random);
    if (which.size() > 3) which.resize(3);
    for (const std::int64_t b : which) {
      if (c_.is_double)
        check_transform<Quad>(b, std::int64_t{1} << 16);
      else
        check_transform<long double>(b, std::int64_t{1} << 19);
    }
  }

  // The whole logical array that transform b transforms, and the norm that its bound refers to, before the transform.
  template <class L> std::vector<Point<L>> whole(std::int64_t b, long double& squares) {
    const C* const given = x_.data() + b * in_points_;
    squares = 0;
    std::vector<Point<L>> all(static_cast<std::size_t>(points_));
    const auto count = [&](long double re, long double im) { squares += re * re + im * im; };
    if (c_.kind != Kind::ComplexToReal) {
      for (std::size_t j = 0; j < all.size(); ++j) {
        all[j] = {static_cast<L>(given[j].real()), static_cast<L>(given[j].imag())};
        count(given[j].real(), given[j].imag());
      }
      return all;
    }
    // Point k of the last axis above n/2 is the conjugate of point n - k of the mirror image; in the planes 0 and n/2
    // both are given, and what breaks the symmetry cancels.
    const std::int64_t n = c_.axes.back(), kept = half_.back(), rows = points_ / n;
    for (std::int64_t row = 0; row < rows; ++row) {
      std::int64_t mirror = 0, unit = 1, rest = row;
      for (std::size_t d = c_.axes.size() - 1; d-- > 0; rest /= c_.axes[d], unit *= c_.axes[d])
        mirror += (c_.axes[d] - rest % c_.axes[d]) % c_.axes[d] * unit;
      for (std::int64_t k = 0; k < n; ++k) {
        const C mine = k < kept ? given[row * kept + k] : std::conj(given[mirror * kept + n - k]);
        Point<L>& to = all[static_cast<std::size_t>(row * n + k)];
        to = {static_cast<L>(mine.real()), static_cast<L>(mine.imag())};
        if (k == 0 || 2 * k == n) {
          const C other = given[mirror * kept + k];
          to = {(to.re + static_cast<L>(other.real())) / 2, (to.im - static_cast<L>(other.imag())) / 2};
        }
        if (rows == 1)
          count(static_cast<long double>(to.re), static_cast<long double>(to.im));
        else
          count(mine.real(), mine.imag());
      }
    }
    return all;
  }

  template <class L> void check_transform(std::int64_t b, std::int64_t work) {
    long double squares = 0;
    const std::vector<Point<L>> x = whole<L>(b, squares);
    const auto total = static_cast<long double>(points_);
    const long double factor = c_.scale == fft::Scale::None       ? 1
                               : c_.scale == fft::Scale::ByLength ? 1 / total
                                                                  : 1 / std::sqrt(total);
    const L exact_factor = c_.scale == fft::Scale::Orthonormal ? root_of(static_cast<L>(total))
                           : c_.scale == fft::Scale::ByLength  ? 1 / static_cast<L>(total)
                                                               : L(1);
    const long double norm = factor * std::sqrt(total) * std::sqrt(squares),
                      tiny = 4 * total * std::numeric_limits<T>::min();
    const long double bound = bound_ * (1 + 0x1p-9L);
    const C* const y = y_.data() + b * out_points_;
    const Shape& axes = c_.kind == Kind::RealToComplex ? half_ : c_.axes;

    const bool all = points_ <= 96;
    const std::int64_t bins = all ? out_points_ : std::clamp<std::int64_t>(work / points_, 1, 8);
    long double errors = 0, exact_squares = 0;
    for (std::int64_t i = 0; i < bins; ++i) {
      const std::int64_t at = all ? i : draw_.below(out_points_);
      Shape k(axes.size());
      for (std::size_t d = axes.size(), rest = static_cast<std::size_t>(at); d-- > 0;
           rest /= static_cast<std::size_t>(axes[d]))
        k[d] = static_cast<std::int64_t>(rest % static_cast<std::size_t>(axes[d]));
      Point<L> want = result(x, c_.axes, k, c_.direction == Direction::Forward ? -1 : 1);
      want = {want.re * exact_factor, complex_out() ? want.im * exact_factor : L(0)};
      const auto re = static_cast<long double>(static_cast<L>(y[at].real()) - want.re),
                 im = static_cast<long double>(static_cast<L>(y[at].imag()) - want.im);
      errors += re * re + im * im;
      const auto exact_re = static_cast<long double>(want.re), exact_im = static_cast<long double>(want.im);
      exact_squares += exact_re * exact_re + exact_im * exact_im;
      if (!all && std::hypot(re, im) > bound * norm + tiny)
        report(fmt::format("result {} of transform {}: error {:.3g} of its bound", at, b,
                           static_cast<double>(std::hypot(re, im) / (bound * norm + tiny))));
    }
    if (all) {
      // What cancels in ComplexToReal over several axes counts in the norm.
      const long double allowed = bound * (c_.kind == Kind::ComplexToReal ? norm : std::sqrt(exact_squares)) + tiny;
      if (std::sqrt(errors) > allowed)
        report(fmt::format("transform {}: error {:.4g} of its bound", b,
                           static_cast<double>(std::sqrt(errors) / allowed)));
      return;
    }
    long double got = 0;
    for (std::int64_t k = 0; k < out_points_; ++k) {
      const std::int64_t last = k % axes.back();
      const bool twice = c_.kind == Kind::RealToComplex && last != 0 && 2 * last != c_.axes.back();
      const long double re = y[k].real(), im = y[k].imag();
      got += (twice ? 2 : 1) * (re * re + im * im);
    }
    // Of ComplexToReal the part that cancels has no norm in the result.
    long double there = 0;
    for (const Point<L>& z : x) {
      const auto re = static_cast<long double>(z.re), im = static_cast<long double>(z.im);
      there += re * re + im * im;
    }
    const long double expected = factor * std::sqrt(total) * std::sqrt(there),
                      root2 = c_.kind == Kind::RealToComplex ? std::sqrt(2.0L) : 1;
    if (std::abs(std::sqrt(got) - expected) > (root2 * bound + total * 0x1p-64L) * norm + tiny)
      report(fmt::format("transform {}: the norm of the results is {:.10g}, exact {:.10g}", b,
                         static_cast<double>(std::sqrt(got)), static_cast<double>(expected)));
  }
  // 1/sqrt(x) by Newton's steps from long double.
  template <class L> static L root_of(L x) {
    L r = 1 / std::sqrt(static_cast<long double>(x));
    for (int i = 0; i < 2; ++i) r = r * (3 - x * r * r) / 2;
    return r;
  }

  const FftCase& c_;
  Draw& draw_;
  std::int64_t batch_ = 1, points_ = 1, in_points_ = 1, out_points_ = 1;
  Shape half_;  // the axes, the last one halved
  Layout in_, out_;
  int in_step_ = 1, out_step_ = 1;
  std::int64_t in_base_ = 16, out_base_ = 16;
  std::optional<Memory<T>> in_memory_, out_memory_;
  std::vector<C> x_, y_;  // batch by batch, row-major
  std::vector<bool> spoiled_;
  double bound_ = 0;
};

}  // namespace

void run_case(const FftCase& c, Draw& draw) {
  if (c.is_double)
    Runner<double>(c, draw).run();
  else
    Runner<float>(c, draw).run();
}

}  // namespace trn::tools::fuzz
