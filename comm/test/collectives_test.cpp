// Collectives against what they are defined to do, for every element type, on every number of ranks, on packed and
// strided views.
#include <trn/comm/collectives.hpp>

#include <complex>
#include <cstring>
#include <tuple>

#include "ranks.hpp"

namespace trn::comm {
namespace {

using namespace testing_support;

// Bytes that belong to (rank, index): every type is moved bit by bit, NaNs included.
template <class T> T value_of(int rank, std::int64_t index) {
  std::uint64_t bits = static_cast<std::uint64_t>(index + 1) * 0x9e3779b97f4a7c15u ^
                       static_cast<std::uint64_t>(rank + 1) * 0xd1342543de82ef95u;
  T value;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    reinterpret_cast<unsigned char*>(&value)[i] = static_cast<unsigned char>(bits >> 56);
  }
  return value;
}
template <class T> bool same_bits(const T& a, const T& b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

// A view of `count` elements with gaps between them, and everything in between.
template <class T> struct Spread {
  Spread(Shape shape, std::int64_t gap) : shape_(std::move(shape)), strides(row_major_strides(shape_)) {
    for (std::int64_t& s : strides) s *= gap;
    values.assign(static_cast<std::size_t>(element_count(shape_) * gap + 1), value_of<T>(99, 99));
  }
  View<T> view() { return View<T>(Executor::host(), values.data(), shape_, strides); }
  T& at(std::int64_t i) { return values[static_cast<std::size_t>(i * stride())]; }
  [[nodiscard]] std::int64_t stride() const { return strides.empty() ? 1 : strides.back(); }
  // Nothing between the elements has changed.
  void expect_gaps() const {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i + 1 < values.size() && static_cast<std::int64_t>(i) % stride() == 0) continue;
      ASSERT_TRUE(same_bits(values[i], value_of<T>(99, 99)));
    }
  }
  Shape shape_;
  Strides strides;
  std::vector<T> values;
};

template <class T> void check_moving(const Communicator& c, std::int64_t n, std::int64_t gap) {
  const int p = c.size();
  for (const int root : {0, p / 2, p - 1}) {
    Spread<T> v({n}, gap);
    for (std::int64_t i = 0; i < n; ++i) v.at(i) = value_of<T>(c.rank(), i);
    broadcast(c, root, v.view());
    for (std::int64_t i = 0; i < n; ++i) ASSERT_TRUE(same_bits(v.at(i), value_of<T>(root, i)));
    v.expect_gaps();
  }
  {
    Spread<T> mine({n}, gap), all({p, n}, gap);
    for (std::int64_t i = 0; i < n; ++i) mine.at(i) = value_of<T>(c.rank(), i);
    all_gather(c, mine.view(), all.view());
    for (int r = 0; r < p; ++r) {
      for (std::int64_t i = 0; i < n; ++i) ASSERT_TRUE(same_bits(all.at(r * n + i), value_of<T>(r, i)));
    }
    all.expect_gaps();
  }
  {
    Spread<T> send({p, n}, gap), receive({p, n}, gap);
    for (std::int64_t i = 0; i < p * n; ++i) send.at(i) = value_of<T>(c.rank(), i);
    all_to_all(c, View<const T>(send.view()), receive.view());
    for (int r = 0; r < p; ++r) {
      for (std::int64_t i = 0; i < n; ++i) {
        ASSERT_TRUE(same_bits(receive.at(r * n + i), value_of<T>(r, c.rank() * n + i)));
      }
    }
    receive.expect_gaps();
  }
  {
    // Rank r sends (r + 2 s) mod 4 elements to rank s.
    const auto count = [](int r, int s) { return static_cast<std::int64_t>((r + 2 * s) % 4); };
    std::vector<std::int64_t> out, in;
    std::int64_t sent = 0, received = 0;
    for (int s = 0; s < p; ++s) {
      out.push_back(count(c.rank(), s));
      in.push_back(count(s, c.rank()));
      sent += out.back();
      received += in.back();
    }
    Spread<T> send({sent}, gap), receive({received}, gap);
    std::int64_t at = 0;
    for (int s = 0; s < p; ++s) {
      for (std::int64_t i = 0; i < count(c.rank(), s); ++i) send.at(at++) = value_of<T>(c.rank() * p + s, i);
    }
    all_to_all_v(c, send.view(), out, receive.view(), in);
    at = 0;
    for (int r = 0; r < p; ++r) {
      for (std::int64_t i = 0; i < count(r, c.rank()); ++i) {
        ASSERT_TRUE(same_bits(receive.at(at++), value_of<T>(r * p + c.rank(), i)));
      }
    }
    receive.expect_gaps();
  }
  {
    const int next = (c.rank() + 1) % p, before = (c.rank() + p - 1) % p;
    Spread<T> send({n}, gap), receive({n}, gap);
    for (std::int64_t i = 0; i < n; ++i) send.at(i) = value_of<T>(c.rank(), i);
    send_receive(c, next, send.view(), before, receive.view());
    for (std::int64_t i = 0; i < n; ++i) ASSERT_TRUE(same_bits(receive.at(i), value_of<T>(before, i)));
    receive.expect_gaps();
  }
}

template <class... T> void check_types(std::tuple<T...>, const Communicator& c) {
  for (const std::int64_t n : {0, 1, 5}) {
    (check_moving<T>(c, n, 1), ...);
    (check_moving<T>(c, n, 3), ...);
  }
}

using Types = std::tuple<double, float, tfloat32, bfloat16, float16, float8_e4m3, float8_e4m3fn, float8_e5m2,
                         std::int32_t, std::int16_t, std::int8_t, std::uint32_t, std::uint16_t, std::uint8_t,
                         std::complex<float>, std::complex<double>, std::int64_t, std::uint64_t>;

TEST(Collectives, MoveEveryTypeOnEveryNumberOfRanks) {
  static_assert(std::tuple_size_v<Types> == 18);
  ASSERT_EQ(all_dtypes().size(), 18u);
  for (const int p : kRankCounts) {
    on_ranks(p, [](const Communicator& c) { check_types(Types{}, c); });
  }
  std::printf("%zu rank counts x 18 types x 6 layouts compared\n", std::size(kRankCounts));
}

TEST(Collectives, OfOneself) {
  check_types(Types{}, Communicator::self());
  EXPECT_EQ(sum(Communicator::self(), 5), 5);
  EXPECT_EQ(Communicator::self().split(3).size(), 1);
}

template <class T> void check_integers(const Communicator& c) {
  using U = std::make_unsigned_t<T>;
  for (const std::int64_t n : {0, 1, 5, 3000}) {  // short and long algorithms
    Spread<T> v({n}, 2), low = v, high = v;
    for (std::int64_t i = 0; i < n; ++i) v.at(i) = low.at(i) = high.at(i) = value_of<T>(c.rank(), i);
    sum(c, v.view());
    minimum(c, low.view());
    maximum(c, high.view());
    for (std::int64_t i = 0; i < n; ++i) {
      U total = 0;
      T least = value_of<T>(0, i), most = least;
      for (int r = 0; r < c.size(); ++r) {
        const T x = value_of<T>(r, i);
        total = static_cast<U>(total + static_cast<U>(x));
        least = std::min(least, x);
        most = std::max(most, x);
      }
      ASSERT_EQ(v.at(i), static_cast<T>(total));
      ASSERT_EQ(low.at(i), least);
      ASSERT_EQ(high.at(i), most);
    }
    v.expect_gaps();
    Spread<T> all({c.size(), n}, 1), mine({n}, 2);
    for (std::int64_t i = 0; i < c.size() * n; ++i) all.at(i) = value_of<T>(c.rank(), i);
    reduce_scatter(c, all.view(), mine.view());
    for (std::int64_t i = 0; i < n; ++i) {
      U total = 0;
      for (int r = 0; r < c.size(); ++r) {
        total = static_cast<U>(total + static_cast<U>(value_of<T>(r, c.rank() * n + i)));
      }
      ASSERT_EQ(mine.at(i), static_cast<T>(total));
    }
  }
}

TEST(Collectives, IntegersAddWithWrapping) {
  for (const int p : kRankCounts) {
    on_ranks(p, [](const Communicator& c) {
      check_integers<std::int8_t>(c), check_integers<std::uint8_t>(c), check_integers<std::int16_t>(c);
      check_integers<std::uint16_t>(c), check_integers<std::int32_t>(c), check_integers<std::uint32_t>(c);
      check_integers<std::int64_t>(c), check_integers<std::uint64_t>(c);
    });
  }
}

template <class T> void check_extremes(const Communicator& c) {
  const T inf = std::numeric_limits<T>::infinity();
  const auto bits = [](T x) {
    std::uint64_t b = 0;
    std::memcpy(&b, &x, sizeof x);
    return b;
  };
  const int last = c.size() - 1;
  // One rank has the value that decides; all others have `others`.
  const auto both = [&](T decides, T others, T least, T most) {
    const T mine = c.rank() == last ? decides : others;
    ASSERT_EQ(bits(minimum(c, mine)), bits(c.size() == 1 ? decides : least));
    ASSERT_EQ(bits(maximum(c, mine)), bits(c.size() == 1 ? decides : most));
  };
  both(T(-0.0), T(0.0), T(-0.0), T(0.0));
  both(T(0.0), T(-0.0), T(-0.0), T(0.0));
  both(inf, T(3), T(3), inf);
  both(-inf, T(3), -inf, T(3));
  both(std::numeric_limits<T>::denorm_min(), T(0), T(0), std::numeric_limits<T>::denorm_min());
  const T one_nan = std::numeric_limits<T>::quiet_NaN();
  // A NaN of another sign and payload becomes the one NaN, on one rank too.
  T odd;
  std::uint64_t pattern = sizeof(T) == 8 ? 0xfff8000000000123u : 0xffc00123u;
  std::memcpy(&odd, &pattern, sizeof odd);
  for (const T nan : {one_nan, odd}) {
    ASSERT_EQ(bits(minimum(c, c.rank() == last ? nan : T(1))), bits(one_nan));
    ASSERT_EQ(bits(maximum(c, c.rank() == 0 ? nan : T(1))), bits(one_nan));
  }
}

TEST(Collectives, MinimumAndMaximumOfRealNumbers) {
  for (const int p : kRankCounts) {
    on_ranks(p, [](const Communicator& c) {
      check_extremes<float>(c);
      check_extremes<double>(c);
      std::vector<double> many(5000);
      for (std::size_t i = 0; i < many.size(); ++i) many[i] = std::sin(double(i) * (c.rank() + 1));
      maximum(c, view_of(many));
      for (std::size_t i = 0; i < many.size(); ++i) {
        double most = -2;
        for (int r = 0; r < c.size(); ++r) most = std::max(most, std::sin(double(i) * (r + 1)));
        ASSERT_EQ(many[i], most);
      }
    });
  }
}

TEST(Collectives, InPlace) {
  on_ranks(4, [](const Communicator& c) {
    std::vector<int> all(4 * 3, -1), square(16);
    for (int i = 0; i < 3; ++i) all[static_cast<std::size_t>(c.rank() * 3 + i)] = 10 * c.rank() + i;
    const View<int> whole(Executor::host(), all.data(), {4, 3});
    all_gather(c, View<int>(Executor::host(), all.data() + c.rank() * 3, {3}), whole);
    for (int r = 0; r < 4; ++r) {
      for (int i = 0; i < 3; ++i) ASSERT_EQ(all[static_cast<std::size_t>(r * 3 + i)], 10 * r + i);
    }
    // Where it does not lie on its own copy, and an all_to_all onto itself.
    std::vector<int> shifted(4 * 3 + 1, 10 * c.rank());
    all_gather(c, View<int>(Executor::host(), shifted.data() + 1, {3}),
               View<int>(Executor::host(), shifted.data(), {4, 3}));
    for (int i = 0; i < 12; ++i) ASSERT_EQ(shifted[static_cast<std::size_t>(i)], 10 * (i / 3));
    for (int i = 0; i < 16; ++i) square[static_cast<std::size_t>(i)] = 100 * c.rank() + i;
    const View<int> in_place(Executor::host(), square.data(), {4, 4});
    all_to_all(c, in_place, in_place);
    for (int r = 0; r < 4; ++r) {
      for (int i = 0; i < 4; ++i) ASSERT_EQ(square[static_cast<std::size_t>(r * 4 + i)], 100 * r + 4 * c.rank() + i);
    }
    int value = c.rank();
    const View<int> one(Executor::host(), &value, {1});
    send_receive(c, (c.rank() + 1) % 4, one, (c.rank() + 3) % 4, one);
    ASSERT_EQ(value, (c.rank() + 3) % 4);
  });
}

TEST(Collectives, BetweenTwoRanks) {
  on_ranks(5, [](const Communicator& c) {
    const View<int> none(Executor::host(), nullptr, {7});  // not looked at
    int value = 7 * c.rank();
    const View<int> one(Executor::host(), &value, {1});
    if (c.rank() == 1) send_receive(c, 3, one, -1, none);
    if (c.rank() == 3) send_receive(c, -1, none, 1, one);
    EXPECT_EQ(value, c.rank() == 3 ? 7 : 7 * c.rank());
    send_receive(c, -1, none, -1, none);
    // Several in a row keep their order; others go on meanwhile.
    for (int i = 0; i < 20; ++i) {
      int x = i;
      const View<int> v(Executor::host(), &x, {1});
      if (c.rank() == 0) send_receive(c, 4, v, -1, none);
      if (c.rank() == 4) {
        x = -1;
        send_receive(c, -1, none, 0, v);
        ASSERT_EQ(x, i);
      }
    }
    int self = c.rank(), back = -1;
    send_receive(c, c.rank(), View<int>(Executor::host(), &self, {1}), c.rank(),
                 View<int>(Executor::host(), &back, {1}));
    EXPECT_EQ(back, c.rank());
    barrier(c);
  });
}

TEST(Collectives, InPartsOfAGroup) {
  for (const int p : kRankCounts) {
    on_ranks(p, [p](const Communicator& c) {
      // By colour, in the order of keys: here backwards.
      const Communicator part = c.split(c.rank() % 3, -c.rank());
      std::vector<int> members;
      for (int r = p - 1; r >= 0; --r) {
        if (r % 3 == c.rank() % 3) members.push_back(r);
      }
      ASSERT_EQ(part.size(), static_cast<int>(members.size()));
      ASSERT_EQ(members[static_cast<std::size_t>(part.rank())], c.rank());
      std::vector<int> all(members.size());
      int mine = c.rank();
      all_gather(part, View<int>(Executor::host(), &mine, {1}),
                 View<int>(Executor::host(), all.data(), {part.size(), 1}));
      EXPECT_EQ(all, members);
      // A part of a part, and both groups in turn.
      const Communicator pair = part.split(part.rank() / 2);
      EXPECT_EQ(sum(pair, 1), pair.size());
      EXPECT_LE(pair.size(), 2);
      EXPECT_EQ(sum(c, 1), p);
      EXPECT_EQ(broadcast(pair, pair.size() - 1, part.rank()), part.rank() / 2 * 2 + pair.size() - 1);
      EXPECT_FALSE(pair == part);
      EXPECT_TRUE(part == Communicator(part));
      check_moving<float>(part, 3, 2);
    });
  }
}

}  // namespace
}  // namespace trn::comm
