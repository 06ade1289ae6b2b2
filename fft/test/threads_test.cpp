// Threads: the same bits for any number of them, from several callers at once, and inside the caller's own parallel
// region.
#include "fft_support.hpp"

#include <omp.h>

#include <thread>

namespace trn::fft::test {
namespace {

template <class T> struct Transform {
  using C = std::complex<T>;
  Transform(const Description& d, int threads) : plan((omp_set_num_threads(threads), Executor::host()), d) {
    omp_set_num_threads(1);
  }
  [[nodiscard]] std::vector<C> operator()(const std::vector<C>& x, std::size_t outputs) const {
    std::vector<C> in = x, out(outputs);
    const Executor e = Executor::host();
    const View<C> from(e, in.data(), {static_cast<std::int64_t>(in.size())}),
        to(e, out.data(), {static_cast<std::int64_t>(out.size())});
    const auto reals = [&](const View<C>& v) { return View<T>(e, reinterpret_cast<T*>(v.data()), {2 * v.shape()[0]}); };
    switch (plan.description().kind) {
      case Kind::ComplexToComplex:
        plan.execute(View<const C>(from), to);
        break;
      case Kind::RealToComplex:
        plan.execute(View<const T>(reals(from)), to);
        break;
      case Kind::ComplexToReal:
        plan.execute(View<const C>(from), reals(to));
        break;
    }
    return out;
  }
  Plan<T> plan;
};

// Enough work that all of it is shared: blocks of a stage, lines of a far axis, one long line.
struct Shared {
  Kind kind;
  std::vector<std::int64_t> axes;
  std::int64_t batch;
};
const Shared kShared[] = {{Kind::ComplexToComplex, {8, 8, 8}, 600}, {Kind::ComplexToComplex, {64, 64, 64}, 1},
                          {Kind::ComplexToComplex, {400, 300}, 2},  {Kind::ComplexToComplex, {1 << 18}, 1},
                          {Kind::ComplexToComplex, {1 << 17}, 1},   {Kind::ComplexToComplex, {1000}, 150},
                          {Kind::ComplexToComplex, {97}, 1500},     {Kind::RealToComplex, {50, 60, 70}, 1},
                          {Kind::RealToComplex, {9, 10}, 3000},     {Kind::ComplexToReal, {50, 60, 70}, 1},
                          {Kind::ComplexToReal, {9, 10}, 3000},     {Kind::ComplexToReal, {512, 510}, 1},
                          {Kind::ComplexToComplex, {131101}, 1}};

Description describe(const Shared& s) {
  return dense(s.kind, s.kind == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward, s.axes,
               {.batch = s.batch});
}
std::size_t most_points(const Shared& s) {
  std::int64_t points = s.batch;
  for (std::size_t a = 0; a < s.axes.size(); ++a) points *= a + 1 == s.axes.size() ? s.axes[a] + 2 : s.axes[a];
  return static_cast<std::size_t>(points);
}

template <class T> void check_same_bits() {
  for (const Shared& s : kShared) {
    SCOPED_TRACE(::testing::Message() << name(s.kind) << " " << to_string(Shape(s.axes.begin(), s.axes.end()))
                                      << " batch " << s.batch);
    const auto x = random_complex<T>(static_cast<std::int64_t>(most_points(s)), 3);
    const auto one = Transform<T>(describe(s), 1)(x, x.size());
    for (const int threads : {2, 3, 5})
      ASSERT_EQ(one, Transform<T>(describe(s), threads)(x, x.size())) << threads << " threads";
  }
}
TEST(Threads, SameBitsForAnyNumberFloat) { check_same_bits<float>(); }
TEST(Threads, SameBitsForAnyNumberDouble) { check_same_bits<double>(); }

TEST(Threads, SeveralCallersShareOnePlan) {
  for (const Shared& s : {kShared[0], kShared[1], kShared[8]}) {
    const Transform<float> shared(describe(s), 3);
    constexpr int kCallers = 3;
    std::vector<std::vector<std::complex<float>>> x, expected;
    for (int c = 0; c < kCallers; ++c) {
      x.push_back(random_complex<float>(static_cast<std::int64_t>(most_points(s)), static_cast<std::uint32_t>(c)));
      expected.push_back(shared(x.back(), x.back().size()));
    }
    std::vector<int> wrong(kCallers, 0);
    std::vector<std::thread> callers;
    for (std::size_t c = 0; c < kCallers; ++c)
      callers.emplace_back([&, c] {
        for (int round = 0; round < 5; ++round) wrong[c] += shared(x[c], x[c].size()) != expected[c];
      });
    for (std::thread& t : callers) t.join();
    EXPECT_EQ(wrong, std::vector<int>(kCallers, 0));
  }
}

// A plan for several threads inside a parallel region: every caller works alone, and the result is the same.
TEST(Threads, InsideAParallelRegion) {
  const Shared& s = kShared[0];
  const Transform<double> shared(describe(s), 4);
  const auto x = random_complex<double>(static_cast<std::int64_t>(most_points(s)), 5);
  const auto expected = shared(x, x.size());
  int wrong = 0;
#pragma omp parallel for num_threads(3) reduction(+ : wrong)
  for (int i = 0; i < 6; ++i) wrong += shared(x, x.size()) != expected;
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace trn::fft::test
