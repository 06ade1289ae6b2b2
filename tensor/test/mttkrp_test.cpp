// MTTKRP on devices: one step for every mode of a tensor, against long double, in every layout, and CP on a device.
#include <gtest/gtest.h>

#include <cmath>

#include <trn/core/event.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tensor/cp.hpp>
#include <trn/tensor/plan_program.hpp>

#include "tensor_support.hpp"

namespace trn::tensor::testing {
namespace {

// Strides of a dense tensor whose axes lie in memory in this order, outermost first.
Strides laid_out(const Shape& shape, const std::vector<std::size_t>& order) {
  Strides strides(shape.size());
  std::int64_t step = 1;
  for (auto i = order.rbegin(); i != order.rend(); ++i) strides[*i] = step, step *= shape[*i];
  return strides;
}

struct Problem {
  std::string text;
  std::vector<Shape> shapes;
  std::vector<Strides> strides;
  std::complex<double> alpha = 1, beta = 0;
  bool transposed = false;  // D column-major
};

void check(const Executor& device, const Problem& p, bool one_step = true) {
  std::mt19937_64 random(3);
  const Values values{random};
  Description d;
  d.expression = parse(p.text, std::vector<std::int64_t>{static_cast<std::int64_t>(p.shapes[0].size()),
                                                         static_cast<std::int64_t>(p.shapes[1].size()),
                                                         static_cast<std::int64_t>(p.shapes[2].size())});
  const Sizes sizes = sizes_of(d.expression, p.shapes);
  Shape shape;
  for (const Label l : d.expression.output) shape.push_back(sizes[static_cast<std::size_t>(l)]);
  std::vector<Sample> in;
  std::vector<Buffer> there;
  std::vector<TypedView> views;
  const auto put = [&](const Sample& s) {
    there.emplace_back(device, static_cast<std::int64_t>(s.bytes.size()));
    copy_bytes(Executor::host(), s.bytes.data(), device, there.back().data(),
               static_cast<std::int64_t>(s.bytes.size()));
    return TypedView(device, s.dtype, there.back().data(), s.shape, s.strides);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    in.push_back(sample(DType::Float32, p.shapes[i], p.strides[i], values));
    views.push_back(put(in.back()));
    d.operands.push_back(operand_of(views.back()));
  }
  const Strides out_strides = p.transposed ? laid_out(shape, {1, 0}) : row_major_strides(shape);
  Sample out = sample(DType::Float32, shape, out_strides, values);
  const TypedView to = put(out);
  d.output = operand_of(to);
  const Plan plan(device, d);
  EXPECT_EQ(plan.steps().size() == 1 && plan.steps()[0].algorithm == "mttkrp", one_step) << p.text << plan.explain();
  const Exact exact = oracle(d.expression, sizes, in, {false, false, false});
  const Sample c = out;
  const EinsumResult result = plan.measure(views, to, {p.alpha, p.beta});
  copy_bytes(device, to.data, Executor::host(), out.bytes.data(), static_cast<std::int64_t>(out.bytes.size()));
  const std::vector<std::int64_t> offsets = offsets_of(shape, out_strides);
  long double error = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const long double old = c.at(offsets[i]).real();
    const long double want = p.alpha.real() * exact.values[i].real() + p.beta.real() * old;
    const long double allowed =
        plan.accuracy().bound * (std::abs(p.alpha.real()) * exact.absolute[i] + std::abs(p.beta.real() * old));
    const long double off = out.at(offsets[i]).real() - want;
    ASSERT_LE(std::abs(off), allowed) << p.text << " element " << i;
    error += off * off;
  }
  EXPECT_LE(std::sqrt(error), result.measured->error) << p.text;
}

// Row-major X, all its modes: the unit index is q, q, and m. Extents that leave rests in every block.
TEST(DeviceMttkrp, EveryMode) {
  const Shape x{130, 9, 37}, a{130, 5}, b{9, 5}, c{37, 5};
  const Strides rows = row_major_strides(x), f{5, 1};
  const Executor trn2 = Executor::open("sim:trn2");
  check(trn2, {"ijk,jr,kr->ir", {x, b, c}, {rows, f, f}});
  check(trn2, {"ijk,ir,kr->jr", {Shape{33, 30, 37}, Shape{33, 5}, c}, {Strides{1110, 37, 1}, f, f}, 0.5, -2});
  check(trn2, {"ir,ijk,jr->kr", {a, x, b}, {f, rows, f}, 2, 0});
  check(Executor::open("sim:trn1"), {"ir,ijk,jr->kr", {a, x, b}, {f, rows, f}});
  check(Executor::open("sim:trn3"), {"ijk,jr,kr->ir", {x, b, c}, {rows, f, f}, 1, 1});
}

TEST(DeviceMttkrp, OtherLayouts) {
  const Executor device = Executor::open("sim:trn2");
  const Shape x{40, 33, 41}, b{33, 3}, c{41, 3};
  for (const std::vector<std::size_t>& order : {std::vector<std::size_t>{2, 1, 0}, {1, 0, 2}, {0, 2, 1}}) {
    // Factors column-major, D too, operands exchanged.
    check(device, {"kr,ijk,jr->ri", {c, x, b}, {{1, 41}, laid_out(x, order), {1, 33}}, 1, 1, true});
  }
  // More rows of m than a block, more of q than rows that stay on chip.
  check(device, {"ijk,jr,kr->ir", {{520, 2, 33}, {2, 3}, {33, 3}}, {{66, 33, 1}, {3, 1}, {3, 1}}});
  check(device, {"ijk,jr,kr->ir", {{16, 16, 130}, {16, 64}, {130, 64}}, {{2080, 130, 1}, {64, 1}, {64, 1}}});
}

TEST(DeviceMttkrp, WhatIsNoMttkrp) {
  const Executor device = Executor::open("sim:trn2");
  const Shape x{40, 33, 41}, b{33, 2}, c{41, 2};
  const Strides rows = row_major_strides(x), f{2, 1};
  check(device, {"ijk,jr,kr->i", {x, b, c}, {rows, f, f}}, false);                                     // r is summed
  check(device, {"ijk,jr,ks->ir", {x, b, c}, {rows, f, f}}, false);                                    // another label
  check(device, {"ijk,jr,kr->ir", {{4, 3, 5}, {3, 2}, {5, 2}}, {{15, 5, 1}, {2, 1}, {2, 1}}}, false);  // too little
}

// Modelled: faster than both pairwise ways, whatever the mode, and within three of the time that reading X takes.
TEST(DeviceMttkrp, FasterThanInTwoSteps) {
  const Executor device = Executor::open("sim:trn2");
  const auto seconds = [&](const char* text, PathOptions path) {
    Description d;
    d.expression = parse(text, std::vector<std::int64_t>{3, 2, 2});
    const std::int64_t n = 160, r = 16;
    d.operands = {{{n, n, n}, {n * n, n, 1}}, {{n, r}, {r, 1}}, {{n, r}, {r, 1}}};
    d.output = {{n, r}, {r, 1}};
    d.path = std::move(path);
    return neuron::estimate(plan_program(Plan(device, d)), tile::machine("trn2")).seconds;
  };
  for (const char* text : {"ijk,jr,kr->ir", "ijk,ir,kr->jr", "ijk,ir,jr->kr"}) {
    const double one = seconds(text, {}),
                 by_q = seconds(text, {.method = PathMethod::Given, .fixed = {{0, 2}, {1, 3}}}),
                 by_p = seconds(text, {.method = PathMethod::Given, .fixed = {{0, 1}, {2, 3}}});
    RecordProperty(text, std::to_string(one * 1e6) + " us, in two steps " + std::to_string(by_q * 1e6) + " and " +
                             std::to_string(by_p * 1e6));
    EXPECT_LT(one, std::min(by_q, by_p)) << text;
    EXPECT_LT(one, 13.3e-6 + 3 * 160.0 * 160 * 160 * 4 / 416e9) << text;
  }
}

// CP of planted factors on a device: the fit of the host, and every product with X its own launch there.
TEST(DeviceMttkrp, CpOnADevice) {
  std::mt19937_64 random(5);
  std::normal_distribution<float> normal;
  for (const Shape& shape : {Shape{40, 33, 28}, Shape{9, 8, 7, 6}}) {
    const std::int64_t rank = 3;
    std::vector<std::vector<float>> f;
    for (const std::int64_t n : shape) {
      f.emplace_back(static_cast<std::size_t>(n * rank));
      for (float& v : f.back()) v = normal(random);
    }
    std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::int64_t r = 0; r < rank; ++r) {
        double term = 1;
        std::size_t rest = i;
        for (std::size_t k = shape.size(); k-- > 0;) {
          const auto n = static_cast<std::size_t>(shape[k]);
          term *= static_cast<double>(f[k][rest % n * 3 + static_cast<std::size_t>(r)]);
          rest /= n;
        }
        values[i] += static_cast<float>(term);
      }
    }
    const Executor device = Executor::open("sim:trn2"), host = Executor::host();
    const CpOptions options{.tolerance = 1e-7, .starts = 3, .enough = 1e-4};
    const Array<float> there = Array<float>::from_host(device, shape, values);
    const Recorder recorder(device);
    const Cp<float> c = cp<float>(device, there.view(), rank, options);
    EXPECT_GE(recorder.count(EventKind::Run), c.report.iterations * static_cast<int>(shape.size()));
    EXPECT_EQ(c.factors[0].executor(), device);
    EXPECT_GT(c.report.fit, 1 - 1e-4);
    const std::vector<float> y = reconstruct(device, c).to_host();
    double error = 0;
    for (std::size_t i = 0; i < y.size(); ++i) error += std::pow(static_cast<double>(y[i]) - values[i], 2);
    EXPECT_LE(std::sqrt(error), c.report.bound * (1 + 1e-6));
    EXPECT_THROW((void)cp<double>(device, View<const double>(device, nullptr, shape), rank), NotImplemented);
  }
}

}  // namespace
}  // namespace trn::tensor::testing
