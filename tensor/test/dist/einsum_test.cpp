// einsum of distributed arrays: the bits of one rank for every number of ranks, distribution and kind of cut; values
// against sums in long double within the bound that is reported.
#include <atomic>
#include <cmath>
#include <cstdio>

#include <trn/core/error.hpp>
#include <trn/tensor/dist_einsum.hpp>

#include "support/dist_matrices.hpp"

namespace trn::tensor {
namespace {

using namespace dist_test;

dist::Boxes boxes_of(const Shape& shape, int ranks, int which) {
  return dist::slabs(shape, which % static_cast<int>(shape.size()), which % 2 == 0 ? ranks : std::max(1, ranks - 1));
}
template <class F> void each_index(const Shape& extent, const F& f) {
  Shape index(extent.size(), 0);
  for (std::int64_t left = element_count(extent), at = 0; at < left; ++at) {
    f(at, index);
    for (std::size_t d = extent.size(); d-- > 0 && ++index[d] == extent[d];) index[d] = 0;
  }
}
std::int64_t flat(const Shape& shape, const Shape& index) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) at = at * shape[d] + index[d];
  return at;
}
template <class T>
dist::Array<T> filled(const comm::Communicator& c, const Executor& e, const Shape& shape, int seed, int which) {
  dist::Array<T> a(c, e, boxes_of(shape, c.size(), which));
  std::vector<T> mine(static_cast<std::size_t>(a.local().size()));
  each_index(a.local().shape(), [&](std::int64_t at, Shape index) {
    for (std::size_t d = 0; d < index.size(); ++d) index[d] += a.local_begin()[d];
    mine[static_cast<std::size_t>(at)] = number<T>(seed, flat(shape, index), 3);
  });
  if (!mine.empty()) copy(View<const T>(Executor::host(), mine.data(), a.local().shape()), a.local());
  return a;
}

// One of two operands; labels are letters, in order.
struct Case {
  const char *a, *b, *d;
  std::vector<std::int64_t> extents;  // of a, b, c, ...
  [[nodiscard]] Shape shape(const char* labels) const {
    Shape s;
    for (; *labels != '\0'; ++labels) s.push_back(extents[static_cast<std::size_t>(*labels - 'a')]);
    return s;
  }
  [[nodiscard]] std::string text() const { return std::string(a) + "," + b + "->" + d; }
};

template <class T> void check_values(const Case& c, const std::vector<T>& got, const Accuracy& accuracy) {
  const Shape sa = c.shape(c.a), sb = c.shape(c.b), sd = c.shape(c.d);
  std::vector<Wide<T>> sum(got.size(), Wide<T>(0));
  std::vector<long double> size(got.size(), 0);
  each_index(c.extents, [&](std::int64_t, const Shape& index) {
    const auto pick = [&](const char* labels) {
      Shape s;
      for (; *labels != '\0'; ++labels) s.push_back(index[static_cast<std::size_t>(*labels - 'a')]);
      return s;
    };
    const Wide<T> x = wide(number<T>(1, flat(sa, pick(c.a)), 3)), y = wide(number<T>(2, flat(sb, pick(c.b)), 3));
    const auto at = static_cast<std::size_t>(flat(sd, pick(c.d)));
    sum[at] += x * y;
    size[at] += std::abs(x) * std::abs(y);
  });
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_LE(std::abs(wide(got[i]) - sum[i]), 1.001L * static_cast<long double>(accuracy.bound) * size[i]) << i;
}

template <class T> int compare(const Case& c, Sharding sharding, const std::string& executor,
                               std::initializer_list<int> ranks, Precision precision = {}) {
  std::vector<T> one;
  std::atomic<int> cases = 0;
  for (const int p : ranks) {
    for (const int which : {0, 1}) {
      comm::run(
          group_of(executor, p),
          [&](const comm::Communicator& group, const Executor& e) {
            const auto a = filled<T>(group, e, c.shape(c.a), 1, which),
                       b = filled<T>(group, e, c.shape(c.b), 2, which + 1);
            const dist::Array<T> d(group, e, boxes_of(c.shape(c.d), p, 1 - which));
            const DistEinsumReport r = einsum<T>(c.text(), {a, b}, d, {.precision = precision, .sharding = sharding});
            const std::vector<T> got = d.to_host();
            EXPECT_LE(r.ranks, p);
            EXPECT_EQ(comm::maximum(group, r.accuracy.bound), comm::minimum(group, r.accuracy.bound));
            if (group.rank() != 0) return;
            if (one.empty()) {
              one = got;
              if (precision.mode() == Mode::Native) check_values(c, got, r.accuracy);
              if (sharding != Sharding::Automatic) {
                EXPECT_EQ(r.sharding, sharding);
              }
            }
            if (p > 1 && r.output_parts * r.sum_parts >= p) {
              EXPECT_GT(r.ranks, p / 2);
            }
            EXPECT_EQ(differing(got, one), 0) << c.text() << " " << name(sharding) << " " << p << " ranks";
            ++cases;
          },
          kLimits);
    }
  }
  return cases;
}

const Case kProduct{"ab", "bc", "ac", {37, 50, 29}}, kFour{"abcd", "cdeb", "ae", {11, 5, 6, 7, 9}},
    kBatch{"abc", "acd", "abd", {5, 13, 17, 8}}, kScalar{"abc", "ab", "c", {40, 30, 1}},
    kOuter{"a", "b", "ba", {31, 20}};

TEST(DistEinsum, HasTheSameBitsOnAnyNumberOfRanks) {
  int cases = 0;
  for (const Sharding s : {Sharding::Output, Sharding::Reduce, Sharding::Mixed, Sharding::Automatic}) {
    cases += compare<double>(kProduct, s, "host", {1, 2, 3, 4, 6, 7, 12});
    cases += compare<double>(kFour, s, "host", {1, 3, 7});
    cases += compare<double>(kScalar, s, "host", {1, 3, 4});
    cases += compare<double>(kOuter, s, "host", {1, 6});
    cases += compare<std::complex<double>>(kBatch, s, "host", {1, 4, 6});
    cases += compare<std::complex<float>>(kProduct, s, "host", {1, 5});
    cases += compare<float>(kBatch, s, "host", {1, 3});
  }
  std::printf("%d contractions compared bit by bit with one rank\n", cases);
  EXPECT_EQ(cases, 4 * 2 * (7 + 3 + 3 + 2 + 3 + 2 + 2));
}
TEST(DistEinsum, OnDevices) {
  int cases = 0;
  for (const Sharding s : {Sharding::Output, Sharding::Reduce}) {
    cases += compare<float>({"ab", "bc", "ac", {20, 24, 10}}, s, "sim:trn2", {1, 3});
    cases += compare<double>({"ab", "bc", "ac", {9, 12, 7}}, s, "sim:trn2", {1, 2}, Mode::Exact);
  }
  EXPECT_EQ(cases, 16);
}

// The cut that moves least: a product of flat matrices along the long label.
TEST(DistEinsum, AutomaticTakesTheCutThatMovesLeast) {
  comm::run(group_of("host", 4), [&](const comm::Communicator& group, const Executor& e) {
    const auto chosen = [&](const Case& c) {
      const auto a = filled<double>(group, e, c.shape(c.a), 1, 0), b = filled<double>(group, e, c.shape(c.b), 2, 0);
      const dist::Array<double> d(group, e, boxes_of(c.shape(c.d), 4, 0));
      return einsum<double>(c.text(), {a, b}, d);
    };
    EXPECT_EQ(chosen({"ab", "bc", "ac", {4, 4000, 4}}).sharding, Sharding::Reduce);
    EXPECT_EQ(chosen({"ab", "bc", "ac", {4000, 4, 4}}).sharding, Sharding::Output);
    EXPECT_EQ(chosen({"ab", "bc", "ac", {5, 5, 5}}).sharding, Sharding::Mixed);  // 4 x 4 parts, not five
    EXPECT_EQ(chosen(kScalar).sharding, Sharding::Reduce);
    EXPECT_EQ(chosen(kScalar).ranks, 4);
  });
}

TEST(DistEinsum, RefusesOnAllRanks) {
  std::atomic<int> refused = 0;
  comm::run(group_of("host", 3), [&](const comm::Communicator& group, const Executor& e) {
    const auto refuses = [&](const auto& f) {
      try {
        f();
      } catch (const InvalidArgument&) {
        ++refused;
      }
    };
    const auto a = filled<double>(group, e, {6, 5}, 1, 0), b = filled<double>(group, e, {5, 4}, 2, 0);
    const dist::Array<double> d(group, e, boxes_of({6, 4}, 3, 0)), other(group, e, boxes_of({4, 6}, 3, 0));
    const comm::Communicator part = group.split(0);
    const dist::Array<double> far(part, e, boxes_of({5, 4}, 3, 0));
    std::fill_n(d.local().data(), d.local().size(), 7.0);
    refuses([&] { (void)einsum<double>(group.rank() == 2 ? "ab,bc->ac" : "ab,bd->ad", {a, b}, d); });
    refuses([&] { (void)einsum<double>("ab,bc->ac", {a, b}, other); });
    refuses([&] { (void)einsum<double>("ab,cb->ac", {a, b}, d); });
    refuses([&] { (void)einsum<double>("ab,b>ac", {a, b}, d); });
    refuses([&] { (void)einsum<double>("ab,bc->ac", {a, far}, d); });
    refuses([&] { (void)einsum<double>("ab,bc->ac", {a, b}, d, {.parts = 0}); });
    refuses([&] {
      (void)einsum<double>("ab,ab->", {a, a}, dist::Array<double>(group, e, dist::Boxes{{}, {{{}, {}}}}));
    });
    refuses([&] { (void)einsum<double>("ab,bc->ac", {a, b}, d, {.sharding = static_cast<Sharding>(9)}); });
    for (std::int64_t i = 0; i < d.local().size(); ++i) EXPECT_EQ(d.local().data()[i], 7.0);
  });
  EXPECT_EQ(refused, 24);
}

}  // namespace
}  // namespace trn::tensor
