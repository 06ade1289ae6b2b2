// Collective operations, sums, and distributed matrices and arrays over processes: against brute force, and bit by bit
// against one rank (self) and against three ranks that are threads.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include <trn/comm/group.hpp>
#include <trn/comm/matrix.hpp>
#include <trn/comm/reductions.hpp>

#include "cases.hpp"

namespace trn::comm::ranks_test {

namespace {

template <class T> View<T> view_of(std::vector<T>& v) {
  return View<T>(Executor::host(), v.data(), {static_cast<std::int64_t>(v.size())});
}

template <class T> std::uint64_t hash_of(const std::vector<T>& values) {
  std::uint64_t h = 1469598103934665603ULL;
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (std::size_t i = 0; i < values.size() * sizeof(T); ++i) h = (h ^ bytes[i]) * 1099511628211ULL;
  return h;
}

double element(std::int64_t i) {
  const auto x = static_cast<double>(i);
  return std::ldexp(std::sin(x * 0.7) + 1e-9 * x, static_cast<int>(i * 7 % 41) - 20);
}

// Sums of 100,000 numbers of very different sizes: a tree over blocks, and exactly.
void sums(const Communicator& c, Results& results) {
  const dist::Boxes rows = dist::block_rows(100000, c.size());
  const auto& mine = rows.boxes[static_cast<std::size_t>(c.rank())];
  BlockSums blocks;
  blocks.first_block = mine.begin[0] / dist::kSumBlock;
  blocks.total_blocks = (rows.shape[0] + dist::kSumBlock - 1) / dist::kSumBlock;
  ExactSum exact;
  for (std::int64_t first = mine.begin[0]; first < mine.begin[0] + mine.extent[0]; first += dist::kSumBlock) {
    double s = 0;
    for (std::int64_t i = first; i < std::min(first + dist::kSumBlock, mine.begin[0] + mine.extent[0]); ++i) {
      s += element(i);
      exact.add_product(element(i), element(i + 1));
    }
    blocks.sums.push_back(s);
  }
  results["block_sums"] = std::bit_cast<std::uint64_t>(sum(c, blocks));
  results["exact_sum"] = std::bit_cast<std::uint64_t>(sum(c, exact).to_double());
}

// The same matrix and array, whoever has which part of it.
void containers(const Communicator& c, Results& results) {
  const Executor host = Executor::host();
  const int p = c.size();
  dist::Matrix<double> a(c, host, {37, 53, 4, 6, dist::square_grid(p)});
  a.fill([](std::int64_t i, std::int64_t j) { return element(i * 100 + j); });
  results["matrix"] = hash_of(a.to_host());
  results["matrix_rows"] = hash_of(a.redistributed({37, 53, 5, 53, {p, 1}}).to_host());
  results["matrix_columns"] = hash_of(a.redistributed({37, 53, 37, 1, {1, p}}).to_host());
  results["matrix_one"] = hash_of(a.redistributed({37, 53, 64, 64, {1, 1}}).redistributed(a.distribution()).to_host());
  const dist::Matrix<float> none(c, host, {0, 5, 2, 2, {1, p}});
  results["matrix_empty"] = none.to_host().size();

  dist::Array<std::complex<float>> x(c, host, dist::slabs({13, 7, 5}, 0, p));
  const View<std::complex<float>> local = x.local();
  for (std::int64_t i = 0; i < local.size(); ++i) {
    const auto global = static_cast<float>(x.local_begin()[0] * 35 + i);
    local.data()[i] = {global, 0.5F - global};
  }
  results["array"] = hash_of(x.to_host());
  const auto pencils = x.redistributed(dist::pencils({13, 7, 5}, 1, 2, dist::square_grid(p)));
  results["array_pencils"] = hash_of(pencils.redistributed(dist::slabs({13, 7, 5}, 2, p)).to_host());
}

void integers(const Communicator& c, Results& results) {
  // Element i is what the numbers of 84 workers, shared among the ranks, sum up to; it wraps around.
  std::vector<std::uint64_t> values(500, 0);
  std::vector<double> least(40, std::numeric_limits<double>::infinity());
  for (int worker = c.rank(); worker < 84; worker += c.size()) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += (i + 3) * 0x9e3779b97f4a7c15ULL * (worker + 1U);
    for (std::size_t i = 0; i < least.size(); ++i) {
      least[i] = std::min(least[i], element(static_cast<std::int64_t>(i * 100) + worker));
    }
  }
  std::vector<std::int64_t> sums(values.size());
  std::memcpy(sums.data(), values.data(), values.size() * sizeof(std::int64_t));
  sum(c, view_of(sums));
  minimum(c, view_of(least));
  results["integer_sum"] = hash_of(sums);
  results["minimum"] = hash_of(least);
  results["not_a_number"] = std::isnan(maximum(c, c.rank() == 0 ? std::nan("") : 1.0)) ? 1 : 0;
}

Results results_of(const Communicator& c) {
  Results results;
  sums(c, results);
  containers(c, results);
  integers(c, results);
  return results;
}

// Typed operations, strided views, against brute force.
void operations(const Communicator& c, Tally& tally) {
  const int p = c.size(), me = c.rank();
  const Executor host = Executor::host();
  const auto value = [](int rank, std::int64_t i) { return static_cast<float>(rank * 1000) + static_cast<float>(i); };
  for (int root = 0; root < p; ++root) {
    std::vector<float> x(60);  // every third element is sent
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = value(me, static_cast<std::int64_t>(i));
    broadcast(c, root, View<float>(host, x.data(), {4, 5}, {15, 3}));
    bool right = true;
    for (std::int64_t i = 0; i < 60; ++i) {
      right = right && x[static_cast<std::size_t>(i)] == value(i % 3 == 0 ? root : me, i);
    }
    tally.expect(right, fmt::format("strided broadcast from {}", root), me);
  }
  std::vector<std::int32_t> mine{me, me * me}, all(static_cast<std::size_t>(2 * p));
  all_gather(c, View<std::int32_t>(host, mine.data(), {2}), View<std::int32_t>(host, all.data(), {p, 2}));
  std::vector<std::int64_t> counts(static_cast<std::size_t>(p)), arriving = counts;
  std::vector<double> out, in;
  bool right = true;
  for (int r = 0; r < p; ++r) {
    right = right && all[static_cast<std::size_t>(2 * r)] == r && all[static_cast<std::size_t>(2 * r + 1)] == r * r;
    counts[static_cast<std::size_t>(r)] = (me + 2 * r) % 4;
    arriving[static_cast<std::size_t>(r)] = (r + 2 * me) % 4;
    for (int i = 0; i < (me + 2 * r) % 4; ++i) out.push_back(me * 10000 + r * 100 + i);
  }
  tally.expect(right, "all_gather", me);
  in.resize(static_cast<std::size_t>(std::accumulate(arriving.begin(), arriving.end(), std::int64_t{0})));
  all_to_all_v(c, view_of(out), counts, view_of(in), arriving);
  std::vector<double> wanted;
  for (int r = 0; r < p; ++r) {
    for (int i = 0; i < (r + 2 * me) % 4; ++i) wanted.push_back(r * 10000 + me * 100 + i);
  }
  tally.expect(in == wanted, "all_to_all_v", me);
  std::vector<std::int64_t> terms(static_cast<std::size_t>(3 * p), me + 1), total(3);
  reduce_scatter(c, View<std::int64_t>(host, terms.data(), {p, 3}), view_of(total));
  tally.expect(total == std::vector<std::int64_t>(3, std::int64_t{p} * (p + 1) / 2), "reduce_scatter", me);
  tally.expect(sum(c, 1) == p && broadcast(c, p - 1, me) == p - 1, "one value", me);
  std::vector<float> sent{value(me, 5)}, got{0};
  send_receive(c, (me + 1) % p, view_of(sent), (me + p - 1) % p, view_of(got));
  tally.expect(got[0] == value((me + p - 1) % p, 5), "send_receive", me);
}

template <class F> bool throws_invalid(const F& f) {
  try {
    f();
  } catch (const InvalidArgument&) {
    return true;
  }
  return false;
}

void disagreements(const Communicator& c, Tally& tally) {
  if (c.size() == 1) return;
  const bool odd = c.rank() == c.size() - 1;
  const Executor host = Executor::host();
  std::vector<float> x(8, 7), y(8, 7);
  tally.expect(throws_invalid([&] { broadcast(c, 0, View<float>(host, x.data(), {odd ? 4 : 8})); }), "counts",
               c.rank());
  tally.expect(throws_invalid([&] { broadcast(c, odd ? 1 : 0, view_of(x)); }), "roots", c.rank());
  tally.expect(throws_invalid([&] {
                 dist::Matrix<double>(c, host, {9, 9, odd ? 2 : 3, 3, {1, c.size()}});
               }),
               "blocks", c.rank());
  tally.expect(throws_invalid([&] {
                 dist::Matrix<double>(c, host, {9, 9, 3, 3, {1, c.size() + 1}});
               }),
               "grid", c.rank());
  tally.expect(x == y, "outputs are untouched", c.rank());
}

}  // namespace

Results operation_cases(const Communicator& world, Tally& tally) {
  operations(world, tally);
  disagreements(world, tally);
  const Results results = results_of(world);
  const auto compare = [&](const Results& other, const char* of) {
    for (const auto& [name, bits] : results) {
      tally.expect(other.at(name) == bits, fmt::format("{}: other bits than {}", name, of), world.rank());
    }
  };
  compare(results_of(Communicator::self()), "one rank");
  if (world.rank() == 0) {
    run(Group(std::vector<Executor>(3, Executor::host())), [&](const Communicator& c, const Executor&) {
      const Results threads = results_of(c);
      if (c.rank() == 2) compare(threads, "three threads");
    });
  }
  // The evens alone, then the whole group again.
  const Communicator part = world.split(world.rank() % 2);
  operations(part, tally);
  compare(results_of(part), "a part of the group");
  operations(world, tally);
  return results;
}

}  // namespace trn::comm::ranks_test
