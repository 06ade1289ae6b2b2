// Plan::execute with addresses: the results of the overloads with views, bit for bit, and what is still refused.
#include "fft_support.hpp"

#include <cstring>

namespace trn::fft::test {
namespace {

constexpr Kind kC2C = Kind::ComplexToComplex, kR2C = Kind::RealToComplex, kC2R = Kind::ComplexToReal;
constexpr Direction kForward = Direction::Forward, kInverse = Direction::Inverse;

template <class E> bool same_bits(const std::vector<E>& a, const std::vector<E>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(E)) == 0;
}

template <class T> void compare(const Executor& e, std::int64_t n, std::int64_t batch) {
  using C = std::complex<T>;
  SCOPED_TRACE("n = " + std::to_string(n) + ", batch = " + std::to_string(batch));
  const std::int64_t half = n / 2 + 1;
  const std::vector<C> x = random_complex<T>(n * batch, 1);
  const std::vector<T> r = random_real<T>(n * batch, 2);
  for (const Direction direction : {kForward, kInverse}) {
    Description d = dense(kC2C, direction, {n}, {.batch = batch});
    d.scale = direction == kForward ? Scale::None : Scale::ByLength;
    const Plan<T> plan(e, d);
    std::vector<C> views(x.size()), pointers(x.size()), with_workspace(x.size()), in_place = x;
    plan.execute(View<const C>(e, x.data(), {n * batch}), View<C>(e, views.data(), {n * batch}));
    plan.execute(x.data(), pointers.data());
    const Buffer workspace(e, plan.workspace_bytes());
    plan.execute(x.data(), with_workspace.data(), workspace.data());
    plan.execute(in_place.data(), in_place.data());
    EXPECT_TRUE(same_bits(pointers, views));
    EXPECT_TRUE(same_bits(with_workspace, views));
    EXPECT_TRUE(same_bits(in_place, views));
    const Recorder recorder(e);  // a listener changes the way, not the result
    plan.execute(x.data(), pointers.data());
    EXPECT_TRUE(same_bits(pointers, views));
    EXPECT_EQ(recorder.family_of("fft.c2c"), "host");
    d.input_format = d.output_format = Format::Planar;
    const Plan<T> planar(e, d);
    std::vector<T> re(r.size()), im(r.size()), want_re(r.size()), want_im(r.size());
    planar.execute(PlanarPointer<const T>{r.data(), r.data()}, PlanarPointer<T>{re.data(), im.data()});
    const View<const T> part(e, r.data(), {n * batch});
    planar.execute(PlanarView<const T>{part, part},
                   PlanarView<T>{{e, want_re.data(), {n * batch}}, {e, want_im.data(), {n * batch}}});
    EXPECT_TRUE(same_bits(re, want_re) && same_bits(im, want_im));
  }
  const Plan<T> there(e, dense(kR2C, kForward, {n}, {.batch = batch})),
      back(e, dense(kC2R, kInverse, {n}, {.batch = batch}));
  std::vector<C> views(static_cast<std::size_t>(half * batch)), pointers(views.size());
  there.execute(View<const T>(e, r.data(), {n * batch}), View<C>(e, views.data(), {half * batch}));
  there.execute(r.data(), pointers.data());
  EXPECT_TRUE(same_bits(pointers, views));
  std::vector<T> want(r.size()), got(r.size());
  back.execute(View<const C>(e, views.data(), {half * batch}), View<T>(e, want.data(), {n * batch}));
  back.execute(views.data(), got.data());
  EXPECT_TRUE(same_bits(got, want));
}

TEST(PlanPointers, EqualViews) {
  const Executor e = Executor::host();
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 20, 31, 32, 48, 61, 64, 128, 1000, 4096}) {
    for (const std::int64_t batch : {1, 5, 33}) {
      compare<float>(e, n, batch);
      compare<double>(e, n, batch);
    }
  }
}

TEST(PlanPointers, OnTheDevice) {
  const Executor e = Executor::open("sim:trn2");
  using C = std::complex<float>;
  const std::vector<C> x = random_complex<float>(96, 3);
  const Array<C> in = Array<C>::from_host(e, {96}, x), views(e, {96}), pointers(e, {96});
  const Plan<float> plan(e, dense(kC2C, kForward, {96}));
  plan.execute(View<const C>(in.view()), views.view());
  const Recorder recorder(e);
  plan.execute(in.view().data(), pointers.view().data());
  EXPECT_EQ(recorder.family_of("fft.c2c"), "device");
  EXPECT_TRUE(same_bits(pointers.to_host(), views.to_host()));
}

TEST(PlanPointers, Refusals) {
  using C = std::complex<double>;
  const Executor e = Executor::host();
  std::vector<C> x(64, C(1, 2)), y(64, C(-7, -8));
  std::vector<double> r(64, 3.0), s(64, -7.0);
  const auto text = [](const auto& call) { return message_of<InvalidArgument>(call); };
  for (const std::int64_t n : {4, 67}) {  // short, and through a convolution
    const Plan<double> c2c(e, dense(kC2C, kForward, {n}));
    EXPECT_IN("fft.c2c: the address of the input is null",
              text([&] { c2c.execute(static_cast<const C*>(nullptr), y.data()); }));
    EXPECT_IN("fft.c2c: the address of the output is null",
              text([&] { c2c.execute(x.data(), static_cast<C*>(nullptr)); }));
    EXPECT_IN("fft.c2c: the plan is complex-to-complex, but execute() was given arrays of a real-to-complex transform",
              text([&] { c2c.execute(r.data(), y.data()); }));
    EXPECT_IN("arrays of a complex-to-real transform", text([&] { c2c.execute(x.data(), s.data()); }));
    EXPECT_IN(
        "the input is planar, but the plan's input_format is interleaved", text([&] {
          c2c.execute(PlanarPointer<const double>{r.data(), r.data()}, PlanarPointer<double>{s.data(), s.data() + 32});
        }));
  }
  const Plan<double> r2c(e, dense(kR2C, kForward, {8}, {.batch = 2}));
  EXPECT_IN("fft.r2c: the address of the input is null",
            text([&] { r2c.execute(static_cast<const double*>(nullptr), y.data()); }));
  EXPECT_IN("a stride of the real side is not twice the complex side's",
            text([&] { r2c.execute(s.data(), reinterpret_cast<C*>(s.data())); }));
  const Plan<double> spread(e, {kC2C, kForward, {{4, 1, 2}}});
  EXPECT_IN("input and output begin at the same address, but the strides of the two sides differ",
            text([&] { spread.execute(y.data(), y.data()); }));
  Description d = dense(kC2C, kForward, {4});
  d.input_format = d.output_format = Format::Planar;
  const Plan<double> planar(e, d);
  EXPECT_IN("fft.c2c: the address of the output is null", text([&] {
              planar.execute(PlanarPointer<const double>{r.data(), r.data()}, PlanarPointer<double>{s.data(), nullptr});
            }));
  EXPECT_EQ(y, std::vector<C>(64, C(-7, -8)));
  EXPECT_EQ(s, std::vector<double>(64, -7.0));
  // Nothing to do: nothing is looked at.
  EXPECT_NO_THROW(Plan<double>(e, dense(kC2C, kForward, {4}, {.batch = 0}))
                      .execute(static_cast<const C*>(nullptr), static_cast<C*>(nullptr)));
}

}  // namespace
}  // namespace trn::fft::test
