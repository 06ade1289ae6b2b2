// Properties of the transform on the host, over random shapes, axes, strides and batches, in and out of place:
// linearity, the shift theorem, Parseval's identity and the round trip. They need no oracle. Inputs are small multiples
// of 1/128, so that sums and shifts of them are exact, and every tolerance is the plans' own bound.
#include "plan_case.hpp"

#include <omp.h>

namespace trn::fft::test {
namespace {

using Z = std::complex<double>;
using Array = std::vector<Z>;  // row-major, axes then batch

double norm(const Array& x) {
  double sum = 0;
  for (const Z& z : x) sum += std::norm(z);
  return std::sqrt(sum);
}
double distance(const Array& x, const Array& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::norm(x[i] - y[i]);
  return std::sqrt(sum);
}

// A plan with the memory of both sides. The last axis of the spectrum of a real transform is halved.
template <class T> class Mapping {
 public:
  Mapping(const Case& c, const Side& in, const Side& out)
      : in_(in),
        out_(out),
        in_shape_(side_shape(c, true)),
        out_shape_(side_shape(c, false)),
        in_place_(c.in_place),
        plan_(Executor::host(), description(c)) {}
  [[nodiscard]] double bound() const { return plan_.accuracy().bound; }
  [[nodiscard]] Array operator()(const Array& x) const {
    using C = std::complex<T>;
    const bool real_in = plan_.description().kind == Kind::RealToComplex,
               real_out = plan_.description().kind == Kind::ComplexToReal;
    std::vector<C> memory(static_cast<std::size_t>(std::max(in_.size, out_.size))),
        other(in_place_ ? 0 : memory.size());
    std::vector<C>& target = in_place_ ? memory : other;
    each_index(in_shape_, [&](const Shape& index, std::size_t at) {
      const std::int64_t place = in_.first + offset(index, in_.strides);
      if (real_in)
        reinterpret_cast<T*>(memory.data())[place] = static_cast<T>(x[at].real());
      else
        memory[static_cast<std::size_t>(place)] = {static_cast<T>(x[at].real()), static_cast<T>(x[at].imag())};
    });
    const C* from = memory.data() + in_.first;
    C* to = target.data() + out_.first;
    const T* real_from = reinterpret_cast<const T*>(memory.data()) + in_.first;
    T* real_to = reinterpret_cast<T*>(target.data()) + out_.first;
    if (real_in)
      plan_.execute(real_from, to);
    else if (real_out)
      plan_.execute(from, real_to);
    else
      plan_.execute(from, to);
    Array y(static_cast<std::size_t>(element_count(out_shape_)));
    each_index(out_shape_, [&](const Shape& index, std::size_t at) {
      const std::int64_t place = out_.first + offset(index, out_.strides);
      if (real_out)
        y[at] = static_cast<double>(reinterpret_cast<const T*>(target.data())[place]);
      else
        y[at] = Z(target[static_cast<std::size_t>(place)]);
    });
    return y;
  }

 private:
  [[nodiscard]] Description description(const Case& c) const {
    Description d{c.kind, c.direction, {}, {}, c.scale};
    for (std::size_t i = 0; i < in_shape_.size(); ++i) {
      const std::int64_t extent = i < c.axes.size() ? c.axes[i] : in_shape_[i];
      (i < c.axes.size() ? d.axes : d.batch).push_back({extent, in_.strides[i], out_.strides[i]});
    }
    return d;
  }
  Side in_, out_;
  Shape in_shape_, out_shape_;
  bool in_place_;
  Plan<T> plan_;
};

// The squared norm of whole spectra: points of a half spectrum whose mirror image is not in it count twice.
double whole_norm(const Array& y, const Shape& shape, std::size_t halved, std::int64_t n) {
  double sum = 0;
  each_index(shape, [&](const Shape& index, std::size_t at) {
    const std::int64_t k = index[halved];
    sum += (k == 0 || 2 * k == n ? 1 : 2) * std::norm(y[at]);
  });
  return std::sqrt(sum);
}

template <class T> void check_properties(const Case& c, std::mt19937& rng) {
  SCOPED_TRACE(::testing::Message() << name(c.kind) << " " << name(c.direction) << " axes " << to_string(c.axes)
                                    << " batch " << to_string(c.batch) << (c.in_place ? " in place" : "") << " seed "
                                    << c.seed << " " << sizeof(T) * 8 << " bits");
  const bool real = c.kind == Kind::RealToComplex;
  const std::size_t halved = c.axes.size() - 1;
  const Shape in_shape = side_shape(c, true), out_shape = side_shape(c, false);
  Side in = random_side(in_shape, rng), out = random_side(out_shape, rng);
  if (c.in_place && !real) out = in;
  if (c.in_place && real) {  // a row of reals in the memory of its half spectrum
    Shape order = out_shape;
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(halved),
                order.begin() + static_cast<std::ptrdiff_t>(halved) + 1, order.end());
    Strides strides = row_major_strides(order);
    std::rotate(strides.begin() + static_cast<std::ptrdiff_t>(halved), strides.end() - 1, strides.end());
    out = {strides, 0, element_count(order)};
    in = out;
    for (std::size_t d = 0; d < strides.size(); ++d) in.strides[d] = d == halved ? 1 : 2 * strides[d];
  }
  const Mapping<T> there(c, in, out);
  Case reverse = c;
  if (real) reverse.kind = Kind::ComplexToReal;
  reverse.direction = c.direction == Direction::Forward ? Direction::Inverse : Direction::Forward;
  const Mapping<T> back(reverse, out, in);

  std::uniform_int_distribution<int> integer(-127, 127);
  const auto random_array = [&] {
    Array a(static_cast<std::size_t>(element_count(in_shape)));
    for (Z& z : a) z = {integer(rng) / 128.0, real ? 0.0 : integer(rng) / 128.0};
    return a;
  };
  const Array x = random_array(), y = random_array();
  const Array fx = there(x), fy = there(y);
  double points = 1;
  for (const std::int64_t n : c.axes) points *= static_cast<double>(n);
  const double root = std::sqrt(points), slack = 1 + 1e-9, u = sizeof(T) == 4 ? 0x1p-24 : 0x1p-53;
  // A bound holds for each transform of the batch, so for all of them together; of a computed norm it is relative to
  // the exact one.
  const double e = there.bound() * slack;

  Array sum(x.size()), combined(fx.size());
  for (std::size_t i = 0; i < x.size(); ++i) sum[i] = 2.0 * x[i] - 0.5 * y[i];
  for (std::size_t i = 0; i < fx.size(); ++i) combined[i] = 2.0 * fx[i] - 0.5 * fy[i];
  const Array fsum = there(sum);
  EXPECT_LE(distance(fsum, combined), e / (1 - e) * (norm(fsum) + 2 * norm(fx) + 0.5 * norm(fy))) << "linearity";

  const double whole = real ? whole_norm(fx, out_shape, halved, c.axes.back()) : norm(fx);
  EXPECT_NEAR(whole, root * norm(x), (real ? std::sqrt(2.0) : 1) * e * root * norm(x) + 1e-12 * whole) << "Parseval";

  // x shifted by s along an axis: its spectrum is turned by exp(-+ 2 pi i k s/n).
  const std::size_t axis = rng() % c.axes.size();
  const std::int64_t n = c.axes[axis], s = static_cast<std::int64_t>(rng() % static_cast<std::uint32_t>(n));
  Array shifted(x.size()), turned(fx.size());
  each_index(in_shape, [&](const Shape& index, std::size_t at) {
    Shape to = index;
    to[axis] = (index[axis] + s) % n;
    shifted[static_cast<std::size_t>(offset(to, row_major_strides(in_shape)))] = x[at];
  });
  each_index(out_shape, [&](const Shape& index, std::size_t at) {
    const Turn<long double> w = turn<long double>(index[axis] * s, n);
    turned[at] =
        fx[at] * Z(static_cast<double>(w.c), static_cast<double>(c.direction == Direction::Forward ? -w.s : w.s));
  });
  EXPECT_LE(distance(there(shifted), turned), 2 * e / (1 - e) * norm(fx) + 1e-15 * norm(fx))
      << "shift by " << s << " along axis " << axis;

  // There and back is N times x. The way back magnifies the error of the way there by at most sqrt(N), twice that
  // through a half spectrum.
  Array again = back(fx);
  for (Z& z : again) z /= points;
  const double f = back.bound() * slack;
  EXPECT_LE(distance(again, x), ((real ? 2 * e : e) * (1 + f) + f + u) * norm(x)) << "round trip";
}

TEST(Properties, RandomShapesStridesAxesAndBatches) {
  std::mt19937 rng(41);
  const auto pick = [&](auto... values) {
    const std::initializer_list<std::common_type_t<decltype(values)...>> list{values...};
    return *(list.begin() + rng() % list.size());
  };
  int in_place = 0, real = 0;
  for (int round = 0; round < 260; ++round) {
    Case c{};
    c.kind = pick(Kind::ComplexToComplex, Kind::RealToComplex);
    c.direction = c.kind == Kind::RealToComplex ? Direction::Forward : pick(Direction::Forward, Direction::Inverse);
    c.scale = Scale::None;
    const int rank = pick(1, 2, 2, 3, 4);
    std::int64_t points = 1;
    for (int i = 0; i < rank; ++i) {
      c.axes.push_back(rank == 1 ? pick(2, 7, 16, 30, 64, 97, 128, 210, 509, 1024)
                                 : pick(1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 17, 24, 37, 64, 67));
      if (points * c.axes.back() > 6000) c.axes.back() = 3;
      points *= c.axes.back();
    }
    for (int i = pick(0, 1, 1, 2); i > 0; --i) c.batch.push_back(points > 600 ? pick(1, 2) : pick(1, 3, 9, 20));
    c.in_place = rng() % 3 == 0;
    c.seed = static_cast<std::uint32_t>(round);
    in_place += c.in_place;
    real += c.kind == Kind::RealToComplex;
    omp_set_num_threads(pick(1, 1, 2));
    if (round % 2)
      check_properties<double>(c, rng);
    else
      check_properties<float>(c, rng);
    if (HasFailure()) break;
  }
  omp_set_num_threads(1);
  EXPECT_GT(in_place, 50);
  EXPECT_GT(real, 80);
}

}  // namespace
}  // namespace trn::fft::test
