// What plans refuse, and what they say; nothing is written then.
#include "fft_support.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

#include <trn/core/layout.hpp>
#include <trn/fft/convolve.hpp>
#include <trn/fft/plan_cache.hpp>
#include <trn/fft/stft.hpp>
#include <trn/fft/transforms.hpp>
#include <trn/fft/windows.hpp>

namespace trn::fft::test {
namespace {

using C = std::complex<double>;
constexpr Kind kC2C = Kind::ComplexToComplex, kR2C = Kind::RealToComplex, kC2R = Kind::ComplexToReal;
constexpr Direction kForward = Direction::Forward, kInverse = Direction::Inverse;

std::string refused(const Description& d) {
  return message_of<InvalidArgument>([&] { Plan<double>(Executor::host(), d); });
}

TEST(PlanArguments, Descriptions) {
  EXPECT_IN("fft.plan: no axes", refused({kC2C, kForward, {}}));
  EXPECT_IN("axis 1 has length 0", refused({kC2C, kForward, {{4, 4, 4}, {0, 1, 1}}}));
  EXPECT_IN("axis 0 has length -3", refused({kC2C, kForward, {{-3, 1, 1}}}));
  EXPECT_IN("batch dimension 0 has extent -1", refused({kC2C, kForward, {{4, 1, 1}}, {{-1, 4, 4}}}));
  EXPECT_IN("input_format is planar", refused({kR2C, kForward, {{4, 1, 1}}, {}, Scale::None, {}, Format::Planar}));
  EXPECT_IN("output_format is planar",
            refused({kC2R, kInverse, {{4, 1, 1}}, {}, Scale::None, {}, Format::Interleaved, Format::Planar}));
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_IN("more than 2^63 - 1 points", refused({kC2C, kForward, {{big, 1, 1}, {big, big, big}}}));
  EXPECT_IN("more than 2^63 - 1 points", refused({kC2C, kForward, {{big, 1, 1}}, {{big, 0, big}}}));
  EXPECT_IN("the input with extents (4) and strides", refused({kC2C, kForward, {{4, std::int64_t{1} << 60, 1}}}));
  EXPECT_IN("the output with extents (4) and strides", refused({kC2C, kForward, {{4, 1, -(std::int64_t{1} << 60)}}}));
  EXPECT_IN("spans more than 2^63 - 1 bytes",
            refused({kC2C, kForward, {{3, std::numeric_limits<std::int64_t>::min(), 1}}}));
}

TEST(PlanArguments, ValuesOutsideTheirEnumeration) {
  const auto kind = static_cast<Kind>(3);
  const auto direction = static_cast<Direction>(2);
  EXPECT_IN("fft.plan: Kind is 3, which is none of its values 0 to 2", refused({kind, kForward, {{4, 1, 1}}}));
  EXPECT_IN("fft.plan: Direction is 2, which is none of its values 0 to 1", refused({kC2C, direction, {{4, 1, 1}}}));
  EXPECT_IN("fft.plan: Scale is 9", refused({kC2C, kForward, {{4, 1, 1}}, {}, static_cast<Scale>(9)}));
  EXPECT_IN("fft.plan: Mode is 6", refused({kC2C, kForward, {{4, 1, 1}}, {}, Scale::None, static_cast<Mode>(6)}));
  EXPECT_IN("fft.plan: Format of the output is 2",
            refused({kC2C, kForward, {{4, 1, 1}}, {}, Scale::None, {}, Format::Planar, static_cast<Format>(2)}));
  EXPECT_IN("fft.dense: Kind is 3", message_of<InvalidArgument>([&] { (void)dense(kind, kForward, {4}); }));
  EXPECT_IN("fft.many: Direction is 2",
            message_of<InvalidArgument>([&] { (void)many(kC2C, direction, {4}, {}, {}, 1); }));
  EXPECT_IN("fft.window: WindowKind is 6",
            message_of<InvalidArgument>([&] { (void)window(static_cast<WindowKind>(6), 4); }));
  const Array<double> x(Executor::host(), {8});
  EXPECT_IN("fft.stft: Boundary is 6", message_of<InvalidArgument>([&] {
              (void)stft(Executor::host(), x.view(), {.n_fft = 4, .boundary = static_cast<Boundary>(6)});
            }));
  EXPECT_IN("ConvolveMode is 3", message_of<InvalidArgument>([&] {
              (void)convolve(Executor::host(), x.view(), x.view(), {.mode = static_cast<ConvolveMode>(3)});
            }));
  EXPECT_IN("Norm is 3", message_of<InvalidArgument>(
                             [&] { (void)rfft(Executor::host(), x.view(), {.norm = static_cast<Norm>(3)}); }));
}

// Tables are counted before memory is asked for.
TEST(PlanArguments, TablesHaveALimit) {
  const std::int64_t long_axis = std::int64_t{1} << 36, prime = 100000007;
  EXPECT_IN("to plan an axis of 68719476736 points takes", refused(dense(kC2C, kForward, {long_axis})));
  EXPECT_IN("GiB of tables, more than the 8 GiB", refused(dense(kC2R, kInverse, {3, long_axis})));
  EXPECT_IN("to plan an axis of 100000007 points takes", refused(dense(kC2C, kForward, {prime})));
  EXPECT_IN("to plan an axis of 100000007 points takes", refused(dense(kR2C, kForward, {prime})));
  EXPECT_IN("to plan an axis of 300000021 points takes", refused(dense(kC2R, kInverse, {2, 3 * prime})));
  EXPECT_NO_THROW((Plan<double>(Executor::host(), dense(kC2C, kForward, {std::int64_t{1} << 19}))));
}

TEST(PlanArguments, OverlappingOutputs) {
  EXPECT_IN("elements that overlap", refused({kC2C, kForward, {{4, 1, 0}}}));
  EXPECT_IN("elements that overlap", refused({kC2C, kForward, {{4, 1, 1}}, {{2, 4, 3}}}));
  EXPECT_IN("elements that overlap", refused({kC2C, kForward, {{3, 1, 2}}, {{3, 4, -4}}}));
  EXPECT_IN("extents (3, 2)", refused({kR2C, kForward, {{4, 1, 1}}, {{2, 4, 2}}}));
  // Legal: an output of n/2 + 1 points needs no more; strides that cross without meeting; a repeated input.
  const Executor e = Executor::host();
  EXPECT_NO_THROW((Plan<double>(e, {kR2C, kForward, {{4, 1, 1}}, {{2, 4, 3}}})));
  EXPECT_NO_THROW((Plan<double>(e, {kC2C, kForward, {{2, 1, 3}}, {{3, 2, 2}}})));
  EXPECT_NO_THROW((Plan<double>(e, {kC2C, kForward, {{4, 0, 1}}, {{5, 0, 4}}})));
}

// layout::repeats and layout::overlap against enumeration.
TEST(PlanArguments, LayoutSearchesAreExact) {
  std::mt19937 rng(3);
  int repeated = 0, met = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<layout::Dim> a, b;
    for (int d = static_cast<int>(rng() % 3) + 1; d > 0; --d) {
      a.push_back({static_cast<std::int64_t>(rng() % 4) + 1, static_cast<std::int64_t>(rng() % 25) - 12});
      b.push_back({static_cast<std::int64_t>(rng() % 4) + 1, static_cast<std::int64_t>(rng() % 25) - 12});
    }
    const auto offsets = [](const std::vector<layout::Dim>& dims) {
      Shape shape, strides;
      for (const layout::Dim& d : dims) shape.push_back(d.extent), strides.push_back(d.stride);
      std::vector<std::int64_t> all;
      each_index(shape, [&](const Shape& index, std::size_t) { all.push_back(offset(index, strides)); });
      std::sort(all.begin(), all.end());
      return all;
    };
    const auto oa = offsets(a), ob = offsets(b);
    const bool twice = std::adjacent_find(oa.begin(), oa.end()) != oa.end();
    repeated += twice;
    ASSERT_EQ(layout::repeats(a), twice) << "round " << round;
    const std::int64_t bytes_a = 1 << (rng() % 3), bytes_b = 1 << (rng() % 3);
    const std::uintptr_t at_a = 1000, at_b = 1000 + rng() % 40;
    bool shared = false;
    for (const std::int64_t x : oa) {
      for (const std::int64_t y : ob) {
        const std::int64_t p = 1000 + x * bytes_a, q = static_cast<std::int64_t>(at_b) + y * bytes_b;
        shared = shared || (p < q + bytes_b && q < p + bytes_a);
      }
    }
    met += shared;
    ASSERT_EQ(layout::overlap({at_a, bytes_a, a}, {at_b, bytes_b, b}), shared) << "round " << round;
  }
  EXPECT_GT(repeated, 300);
  EXPECT_GT(met, 300);
}

TEST(PlanArguments, Precision) {
  const Executor e = Executor::host();
  Description d = dense(kC2C, kForward, {16});
  for (const Mode mode : {Mode::Tf32, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6, Mode::Exact}) {
    d.precision = mode;
    EXPECT_IN("precision '" + std::string(name(mode)) + "' is not offered on the host",
              message_of<NotImplemented>([&] { Plan<float>(e, d); }));
    EXPECT_THROW(Plan<float>(e, d), NotImplemented);
  }
  d.precision = Precision::target(1e-3);
  EXPECT_LE(Plan<float>(e, d).accuracy().bound, 1e-3);
  d.precision = Precision::target(1e-12);
  EXPECT_IN("the target error is 1e-12", message_of<InvalidArgument>([&] { Plan<float>(e, d); }));
  EXPECT_THROW(Plan<float>(e, d), InvalidArgument);
  EXPECT_LE(Plan<double>(e, d).accuracy().bound, 1e-12);
}

// Every refusal below leaves `out` as it was.
class PlanExecute : public ::testing::Test {
 protected:
  PlanExecute() : in_(64, C(1, 2)), out_(64, C(-7, -8)), real_(64, 3.0), more_(64, -7.0) {}
  ~PlanExecute() override {
    EXPECT_EQ(out_, std::vector<C>(64, C(-7, -8)));
    EXPECT_EQ(more_, std::vector<double>(64, -7.0));
    EXPECT_EQ(in_, std::vector<C>(64, C(1, 2)));
  }
  View<const C> in(std::int64_t n) { return View<C>(e_, in_.data(), {n}); }
  View<C> out(std::int64_t n) { return {e_, out_.data(), {n}}; }
  View<const double> real(std::int64_t n) { return View<double>(e_, real_.data(), {n}); }
  View<double> more(std::int64_t n) { return {e_, more_.data(), {n}}; }
  template <class... A> std::string text(const Plan<double>& plan, const A&... a) {
    return message_of<InvalidArgument>([&] { plan.execute(a...); });
  }
  const Executor e_ = Executor::host();
  std::vector<C> in_, out_;
  std::vector<double> real_, more_;
};

TEST_F(PlanExecute, WrongKind) {
  const Plan<double> c2c(e_, dense(kC2C, kForward, {8})), r2c(e_, dense(kR2C, kForward, {8})),
      c2r(e_, dense(kC2R, kInverse, {8}));
  EXPECT_IN("fft.c2c: the plan is complex-to-complex, but execute() was given arrays of a real-to-complex transform",
            text(c2c, real(8), out(8)));
  EXPECT_IN("arrays of a complex-to-real transform", text(c2c, in(8), more(8)));
  EXPECT_IN("fft.r2c: the plan is real-to-complex", text(r2c, in(8), out(8)));
  EXPECT_IN("fft.c2r: the plan is complex-to-real", text(c2r, in(8), out(8)));
}

TEST_F(PlanExecute, WrongFormat) {
  Description d = dense(kC2C, kForward, {8});
  const PlanarView<const double> planar_in{real(8), real(8)};
  const PlanarView<double> planar_out{more(8), View<double>(e_, more_.data() + 8, {8})};
  EXPECT_IN("the input is planar, but the plan's input_format is interleaved",
            text(Plan<double>(e_, d), planar_in, planar_out));
  d.input_format = d.output_format = Format::Planar;
  EXPECT_IN("the input is interleaved, but the plan's input_format is planar",
            text(Plan<double>(e_, d), in(8), out(8)));
  Description r = dense(kR2C, kForward, {8});
  EXPECT_IN("the output is planar, but the plan's output_format is interleaved",
            text(Plan<double>(e_, r), real(8), planar_out));
}

TEST_F(PlanExecute, PartsMustMatch) {
  Description d = dense(kC2C, kForward, {8});
  d.input_format = d.output_format = Format::Planar;
  const Plan<double> plan(e_, d);
  const PlanarView<double> fine{more(8), View<double>(e_, more_.data() + 8, {8})};
  EXPECT_IN("the real part of the input has shape (8) and strides (1), the imaginary part (9) and (1)",
            text(plan, PlanarView<const double>{real(8), real(9)}, fine));
  EXPECT_IN("the real and the imaginary part of the output share elements",
            text(plan, PlanarView<const double>{real(8), real(8)},
                 PlanarView<double>{more(8), View<double>(e_, more_.data() + 7, {8})}));
}

TEST_F(PlanExecute, ViewsThatDoNotHoldTheElements) {
  const Plan<double> plan(e_,
                          many(kC2C, kForward, {4}, {.stride = 2, .distance = 16}, {.stride = 1, .distance = 4}, 3));
  EXPECT_IN(
      "fft.c2c: the input has shape (38) and strides (1), which hold elements 0 to 37 of its address; the plan touches "
      "0 to 38",
      text(plan, in(38), out(12)));
  EXPECT_IN("the output has shape (11)", text(plan, in(39), out(11)));
  EXPECT_IN("pointer is null", text(plan, in(39), View<C>(e_, nullptr, {12})));
  // Negative strides need elements before the address.
  const Plan<double> turned(e_, {kC2C, kForward, {{4, -1, 1}}});
  EXPECT_IN("the plan touches -3 to 0", text(turned, in(8), out(4)));
}

TEST_F(PlanExecute, AnotherExecutor) {
  const Executor sim = Executor::open("sim:trn2");
  const Array<C> there(sim, {8});
  const Plan<double> plan(e_, dense(kC2C, kForward, {8}));
  EXPECT_IN("fft.c2c: the input lives on executor 'sim:trn2', the call runs on 'host'",
            text(plan, View<const C>(there.view()), out(8)));
  EXPECT_IN("fft.c2c: the output lives on executor 'sim:trn2', the call runs on 'host'",
            text(plan, in(8), there.view()));
  const Buffer workspace(sim, 1 << 20), small(e_, 8);
  EXPECT_IN("the workspace lives on executor 'sim:trn2'", text(plan, in(8), out(8), workspace));
  const Plan<double> square(e_, dense(kC2C, kForward, {8, 8}));  // short lines need no workspace
  ASSERT_GT(square.workspace_bytes(), 8);
  EXPECT_IN("fft.c2c: the workspace has 8 bytes; the plan needs " + std::to_string(square.workspace_bytes()),
            text(square, in(64), out(64), small));
}

TEST_F(PlanExecute, Overlaps) {
  const Plan<double> plan(e_, dense(kC2C, kForward, {8}));
  const auto at = [&](std::int64_t offset) { return View<C>(e_, in_.data() + offset, {8}); };
  for (const std::int64_t shift : {1, 7}) {
    EXPECT_IN("fft.c2c: input and output share some elements", text(plan, View<const C>(at(0)), at(shift)));
    EXPECT_IN("fft.c2c: input and output share some elements", text(plan, View<const C>(at(shift)), at(0)));
  }
  const Plan<double> spread(e_, many(kC2C, kForward, {8}, {.stride = 1}, {.stride = 2}, 1));
  EXPECT_IN("begin at the same address, but the strides of the two sides differ",
            text(spread, View<const C>(e_, in_.data(), {16}), View<C>(e_, in_.data(), {16})));
  // Real transforms in place: rows must be padded.
  double* memory = reinterpret_cast<double*>(in_.data());
  const Plan<double> rows(e_, dense(kR2C, kForward, {8}, {.batch = 2}));
  EXPECT_IN("a stride of the real side is not twice the complex side's",
            text(rows, View<const double>(View<double>(e_, memory, {16})), View<C>(e_, in_.data(), {10})));
  const Plan<double> back(e_, {kC2R, kInverse, {{4, 1, 1}}, {{2, 2, 4}}});
  EXPECT_IN("rows of the input overlap", text(back, View<const C>(e_, in_.data(), {5}), View<double>(e_, memory, {8})));
  const Plan<double> apart(e_, {kR2C, kForward, {{4, 2, 1}}});
  EXPECT_IN("the last axis is not contiguous",
            text(apart, View<const double>(View<double>(e_, memory, {8})), View<C>(e_, in_.data(), {3})));
  Description p = dense(kR2C, kForward, {8});
  p.output_format = Format::Planar;
  EXPECT_IN("input and output share some elements",
            text(Plan<double>(e_, p), View<const double>(View<double>(e_, memory, {8})),
                 PlanarView<double>{View<double>(e_, memory, {5}), more(5)}));
  // A workspace that holds the operand.
  const Plan<double> square(e_, dense(kC2C, kForward, {8, 8}));
  const Buffer workspace(e_, square.workspace_bytes() + 64 * static_cast<std::int64_t>(sizeof(C)));
  EXPECT_IN("the workspace shares memory with the output",
            text(square, in(64), View<C>(e_, static_cast<C*>(workspace.data()), {64}), workspace));
}

TEST(PlanArguments, InterleavedSidesThatDoNotMeetAreFine) {
  // Input in the even places, output in the odd ones; left and right half of one matrix; planar parts within pairs.
  const Executor e = Executor::host();
  std::vector<C> memory(64, C(1, 0));
  const Plan<double> even(e, {kC2C, kForward, {{4, 2, 2}}});
  EXPECT_NO_THROW(even.execute(View<const C>(e, memory.data(), {7}), View<C>(e, memory.data() + 1, {7})));
  const Plan<double> halves(e, {kC2C, kForward, {{4, 1, 1}}, {{8, 8, 8}}});
  EXPECT_NO_THROW(halves.execute(View<const C>(e, memory.data(), {60}), View<C>(e, memory.data() + 4, {60})));
  Description d{kC2C, kForward, {{8, 2, 2}}};
  d.input_format = d.output_format = Format::Planar;
  auto* reals = reinterpret_cast<double*>(memory.data());
  const PlanarView<double> parts{View<double>(e, reals, {15}), View<double>(e, reals + 1, {15})};
  EXPECT_NO_THROW(Plan<double>(e, d).execute(PlanarView<const double>{parts.re, parts.im}, parts));
}

TEST(PlanArguments, EmptyBatchDoesNothing) {
  const Executor e = Executor::host();
  const Plan<float> plan(e, dense(kC2C, kForward, {8}, {.batch = 0}));
  EXPECT_EQ(plan.workspace_bytes(), 0);
  EXPECT_EQ(plan.accuracy().bound, 0);
  const View<std::complex<float>> nothing(e, nullptr, {0, 8});
  plan.execute(View<const std::complex<float>>(nothing), nothing);
  EXPECT_THROW(plan.execute(View<const float>(e, nullptr, {0}), nothing), InvalidArgument);
}

TEST(PlanArguments, DenseAndMany) {
  EXPECT_IN("fft.dense: no lengths", message_of<InvalidArgument>([] { (void)dense(kC2C, kForward, {}); }));
  EXPECT_IN("fft.dense: axis 1 has length 0", message_of<InvalidArgument>([] { (void)dense(kC2C, kForward, {3, 0}); }));
  EXPECT_IN("fft.dense: batch is -1",
            message_of<InvalidArgument>([] { (void)dense(kC2C, kForward, {3}, {.batch = -1}); }));
  EXPECT_IN("padded_real pads the rows of a real side",
            message_of<InvalidArgument>([] { (void)dense(kC2C, kForward, {3}, {.padded_real = true}); }));
  const std::int64_t big = std::int64_t{1} << 32;
  EXPECT_IN("overflow 64 bits", message_of<InvalidArgument>([&] { (void)dense(kC2C, kForward, {big, big, big}); }));
  EXPECT_IN("fft.many: 2 lengths but 1 extents in the input's embed", message_of<InvalidArgument>([] {
              (void)many(kC2C, kForward, {3, 4}, {{4}}, {}, 1);
            }));
  EXPECT_IN("fft.many: embed 0 of the output is 0",
            message_of<InvalidArgument>([] { (void)many(kC2C, kForward, {3}, {}, {{0}}, 1); }));

  const auto dims = [](std::vector<Dimension> d) { return d; };
  const Description r = dense(kR2C, kForward, {3, 8}, {.batch = 2});
  EXPECT_EQ(r.axes, dims({{3, 8, 5}, {8, 1, 1}}));
  EXPECT_EQ(r.batch, dims({{2, 24, 15}}));
  const Description p = dense(kC2R, kInverse, {3, 8}, {.batch = 2, .padded_real = true});
  EXPECT_EQ(p.axes, dims({{3, 5, 10}, {8, 1, 1}}));
  EXPECT_EQ(p.batch, dims({{2, 15, 30}}));
  // cuFFT's documentation: input[b * idist + (x * inembed[1] + y) * istride].
  const Description m = many(kC2C, kInverse, {3, 4}, {{5, 6}, 2, 100}, {{3, 7}, 3, 0}, 4);
  EXPECT_EQ(m.axes, dims({{3, 12, 21}, {4, 2, 3}}));
  EXPECT_EQ(m.batch, dims({{4, 100, 63}}));
}

TEST(PlanCache, KeepsTheLastUsed) {
  EXPECT_IN("the limit is 0", message_of<InvalidArgument>([] { PlanCache(0); }));
  const Executor e = Executor::host();
  PlanCache cache(2);
  const Description a = dense(kC2C, kForward, {4}), b = dense(kC2C, kForward, {5}), c = dense(kC2C, kForward, {6});
  (void)cache.get<float>(e, a);
  (void)cache.get<double>(e, a);  // another type is another plan
  EXPECT_EQ(cache.misses(), 2u);
  (void)cache.get<float>(e, a);
  EXPECT_EQ(cache.hits(), 1u);
  (void)cache.get<float>(e, b);  // the double plan goes: it was used longest ago
  EXPECT_EQ(cache.size(), 2u);
  (void)cache.get<float>(e, a);
  EXPECT_EQ(cache.hits(), 2u);
  (void)cache.get<double>(e, a);
  EXPECT_EQ(cache.misses(), 4u);
  const Plan<float> kept = cache.get<float>(e, c);
  cache.clear();
  EXPECT_EQ(cache.size(), 0u);
  std::vector<std::complex<float>> x(6, {1, 0}), y(6);
  kept.execute(View<const std::complex<float>>(e, x.data(), {6}),
               View<std::complex<float>>(e, y.data(), {6}));  // outlives the cache's copy
  EXPECT_EQ(y[0], std::complex<float>(6, 0));
  EXPECT_THROW((void)cache.get<float>(e, Description{}), InvalidArgument);
  EXPECT_EQ(cache.size(), 0u);
}

// Four threads ask for eight plans over and over, more than the cache holds.
TEST(PlanCache, SharedBetweenThreads) {
  const Executor e = Executor::host();
  PlanCache cache(5);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 60; ++i) {
        const std::int64_t n = 2 + (i + t) % 8;
        std::vector<C> x(static_cast<std::size_t>(n), C(1, 0)), y(x);
        cache.get<double>(e, dense(kC2C, kForward, {n}))
            .execute(View<const C>(e, x.data(), {n}), View<C>(e, y.data(), {n}));
        wrong += y[0] != C(static_cast<double>(n), 0);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(cache.hits() + cache.misses(), 240u);
  EXPECT_LE(cache.size(), 5u);
}

}  // namespace
}  // namespace trn::fft::test
