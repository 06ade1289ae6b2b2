// Level 1 on the simulated machines against plain loops in long double: sizes across the edges of partitions and
// pieces, strides of both signs, real and complex, within bounds that count the roundings.
#include <cmath>
#include <complex>
#include <random>

#include <gtest/gtest.h>

#include <trn/blas/level1.hpp>
#include <trn/blas/rotations.hpp>
#include <trn/core/array.hpp>

namespace trn::blas::test {
namespace {

using Wide = std::complex<long double>;
constexpr double kU = 0x1p-24;

template <class T> struct Strided {
  std::int64_t n, inc, offset;
  std::vector<T> storage;
  Array<T> array;

  static std::vector<T> random(std::int64_t n, std::int64_t inc, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<float> normal;
    std::vector<T> values(static_cast<std::size_t>(n > 0 ? (n - 1) * std::abs(inc) + 1 : 0));
    for (T& x : values) {
      if constexpr (std::is_same_v<T, float>)
        x = normal(engine);
      else
        x = {normal(engine), normal(engine)};
    }
    return values;
  }
  Strided(const Executor& e, std::int64_t size, std::int64_t stride, std::uint64_t seed)
      : Strided(e, size, stride, random(size, stride, seed)) {}
  Strided(const Executor& e, std::int64_t size, std::int64_t stride, std::vector<T> values)
      : n(size),
        inc(stride),
        offset(stride < 0 ? (1 - size) * stride : 0),
        storage(std::move(values)),
        array(Array<T>::from_host(e, {static_cast<std::int64_t>(storage.size())}, storage)) {}
  VectorView<T> view() const { return {array.executor(), array.data() + offset, n, inc}; }
  T at(std::int64_t i) const { return storage[static_cast<std::size_t>(offset + i * inc)]; }
  std::vector<T> now() const { return array.to_host(); }
};

Wide wide(float x) { return x; }
Wide wide(std::complex<float> x) { return {x.real(), x.imag()}; }
long double size(Wide z) { return std::abs(z.real()) + std::abs(z.imag()); }

// Every element of `now` within roundings * u * scale(i) of exact(i), per part; the gaps of a strided vector untouched.
template <class T, class Exact, class Scale>
void expect_vector(const Strided<T>& v, Exact exact, Scale scale, double roundings) {
  const std::vector<T> now = v.now();
  std::vector<bool> inside(now.size(), false);
  for (std::int64_t i = 0; i < v.n; ++i) {
    const auto at = static_cast<std::size_t>(v.offset + i * v.inc);
    inside[at] = true;
    const Wide error = wide(now[at]) - exact(i);
    ASSERT_LE(std::max(std::abs(error.real()), std::abs(error.imag())), roundings * kU * scale(i))
        << "element " << i << " of " << v.n << " stride " << v.inc;
  }
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (inside[i]) continue;
    ASSERT_EQ(now[i], v.storage[i]) << "between elements, at " << i;
  }
}

struct Sizes {
  std::int64_t n, incx, incy;
};
constexpr Sizes kSizes[] = {{1, 1, 1},     {2, -1, 1},  {31, 3, -2},  {127, 1, 1},
                            {128, -1, -1}, {129, 2, 1}, {300, 1, -3}, {128 * 40 + 5, 1, 2}};
constexpr const char* kMachines[] = {"sim:trn1", "sim:trn2", "sim:trn3"};

template <class T> T number(double re, double im) {
  if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(re);
  else
    return {static_cast<float>(re), static_cast<float>(im)};
}

template <class T> void updates(const Executor& e, const Sizes& s) {
  SCOPED_TRACE(::testing::Message() << e.name() << " n " << s.n << " incx " << s.incx << " incy " << s.incy);
  Recorder recorder(e);
  const auto ran = [&](const char* operation) { EXPECT_EQ(recorder.family_of(operation), "device") << operation; };
  const T alpha = number<T>(0.7, -1.3);
  const Wide a = wide(alpha);
  {
    const Strided<T> x(e, s.n, s.incx, 1), y(e, s.n, s.incy, 2);
    axpy(e, alpha, x.view(), y.view());
    ran("blas.axpy");
    expect_vector(
        y, [&](auto i) { return wide(y.at(i)) + a * wide(x.at(i)); },
        [&](auto i) { return size(wide(y.at(i))) + size(a) * size(wide(x.at(i))); }, 4);
    expect_vector(
        x, [&](auto i) { return wide(x.at(i)); }, [](auto) { return 0; }, 0);
  }
  {
    const Strided<T> x(e, s.n, s.incx, 3), y(e, s.n, s.incy, 4);
    copy(e, x.view(), y.view());
    ran("blas.copy");
    expect_vector(
        y, [&](auto i) { return wide(x.at(i)); }, [](auto) { return 0; }, 0);
    const Strided<T> z(e, s.n, s.incy, 5);
    blas::swap(e, x.view(), z.view());
    ran("blas.swap");
    expect_vector(
        x, [&](auto i) { return wide(z.at(i)); }, [](auto) { return 0; }, 0);
    expect_vector(
        z, [&](auto i) { return wide(x.at(i)); }, [](auto) { return 0; }, 0);
  }
  {
    const Strided<T> x(e, s.n, s.incx, 6);
    scal(e, alpha, x.view());
    ran("blas.scal");
    expect_vector(
        x, [&](auto i) { return a * wide(x.at(i)); }, [&](auto i) { return size(a) * size(wide(x.at(i))); }, 3);
  }
  if constexpr (!std::is_same_v<T, float>) {
    const Strided<T> x(e, s.n, s.incx, 7);
    scal_real(e, 0.3f, x.view());
    expect_vector(
        x, [&](auto i) { return static_cast<long double>(0.3f) * wide(x.at(i)); },
        [&](auto i) { return size(wide(x.at(i))); }, 1);
  }
  {
    const Strided<T> x(e, s.n, s.incx, 8), y(e, s.n, s.incy, 9);
    const long double c = 0.6f;
    const T sine = number<T>(0.48, 0.64);
    rot(e, x.view(), y.view(), static_cast<float>(c), sine);
    ran("blas.rot");
    const Wide w = wide(sine);
    const auto scale = [&](auto i) { return 2 * (size(wide(x.at(i))) + size(wide(y.at(i)))); };
    expect_vector(
        x, [&](auto i) { return c * wide(x.at(i)) + w * wide(y.at(i)); }, scale, 4);
    expect_vector(
        y, [&](auto i) { return c * wide(y.at(i)) - std::conj(w) * wide(x.at(i)); }, scale, 4);
  }
}

TEST(Level1Device, UpdatesOfRealVectors) {
  for (const char* machine : kMachines) {
    const Executor e = Executor::open(machine);
    for (const Sizes& s : kSizes) updates<float>(e, s);
  }
}
TEST(Level1Device, UpdatesOfComplexVectors) {
  for (const char* machine : kMachines) {
    const Executor e = Executor::open(machine);
    for (const Sizes& s : kSizes) updates<std::complex<float>>(e, s);
  }
}
// Several pieces per vector, and an x that is one number.
TEST(Level1Device, LargeVectors) {
  const Executor e = Executor::open("sim:trn2");
  updates<float>(e, {128 * 2 * 2048 + 128 * 9 + 77, 1, 1});
  const Strided<float> x(e, 1, 1, 1), y(e, 1000, 1, 2);
  axpy(e, 2.0f, VectorView<const float>(e, x.array.data(), 1000, 0), y.view());
  expect_vector(
      y, [&](auto i) { return wide(y.at(i)) + 2.0L * wide(x.at(0)); },
      [&](auto i) { return size(wide(y.at(i))) + 2 * size(wide(x.at(0))); }, 2);
}

TEST(Level1Device, RotmWithEveryFlag) {
  const Executor e = Executor::open("sim:trn2");
  for (const float flag : {-1.0f, 0.0f, 1.0f}) {
    const Strided<float> x(e, 200, 1, 1), y(e, 200, -2, 2);
    const ModifiedRotation<float> h{flag, 0.5f, -0.25f, 1.5f, -2};
    Recorder recorder(e);
    rotm(e, x.view(), y.view(), h);
    EXPECT_EQ(recorder.family_of("blas.rotm"), "device");
    const long double h11 = flag == 0 ? 1 : h.h11, h12 = flag == 1 ? 1 : h.h12, h21 = flag == 1 ? -1 : h.h21,
                      h22 = flag == 0 ? 1 : h.h22;
    const auto scale = [&](auto i) { return 2 * (size(wide(x.at(i))) + size(wide(y.at(i)))); };
    expect_vector(
        x, [&](auto i) { return h11 * wide(x.at(i)) + h12 * wide(y.at(i)); }, scale, 3);
    expect_vector(
        y, [&](auto i) { return h21 * wide(x.at(i)) + h22 * wide(y.at(i)); }, scale, 3);
  }
}

template <class T> void reductions(const Executor& e, const Sizes& s) {
  SCOPED_TRACE(::testing::Message() << e.name() << " n " << s.n << " incx " << s.incx << " incy " << s.incy);
  const Strided<T> x(e, s.n, s.incx, 11), y(e, s.n, s.incy, 12);
  Wide straight = 0, conjugated = 0;
  long double magnitude = 0, squares = 0, scale = 0;
  std::int64_t most = 0, least = 0;
  const auto parts = [&](std::int64_t i) {  // the sum as float arithmetic gives it, which decides ties
    if constexpr (std::is_same_v<T, float>)
      return std::abs(x.at(i));
    else
      return std::abs(x.at(i).real()) + std::abs(x.at(i).imag());
  };
  for (std::int64_t i = 0; i < s.n; ++i) {
    const Wide a = wide(x.at(i)), b = wide(y.at(i));
    straight += a * b;
    conjugated += std::conj(a) * b;
    scale += size(a) * size(b);
    magnitude += size(a);
    squares += std::norm(a);
    if (parts(i) > parts(most)) most = i;
    if (parts(i) < parts(least)) least = i;
  }
  Recorder recorder(e);
  const auto ran = [&](const char* operation) { EXPECT_EQ(recorder.family_of(operation), "device") << operation; };
  // Behind each sum: a product, 64 additions in a group and one per group, at most half as many as 64; one rounding of
  // the result.
  const double roundings = 1 + std::min<double>(static_cast<double>(s.n), 64 + 64) + 1;
  const auto close = [&](auto value, Wide exact, long double of) {
    const Wide error = wide(value) - exact;
    EXPECT_LE(std::max(std::abs(error.real()), std::abs(error.imag())), roundings * kU * of);
  };
  close(dot(e, x.view(), y.view()), straight, scale);
  ran("blas.dot");
  close(dotc(e, x.view(), y.view()), conjugated, scale);
  close(asum(e, x.view()), magnitude, magnitude);
  ran("blas.asum");
  // nrm2 adds 512 squares one after the other: half of 513 roundings, and the result's own.
  EXPECT_LE(std::abs(nrm2(e, x.view()) - std::sqrt(squares)),
            (std::min<double>(static_cast<double>(2 * s.n), 512) / 2 + 2) * kU * std::sqrt(squares));
  ran("blas.nrm2");
  EXPECT_EQ(amax(e, x.view()), most);
  ran("blas.amax");
  EXPECT_EQ(amin(e, x.view()), least);
  ran("blas.amin");
}

TEST(Level1Device, Reductions) {
  for (const char* machine : kMachines) {
    const Executor e = Executor::open(machine);
    for (const Sizes& s : kSizes) {
      reductions<float>(e, s);
      reductions<std::complex<float>>(e, s);
    }
  }
  reductions<float>(Executor::open("sim:trn2"), {128 * 2 * 2048 + 128 * 9 + 77, 1, 1});
}

// Squares of these overflow and underflow; the norm does not.
TEST(Level1Device, Nrm2KeepsItsRange) {
  const Executor e = Executor::open("sim:trn2");
  const auto norm = [&](std::vector<float> values) {
    const auto n = static_cast<std::int64_t>(values.size());
    return nrm2(e, Strided<float>(e, n, 1, std::move(values)).view());
  };
  EXPECT_FLOAT_EQ(norm({3e30f, 4e30f}), 5e30f);
  EXPECT_FLOAT_EQ(norm({3e-30f, 4e-30f}), 5e-30f);
  EXPECT_EQ(norm({3e-43f, 4e-43f}),
            static_cast<float>(std::hypot(static_cast<double>(3e-43f), static_cast<double>(4e-43f))));  // denormal
  EXPECT_EQ(norm({0, 0, 0}), 0);
  std::vector<float> mixed(300, 1e-30f);
  mixed[7] = 3e38f;
  EXPECT_FLOAT_EQ(norm(mixed), 3e38f);
  EXPECT_EQ(norm({1, -INFINITY, 2}), INFINITY);
  EXPECT_TRUE(std::isnan(norm({1, NAN, 2})));
  EXPECT_TRUE(std::isnan(norm({INFINITY, NAN, 2})));
  EXPECT_EQ(norm(std::vector<float>(1000, 3e38f)), INFINITY);  // the norm itself overflows
}

// As the reference does it: a NaN never compares greater or smaller, so it counts only where it comes first. Ties: the
// first.
TEST(Level1Device, ExtremesOfNanInfinityAndTies) {
  const Executor e = Executor::open("sim:trn2");
  const auto with = [&](std::int64_t n, std::vector<std::pair<std::int64_t, float>> values) {
    std::vector<float> v(static_cast<std::size_t>(n), 1);
    for (const auto& [i, x] : values) v[static_cast<std::size_t>(i)] = x;
    return Strided<float>(e, n, 1, std::move(v));
  };
  EXPECT_EQ(amax(e, with(1000, {{500, -3}, {999, 3}, {7, NAN}}).view()), 500);
  EXPECT_EQ(amin(e, with(1000, {{998, -0.5f}, {997, 0.5f}, {999, 0.5f}, {7, NAN}}).view()), 997);
  EXPECT_EQ(amax(e, with(1000, {{0, NAN}, {20, 9}}).view()), 0);
  EXPECT_EQ(amin(e, with(1000, {{0, NAN}, {20, 0}}).view()), 0);
  EXPECT_EQ(amax(e, with(300, {{299, -INFINITY}, {298, 3e38f}}).view()), 299);
  EXPECT_EQ(amax(e, with(300, {}).view()), 0);
  EXPECT_EQ(amin(e, with(300, {}).view()), 0);
  EXPECT_EQ(amax(e, with(5, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}}).view()), 0);
}

TEST(Level1Device, WhatThereIsNot) {
  const Executor e = Executor::open("sim:trn2");
  const Array<double> x = Array<double>::from_host(e, {4}, std::vector<double>{1, 2, 3, 4}), y = x.to(e);
  EXPECT_THROW(axpy(e, 2.0, VectorView<double>(x.view()), VectorView<double>(y.view())), NotImplemented);
  EXPECT_THROW((void)nrm2(e, VectorView<double>(x.view())), NotImplemented);
  const Strided<float> f(e, 5, 1, 1);
  EXPECT_THROW((void)asum(e, f.view(), Precision(Mode::Exact)), NotImplemented);
}

// y = alpha y + y with one view for both, as the header allows.
TEST(Axpy, OfAVectorToItself) {
  for (const char* name : {"host", "sim:trn1", "sim:trn2", "sim:trn3"}) {
    const Executor e = Executor::open(name);
    std::vector<float> values(5000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 700;
    const auto y = Array<float>::from_host(e, {5000}, values);
    const VectorView<float> view(e, y.data() + 4999, 5000, -1);
    axpy(e, 0.5F, view, view);
    const auto after = y.to_host();
    for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(after[i], 1.5F * values[i]) << name << ' ' << i;
    using C = std::complex<float>;  // small integers: every step is exact
    std::vector<C> pairs(300);
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {static_cast<float>(i), 7 - static_cast<float>(i)};
    const auto z = Array<C>::from_host(e, {300}, pairs);
    const VectorView<C> same(e, z.data(), 150, 2);
    axpy(e, C(3, -2), same, same);
    const auto sums = z.to_host();
    for (std::size_t i = 0; i < pairs.size(); ++i)
      ASSERT_EQ(sums[i], i % 2 == 0 ? C(4, -2) * pairs[i] : pairs[i]) << name << ' ' << i;
  }
}

}  // namespace
}  // namespace trn::blas::test
