// Permutations, elementwise operations and reductions against loops over indices in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

#include <trn/core/error.hpp>
#include <trn/tensor/elementwise.hpp>

#include "random_case.hpp"
#include "support/message_of.hpp"

namespace trn::tensor {
namespace {

using testing::Sample;
using testing::sample;
using testing::Values;
using testing::Wide;

const Executor host = Executor::host();
const std::vector<DType> kTypes = {DType::Float32,    DType::Float64,  DType::Complex64,
                                   DType::Complex128, DType::BFloat16, DType::Float16};

Sample dense(DType type, const Shape& shape, std::mt19937_64& random) {
  return sample(type, shape, row_major_strides(shape), Values{random});
}

// Every permutation of four axes whose extents cross vectors and blocks, every type: bits are moved, not changed.
TEST(Permute, MovesEveryElement) {
  std::mt19937_64 random(1);
  const std::vector<Shape> shapes = {{3, 17, 2, 40}, {36, 5, 9, 8}, {1, 33, 33, 1}};
  for (const DType type : kTypes) {
    for (const Shape& shape : shapes) {
      Sample a = dense(type, shape, random);
      std::vector<Label> order = {0, 1, 2, 3};
      do {
        Shape out;
        std::string text = "abcd->";
        for (const Label l : order)
          out.push_back(shape[static_cast<std::size_t>(l)]), text += static_cast<char>('a' + l);
        Sample d = dense(type, out, random);
        permute(host, text, a.view(), d.view());
        const Strides to = row_major_strides(out);
        std::vector<std::int64_t> index(4, 0);
        int wrong = 0;
        for (const std::int64_t from : testing::offsets_of(shape, a.strides)) {
          std::int64_t rest = from;
          for (std::size_t i = 0; i < 4; ++i) index[i] = rest / a.strides[i], rest %= a.strides[i];
          wrong += a.at(from) != d.at(testing::offset_of(order, {9, 9, 9, 9}, to, index));
        }
        EXPECT_EQ(wrong, 0) << text << " " << name(type) << " " << trn::to_string(shape);
      } while (std::next_permutation(order.begin(), order.end()));
    }
  }
}

TEST(Permute, LargeResultsStreamPastTheCaches) {
  Array<float> a(host, {1536, 1600});
  for (std::int64_t i = 0; i < a.size(); ++i) a.data()[i] = static_cast<float>(i);
  const auto d = permute(host, "ab->ba", a.view());
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < 1536; ++i) {
    for (std::int64_t j = 0; j < 1600; ++j) wrong += d.data()[j * 1536 + i] != a.data()[i * 1600 + j];
  }
  EXPECT_EQ(wrong, 0);
}

// Matrices whose rows start in the middle of a line, runs that are too short for one, three indices beside them.
template <class T> void large_reversal(const Shape& shape, const char* text) {
  Array<T> a(host, shape);
  for (std::int64_t i = 0; i < a.size(); ++i) a.data()[i] = static_cast<T>(static_cast<float>(i));
  const auto d = permute(host, text, a.view());
  const Strides to = d.view().strides();
  std::int64_t wrong = 0, at = 0;
  for (; at < a.size(); ++at) {
    std::int64_t rest = at, place = 0;
    for (std::size_t i = shape.size(); i-- > 0; rest /= shape[i]) place += rest % shape[i] * to[shape.size() - 1 - i];
    wrong += d.data()[place] != a.data()[at];
  }
  EXPECT_EQ(wrong, 0) << text << " " << trn::to_string(shape);
}
TEST(Permute, LargeReversals) {
  large_reversal<float>({24, 320, 300}, "abc->cba");
  large_reversal<float>({17, 9, 10, 11, 131}, "abcde->edcba");
  large_reversal<double>({20, 230, 260}, "abc->cba");
  large_reversal<std::complex<double>>({6, 40, 50, 44}, "abcd->dcba");
}

TEST(Permute, PaddingConversionAndOperators) {
  std::mt19937_64 random(2);
  Sample a = dense(DType::Float32, {2, 3}, random), d = dense(DType::Float64, {6, 4}, random);
  permute(host, "ab->ba", a.view(), d.view(),
          {.unary = Unary::Abs, .alpha = 2, .pad_left = {1, 0}, .pad_right = {2, 2}, .pad_value = -7});
  for (std::int64_t i = 0; i < 6; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) {
      const bool inside = i >= 1 && i < 4 && j < 2;
      const Wide want = inside ? Wide(2 * std::abs(a.at(j * 3 + i - 1).real())) : Wide(-7);
      EXPECT_EQ(d.at(i * 4 + j), want) << i << " " << j;
    }
  }
  EXPECT_EQ(testing_support::message_of<InvalidArgument>([&] { permute(host, "ab->a", a.view(), d.view()); }),
            "tensor.permute: label 'b' of operand 1 is not in the result; use reduce to sum over it\n  ab -> a\n   ^");
}

// Each operator against its definition in long double; a few units of roundoff for the library's functions.
TEST(Elementwise, AllUnaryOperators) {
  using L = long double;
  const auto softplus = [](L x) { return std::log1p(std::exp(x)); };
  const auto sigmoid = [](L x) { return 1 / (1 + std::exp(-x)); };
  const std::map<Unary, std::function<L(L)>> meaning = {{Unary::Identity, [](L x) { return x; }},
                                                        {Unary::Sqrt, [](L x) { return std::sqrt(x); }},
                                                        {Unary::Relu, [](L x) { return x > 0 ? x : 0; }},
                                                        {Unary::Conj, [](L x) { return x; }},
                                                        {Unary::Rcp, [](L x) { return 1 / x; }},
                                                        {Unary::Sigmoid, sigmoid},
                                                        {Unary::Tanh, [](L x) { return std::tanh(x); }},
                                                        {Unary::Exp, [](L x) { return std::exp(x); }},
                                                        {Unary::Log, [](L x) { return std::log(x); }},
                                                        {Unary::Abs, [](L x) { return std::fabs(x); }},
                                                        {Unary::Neg, [](L x) { return -x; }},
                                                        {Unary::Sin, [](L x) { return std::sin(x); }},
                                                        {Unary::Cos, [](L x) { return std::cos(x); }},
                                                        {Unary::Tan, [](L x) { return std::tan(x); }},
                                                        {Unary::Sinh, [](L x) { return std::sinh(x); }},
                                                        {Unary::Cosh, [](L x) { return std::cosh(x); }},
                                                        {Unary::Asin, [](L x) { return std::asin(x); }},
                                                        {Unary::Acos, [](L x) { return std::acos(x); }},
                                                        {Unary::Atan, [](L x) { return std::atan(x); }},
                                                        {Unary::Asinh, [](L x) { return std::asinh(x); }},
                                                        {Unary::Acosh, [](L x) { return std::acosh(x); }},
                                                        {Unary::Atanh, [](L x) { return std::atanh(x); }},
                                                        {Unary::Ceil, [](L x) { return std::ceil(x); }},
                                                        {Unary::Floor, [](L x) { return std::floor(x); }},
                                                        {Unary::Mish, [&](L x) { return x * std::tanh(softplus(x)); }},
                                                        {Unary::Swish, [&](L x) { return x * sigmoid(x); }},
                                                        {Unary::Softplus, softplus},
                                                        {Unary::Softsign, [](L x) { return x / (1 + std::fabs(x)); }}};
  ASSERT_EQ(all_unary().size(), 28u);
  const std::vector<double> points = {-2.75, -0.625, -0.25, 0.125, 0.5, 0.875, 1, 3.5, 11};
  const auto n = static_cast<std::int64_t>(points.size());
  for (const Unary op : all_unary()) {
    for (const DType type : {DType::Float32, DType::Float64}) {
      Sample a = sample(type, {n}, {1}, [&](std::int64_t i) { return points[static_cast<std::size_t>(i)]; }), d = a;
      elementwise(host, "i->i", Binary::Add, {a.view()}, d.view(), {.unary = {op}});
      for (std::int64_t i = 0; i < n; ++i) {
        const L want = meaning.at(op)(points[static_cast<std::size_t>(i)]), got = d.at(i).real();
        if (std::isinf(want)) {
          EXPECT_EQ(got, want) << name(op);
        } else if (std::isnan(want)) {
          EXPECT_TRUE(std::isnan(got)) << name(op) << " of " << points[static_cast<std::size_t>(i)];
        } else {
          EXPECT_NEAR(static_cast<double>(got), static_cast<double>(want),
                      8 * unit_roundoff(type) * (std::abs(static_cast<double>(want)) + 1e-3))
              << name(op) << " of " << points[static_cast<std::size_t>(i)];
        }
      }
    }
  }
}

TEST(Elementwise, BinaryAndTrinaryWithRepeatedLabels) {
  std::mt19937_64 random(3);
  for (const DType type : {DType::Float32, DType::Complex128, DType::BFloat16}) {
    Sample a = dense(type, {4, 3, 5}, random), b = dense(type, {5, 4}, random), c = dense(type, {3}, random);
    Sample d = dense(type, {5, 4, 3}, random);
    elementwise(host, "abc,ca,b->cab", Binary::Mul, {a.view(), b.view(), c.view()}, d.view(),
                {.unary = {Unary::Neg, Unary::Identity, Unary::Conj}, .scale = {2, 1, 0.5}});
    const double u = unit_roundoff(type) + 4 * unit_roundoff(real_of(type) == DType::Float64 ? type : DType::Float32);
    for (std::int64_t i = 0; i < 4; ++i) {
      for (std::int64_t j = 0; j < 3; ++j) {
        for (std::int64_t k = 0; k < 5; ++k) {
          const Wide x = -2.0L * a.at((i * 3 + j) * 5 + k) * b.at(k * 4 + i), y = 0.5L * std::conj(c.at(j));
          EXPECT_LE(std::abs(d.at((k * 4 + i) * 3 + j) - (x + y)), 4 * u * (std::abs(x) + std::abs(y)));
        }
      }
    }
  }
  Sample x = dense(DType::Float32, {6}, random), y = dense(DType::Float32, {6}, random), z = x;
  elementwise(host, "i,i->i", Binary::Max, {x.view(), y.view()}, z.view());
  for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(z.at(i).real(), std::max(x.at(i).real(), y.at(i).real()));
  elementwise(host, "i,i->i", Binary::Add, {x.view(), z.view()}, z.view(), {.scale = {0, 1}});  // in place
  Sample w = dense(DType::Complex64, {6}, random);
  EXPECT_IN("no complex form", testing_support::message_of<NotImplemented>([&] {
              elementwise(host, "i,i->i", Binary::Min, {w.view(), w.view()}, w.view());
            }));
}

TEST(Reduce, EveryPartOfATensor) {
  std::mt19937_64 random(4);
  const Shape shape = {6, 35, 20};
  for (const DType type : {DType::Float32, DType::Float64, DType::Complex64, DType::Float16}) {
    Sample a = dense(type, shape, random);
    for (const std::string out : {"", "a", "b", "c", "ab", "ca", "cb", "bac"}) {
      Shape to;
      std::vector<Label> labels;
      for (const char l : out) labels.push_back(l - 'a'), to.push_back(shape[static_cast<std::size_t>(l - 'a')]);
      Sample d = dense(is_complex(type) ? type : DType::Float64, to, random);
      reduce(host, Binary::Add, "abc->" + out, a.view(), d.view(), {.alpha = 0.5});
      std::vector<Wide> want(static_cast<std::size_t>(element_count(to)));
      std::vector<long double> size(want.size());
      for (const std::int64_t from : testing::offsets_of(shape, a.strides)) {
        const std::vector<std::int64_t> index = {from / 700, from / 20 % 35, from % 20};
        const auto at =
            static_cast<std::size_t>(testing::offset_of(labels, Shape(to.size(), 9), row_major_strides(to), index));
        want[at] += 0.5L * a.at(from);
        size[at] += std::abs(a.at(from));
      }
      const double u = unit_roundoff(d.dtype);
      for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_LE(std::abs(d.at(static_cast<std::int64_t>(i)) - want[i]), 48 * u * size[i]) << out << name(type);
    }
  }
}
TEST(Reduce, LargestSmallestAndProducts) {
  std::mt19937_64 random(5);
  Sample a = dense(DType::Float64, {7, 40}, random), d = dense(DType::Float64, {7}, random);
  const auto check = [&](Binary op, auto join, double start) {
    reduce(host, op, "ij->i", a.view(), d.view());
    for (std::int64_t i = 0; i < 7; ++i) {
      double want = start;
      for (std::int64_t j = 0; j < 40; ++j) want = join(want, static_cast<double>(a.at(i * 40 + j).real()));
      EXPECT_NEAR(static_cast<double>(d.at(i).real()), want, 1e-13 * std::abs(want)) << name(op);
    }
  };
  check(
      Binary::Max, [](double x, double y) { return std::max(x, y); }, -1e300);
  check(
      Binary::Min, [](double x, double y) { return std::min(x, y); }, 1e300);
  check(
      Binary::Mul, [](double x, double y) { return x * y; }, 1);
  a.set(3, NAN);
  reduce(host, Binary::Max, "ij->i", a.view(), d.view());
  EXPECT_TRUE(std::isnan(d.at(0).real()));
  EXPECT_FALSE(std::isnan(d.at(1).real()));
  Array<double> none(host, {3, 0});
  EXPECT_EQ(
      testing_support::message_of<InvalidArgument>([&] { (void)reduce(host, Binary::Max, "ij->i", none.view()); }),
      "tensor.reduce: the max of no elements; give labels that are not empty");
  EXPECT_EQ(reduce(host, Binary::Mul, "ij->i", none.view()).to_host(), std::vector<double>(3, 1));
}
TEST(Reduce, LongSumsStayAccurate) {
  Array<float> a(host, {1 << 20});
  for (std::int64_t i = 0; i < a.size(); ++i) a.data()[i] = 0.1f;
  const float sum = reduce(host, Binary::Add, "i->", a.view()).data()[0];
  EXPECT_NEAR(sum, 0.1f * 0x1p20, 60 * 0x1p-24 * 0.1 * 0x1p20);
}

TEST(Elementwise, OperatorsAtInfinity) {
  const double inf = HUGE_VAL;
  const auto of = [&](Unary op, double x) {
    Array<double> a(host, {1}), d(host, {1});
    a.data()[0] = x;
    elementwise(host, "i->i", Binary::Add, {a.view()}, d.view(), {.unary = {op}});
    return d.data()[0];
  };
  for (const Unary op : {Unary::Swish, Unary::Mish}) {
    EXPECT_EQ(of(op, -inf), 0) << name(op);
    EXPECT_EQ(of(op, inf), inf) << name(op);
    EXPECT_EQ(of(op, -1e300), 0) << name(op);
    EXPECT_TRUE(std::isnan(of(op, NAN))) << name(op);
  }
  EXPECT_EQ(of(Unary::Softsign, inf), 1);
  EXPECT_EQ(of(Unary::Softsign, -inf), -1);
  EXPECT_EQ(of(Unary::Softsign, 1.7e308), 1);
}

TEST(Permute, PaddingsBeyond64BitsAreRefused) {
  Array<float> a(host, {2, 3});
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_IN("longer than 64 bits count", testing_support::message_of<InvalidArgument>([&] {
              (void)permute(host, "ab->ba", a.view(), {.pad_left = {most, 0}});
            }));
}

}  // namespace
}  // namespace trn::tensor
