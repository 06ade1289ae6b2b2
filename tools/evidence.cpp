// `trnsci evidence`: for the flagship kernel of each library, how many engines of the modelled core work at the same
// time, and whether the bits depend on the order of what is independent: instructions and iterations shuffled by seeds,
// threads of the host, ranks.
//
// The share of time with k engines busy comes from the intervals of the timing model: Tensor, Vector, Scalar and GpSimd
// count as engines, transfers as one more lane of their own. --svg shows the same shares as bars, --timeline the
// intervals themselves.
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <trn/blas/dist_gemm.hpp>
#include <trn/blas/gemm.hpp>
#include <trn/comm/group.hpp>
#include <trn/comm/matrix.hpp>
#include <trn/core/output_file.hpp>
#include <trn/fft/dist_plan.hpp>
#include <trn/fft/transforms.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/rand/dist_fill.hpp>
#include <trn/rand/normal.hpp>
#include <trn/solver/cholesky.hpp>
#include <trn/solver/dist_cholesky.hpp>
#include <trn/sparse/dist_csr.hpp>
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/spmm.hpp>
#include <trn/tensor/dist_einsum.hpp>
#include <trn/tensor/einsum.hpp>

#include "commands.hpp"
#include "evidence_timeline.hpp"
#include "output.hpp"
#include "recording_device.hpp"

namespace trn::tools {

namespace {

using Bytes = std::vector<std::byte>;
constexpr int kEngines = 4;

template <class T> Bytes bytes_of(const std::vector<T>& values) {
  Bytes b(values.size() * sizeof(T));
  if (!b.empty()) std::memcpy(b.data(), values.data(), b.size());
  return b;
}

template <class T> std::vector<T> numbers(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> x(static_cast<std::size_t>(count));
  for (T& v : x) {
    if constexpr (ComplexScalar<T>)
      v = T(static_cast<Real<T>>(normal(random)), static_cast<Real<T>>(normal(random)));
    else
      v = static_cast<T>(normal(random));
  }
  return x;
}

// One flagship: what it computes on an executor and, where it has a distributed form, on so many ranks.
struct Flagship {
  std::string name, shape, large_shape;
  // `large`: of the size whose time is modelled; the other one is computed many times.
  std::function<Bytes(const Executor&, bool large)> run;
  std::function<Bytes(int ranks)> on_ranks;
  bool host_order = true;  // the host promises bits that do not depend on the number of threads
  bool reads = false;      // reads results back and acts on them, so that its programs have to be computed
};

template <class T> Bytes product(const Executor& e, std::int64_t n, Precision precision) {
  const auto a = Matrix<T>::from_host(e, n, n, numbers<T>(n * n, 1)),
             b = Matrix<T>::from_host(e, n, n, numbers<T>(n * n, 2));
  const Matrix<T> c(e, n, n);
  blas::gemm(e, blas::Op::N, blas::Op::N, T(1), a.view(), b.view(), T(0), c.view(), {.precision = precision});
  return bytes_of(c.to_host());
}

comm::Group hosts(int ranks) {
  return comm::Group(std::vector<Executor>(static_cast<std::size_t>(ranks), Executor::host()));
}

template <class T> T entry(int seed, std::int64_t i, std::int64_t j) {
  std::mt19937_64 random(static_cast<std::uint64_t>(seed) << 40 ^ static_cast<std::uint64_t>(i) << 20 ^
                         static_cast<std::uint64_t>(j));
  return static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
}

Bytes product_on_ranks(int ranks) {
  Bytes result;
  comm::run(hosts(ranks), [&](const comm::Communicator& group, const Executor& e) {
    const dist::Grid grid = dist::square_grid(ranks);
    const dist::Matrix<double> a(group, e, {150, 130, 32, 32, grid}), b(group, e, {130, 140, 32, 32, grid}),
        c(group, e, {150, 140, 32, 32, grid});
    a.fill([](std::int64_t i, std::int64_t j) { return entry<double>(1, i, j); });
    b.fill([](std::int64_t i, std::int64_t j) { return entry<double>(2, i, j); });
    blas::gemm<double>(blas::Op::N, blas::Op::N, 1, a, b, 0, c);
    const auto whole = c.to_host();
    if (group.rank() == 0) result = bytes_of(whole);
  });
  return result;
}

std::vector<float> definite(std::int64_t n) {
  std::vector<float> a = numbers<float>(n * n, 5);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j)
      a[static_cast<std::size_t>(j * n + i)] = a[static_cast<std::size_t>(i * n + j)];
    a[static_cast<std::size_t>(i * n + i)] = static_cast<float>(4 * n);
  }
  return a;
}

Bytes cholesky_on_ranks(int ranks) {
  Bytes result;
  comm::run(hosts(ranks), [&](const comm::Communicator& group, const Executor& e) {
    const dist::Matrix<double> a(group, e, {150, 150, 32, 32, dist::square_grid(ranks)});
    a.fill(
        [](std::int64_t i, std::int64_t j) { return i == j ? 300 : entry<double>(3, std::min(i, j), std::max(i, j)); });
    (void)solver::potrf<double>(blas::Uplo::Lower, a);
    const auto whole = a.to_host();
    if (group.rank() == 0) result = bytes_of(whole);
  });
  return result;
}

// The elements of a distributed array that lie here, from those of the whole one in row-major order.
template <class T> void scatter(const dist::Array<T>& to, const std::vector<T>& whole) {
  const View<T> here = to.local();
  if (here.size() == 0) return;
  std::vector<T> mine(static_cast<std::size_t>(here.size()));
  const Shape &local = here.shape(), &all = to.shape(), &begin = to.local_begin();
  for (std::int64_t at = 0; at < here.size(); ++at) {
    std::int64_t position = 0, rest = at, size = here.size();
    for (std::size_t d = 0; d < local.size(); ++d) {
      size /= local[d];
      position = position * all[d] + begin[d] + rest / size;
      rest %= size;
    }
    mine[static_cast<std::size_t>(at)] = whole[static_cast<std::size_t>(position)];
  }
  copy(View<const T>(Executor::host(), mine.data(), local), here);
}

// f(group, executor) gives a distributed array; the bytes of the whole one.
template <class F> Bytes array_on_ranks(int ranks, const F& f) {
  Bytes result;
  comm::run(hosts(ranks), [&](const comm::Communicator& group, const Executor& e) {
    const auto whole = f(group, e).to_host();
    if (group.rank() == 0) result = bytes_of(whole);
  });
  return result;
}

Bytes transform_on_ranks(int ranks) {
  using C = std::complex<float>;
  return array_on_ranks(ranks, [](const comm::Communicator& group, const Executor& e) {
    fft::DistDescription d;
    d.lengths = {30, 20, 28};
    const fft::DistPlan<float> plan(group, e, d);
    const dist::Array<C> in(group, e, plan.input_distribution());
    dist::Array<C> out(group, e, plan.output_distribution());
    scatter(in, numbers<C>(30 * 20 * 28, 9));
    plan.execute(in, out);
    return out;
  });
}

Bytes numbers_on_ranks(int ranks) {
  return array_on_ranks(ranks, [&](const comm::Communicator& group, const Executor& e) {
    dist::Array<float> x(group, e, dist::slabs({120, 173}, 0, ranks));
    rand::Generator generator({.seed = 4});
    rand::normal(generator, x);
    return x;
  });
}

Bytes sparse_on_ranks(int ranks) {
  return array_on_ranks(ranks, [](const comm::Communicator& group, const Executor& e) {
    const sparse::DistCsr<double> a(group, sparse::poisson<double>(40, 30));
    const dist::Array<double> b(group, e, a.column_distribution(7));
    dist::Array<double> c(group, e, a.row_distribution(7));
    scatter(b, numbers<double>(1200 * 7, 10));
    sparse::spmm<double>(1, a, b, 0, c);
    return c;
  });
}

// Random a and b contracted to d, all in slabs: a and d along their first label, b along its second.
Bytes einsum_on_ranks(int ranks, const std::string& text, const Shape& a, const Shape& b, const Shape& d,
                      Precision precision) {
  return array_on_ranks(ranks, [&](const comm::Communicator& group, const Executor& e) {
    const dist::Array<double> x(group, e, dist::slabs(a, 0, ranks)), y(group, e, dist::slabs(b, 1, ranks));
    dist::Array<double> z(group, e, dist::slabs(d, 0, ranks));
    scatter(x, numbers<double>(element_count(a), 11));
    scatter(y, numbers<double>(element_count(b), 12));
    tensor::einsum<double>(text, {x, y}, z, {.precision = precision});
    return z;
  });
}

std::vector<Flagship> flagships() {
  std::vector<Flagship> all;
  all.push_back({"blas.gemm", "float32, 512 x 512 x 512", "2048 x 2048 x 2048",
                 [](const Executor& e, bool large) { return product<float>(e, large ? 2048 : 512, {}); },
                 product_on_ranks, false});
  all.push_back({"blas.gemm exact", "float64, 200 x 200 x 200", "400 x 400 x 400",
                 [](const Executor& e, bool large) { return product<double>(e, large ? 400 : 200, Mode::Exact); },
                 [](int ranks) {
                   return einsum_on_ranks(ranks, "ij,jk->ik", {90, 70}, {70, 80}, {90, 80}, Mode::Exact);
                 },
                 true, true});
  all.push_back({"fft.c2c", "complex64, 256 lines of 1000", "4096 lines",
                 [](const Executor& e, bool large) {
                   using C = std::complex<float>;
                   const std::int64_t lines = large ? 4096 : 256;
                   const auto x = Array<C>::from_host(e, {lines, 1000}, numbers<C>(lines * 1000, 3));
                   return bytes_of(fft::fft(e, x).to_host());
                 },
                 transform_on_ranks});
  all.push_back({"rand.normal", "float32, 200000 numbers of Philox", "8000000 numbers",
                 [](const Executor& e, bool large) {
                   rand::Generator generator({.seed = 4});
                   const Array<float> x(e, {large ? 8000000 : 200000});
                   rand::normal(e, generator, x.view());
                   return bytes_of(x.to_host());
                 },
                 numbers_on_ranks});
  all.push_back({"solver.potrf", "float32, order 300", "order 1000",
                 [](const Executor& e, bool large) {
                   const std::int64_t n = large ? 1000 : 300;
                   const auto a = Matrix<float>::from_host(e, n, n, definite(n));
                   (void)solver::potrf(e, blas::Uplo::Lower, a.view());
                   return bytes_of(a.to_host());
                 },
                 cholesky_on_ranks, false, true});
  all.push_back({"sparse.spmm", "float32, Poisson 40 x 40, 128 columns", "100 x 100, 512 columns",
                 [](const Executor& e, bool large) {
                   const std::int64_t side = large ? 100 : 40, rows = side * side, columns = large ? 512 : 128;
                   const auto a = sparse::poisson<float>(side, side).to(e);
                   const auto b = Matrix<float>::from_host(e, rows, columns, numbers<float>(rows * columns, 6));
                   return bytes_of(sparse::spmm<float>(e, a, b.view()).to_host());
                 },
                 sparse_on_ranks});
  all.push_back({"tensor.einsum", "float32, abc,cbd->da, extents 40 60 50 70", "extents 512 64 64 512",
                 [](const Executor& e, bool large) {
                   const std::int64_t a = large ? 512 : 40, b = large ? 64 : 60, c = large ? 64 : 50,
                                      d = large ? 512 : 70;
                   const auto x = Array<float>::from_host(e, {a, b, c}, numbers<float>(a * b * c, 7)),
                              y = Array<float>::from_host(e, {c, b, d}, numbers<float>(c * b * d, 8));
                   const Array<float> z(e, {d, a});
                   tensor::einsum(e, "abc,cbd->da", {x.view(), y.view()}, z.view());
                   return bytes_of(z.to_host());
                 },
                 [](int ranks) {
                   return einsum_on_ranks(ranks, "abc,cbd->da", {20, 30, 25}, {25, 30, 35}, {35, 20}, {});
                 },
                 false});
  return all;
}

// Shares of the modelled time by the number of engines at work, and of time in which transfers run.
struct Overlap {
  double seconds = 0;
  std::array<double, kEngines + 1> share{};
  double transfers = 0;  // some transfer under way
  bool whole = true;     // every interval was kept
  Timeline timeline;
};

Overlap overlap_of(const std::vector<std::shared_ptr<const tile::Program>>& programs, const tile::Machine& machine) {
  constexpr std::int64_t kKept = 2'000'000;
  Overlap o;
  std::array<double, kEngines + 1> time{};
  for (const auto& program : programs) {
    const neuron::RunReport r = neuron::estimate(*program, machine, {.keep_intervals = kKept});
    o.seconds += r.seconds;
    o.timeline.add(r);
    o.transfers += r.dma_active_seconds;
    o.whole = o.whole && static_cast<std::int64_t>(r.intervals.size()) < kKept;
    std::vector<std::pair<double, int>> edges;
    for (const neuron::Interval& i : r.intervals) {
      if (i.lane >= kEngines) continue;
      edges.emplace_back(i.begin_s, 1), edges.emplace_back(i.end_s, -1);
    }
    std::sort(edges.begin(), edges.end());  // ends before beginnings at one time
    double last = 0;
    int busy = 0;
    for (const auto& [at, step] : edges) {
      time[static_cast<std::size_t>(std::clamp(busy, 0, kEngines))] += at - last;
      last = at, busy += step;
    }
    time[0] += std::max(0.0, r.seconds - last);
  }
  for (std::size_t k = 0; k < time.size(); ++k) o.share[k] = time[k] / o.seconds;
  o.transfers /= o.seconds;
  return o;
}

struct Row {
  const Flagship* flagship;
  Overlap overlap;
  int orders = 0, same_orders = 0;
  int threads = 0, same_threads = 0;
  int ranks = 0, same_ranks = 0;
};

template <class F> std::pair<int, int> same(const std::vector<int>& values, const Bytes& first, F run) {
  int equal = 0;
  for (const int v : values) equal += run(v) == first;
  return {static_cast<int>(values.size()), equal};
}

Row examine(const Flagship& f, const std::string& machine, std::int64_t seeds) {
  const auto call = [&](const Executor& e) { (void)f.run(e, true); };
  const tile::Machine& m = tile::machine(machine);
  Row row{&f, overlap_of(f.reads ? executed_programs(m, call) : recorded_programs(m, call), m)};
  const Bytes in_order = f.run(neuron::open_simulator(machine, {.order = neuron::Order::in_order()}), false);
  std::vector<int> order(static_cast<std::size_t>(seeds));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i) + 1;
  std::tie(row.orders, row.same_orders) = same(order, in_order, [&](int seed) {
    return f.run(neuron::open_simulator(machine, {.order = neuron::Order::shuffled(static_cast<std::uint64_t>(seed))}),
                 false);
  });
  const int before = omp_get_max_threads();
  if (f.host_order) {
    omp_set_num_threads(1);
    const Bytes one = f.run(Executor::host(), false);
    std::tie(row.threads, row.same_threads) = same({2, 3, 4, 7}, one, [&](int threads) {
      omp_set_num_threads(threads);
      return f.run(Executor::host(), false);
    });
    omp_set_num_threads(before);
  }
  if (f.on_ranks) {
    const Bytes one = f.on_ranks(1);
    std::tie(row.ranks, row.same_ranks) = same({2, 3, 4, 6}, one, f.on_ranks);
  }
  return row;
}

std::string counts(int all, int equal) { return all == 0 ? "-" : fmt::format("{} of {}", equal, all); }

// Bars of the shares, one kernel below the other.
std::string picture(const std::vector<Row>& rows, const std::string& machine) {
  constexpr int kLeft = 130, kWide = 520, kStep = 30, kTop = 44;
  constexpr const char* kColours[] = {"#d9d9d9", "#9ecae1", "#4292c6", "#08519c", "#08306b"};
  const int height = kTop + kStep * static_cast<int>(rows.size()) + 12;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<title>Engines at work at the same time, modelled on {}</title>\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"#fff\"/>\n",
      kLeft + kWide + 20, height, machine);
  for (int k = 0; k <= kEngines; ++k) {
    svg += fmt::format(
        "<rect x=\"{}\" y=\"12\" width=\"14\" height=\"14\" fill=\"{}\"/><text x=\"{}\" y=\"24\">{}{}</text>\n",
        kLeft + 100 * k, kColours[k], kLeft + 100 * k + 19, k, k == 1 ? " engine" : " engines");
  }
  int y = kTop;
  for (const Row& row : rows) {
    svg +=
        fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLeft - 8, y + 15, row.flagship->name);
    double x = kLeft;
    for (int k = 0; k <= kEngines; ++k) {
      const double wide = kWide * row.overlap.share[static_cast<std::size_t>(k)];
      svg += fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"20\" fill=\"{}\"/>\n", x, y, wide,
                         kColours[k]);
      x += wide;
    }
    y += kStep;
  }
  return svg + "</svg>\n";
}

nlohmann::ordered_json json_of(const Row& row, const std::string& machine) {
  nlohmann::ordered_json j{{"name", row.flagship->name},
                           {"computed", row.flagship->shape},
                           {"modelled", row.flagship->large_shape},
                           {"machine", machine},
                           {"modelled_seconds", row.overlap.seconds},
                           {"engines_busy", row.overlap.share},
                           {"transfers", row.overlap.transfers}};
  const auto put = [&](const char* key, int all, int equal) {
    if (all > 0) j[key] = {{"runs", all}, {"same_bits", equal}};
  };
  put("shuffled_orders", row.orders, row.same_orders);
  put("host_threads", row.threads, row.same_threads);
  put("ranks", row.ranks, row.same_ranks);
  return j;
}

}  // namespace

void add_evidence(Command& program) {
  Command command = program.add("evidence", "engines that work at the same time, and bits that no order changes");
  struct Given {
    std::string machine = "trn2", json, svg, timeline;
    std::int64_t seeds = 8;
  };
  const auto given = std::make_shared<Given>();
  command.machine(given->machine);
  command.number("--seeds", given->seeds, "shuffled orders of each kernel", 1, 1000);
  command.text("--svg", given->svg, "write the picture of the shares to this file");
  command.text("--timeline", given->timeline, "write the picture of when engines work to this file");
  command.text("--json", given->json, kJsonHelp);
  command.run([given] {
    require(given->svg != "-" && given->timeline != "-",
            "evidence: '-' is for --json alone; give --svg and --timeline a file");
    require_different_files({{"--svg", given->svg}, {"--timeline", given->timeline}, {"--json", given->json}});
    JsonFile json(given->json);
    if (!given->svg.empty()) const OutputFile claim("--svg", given->svg);  // a bad path costs nothing
    if (!given->timeline.empty()) const OutputFile claim("--timeline", given->timeline);
    const std::vector<Flagship> all = flagships();
    std::vector<Row> rows;
    for (const Flagship& f : all) {
      progress("{}: {}\n", f.name, f.shape);
      rows.push_back(examine(f, given->machine, given->seeds));
    }
    bool right = true;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    Table table({"kernel", "modelled", "0", "1", "2", "3", "4", "DMA", "orders", "threads", "ranks"});
    for (const Row& row : rows) {
      right = right && row.same_orders == row.orders && row.same_threads == row.threads && row.same_ranks == row.ranks;
      std::vector<std::string> cells{row.flagship->name, duration(row.overlap.seconds)};
      for (const double share : row.overlap.share) cells.push_back(fmt::format("{:.0f}", 100 * share));
      cells.push_back(fmt::format("{:.0f}", 100 * row.overlap.transfers));
      cells.push_back(counts(row.orders, row.same_orders));
      cells.push_back(counts(row.threads, row.same_threads));
      cells.push_back(counts(row.ranks, row.same_ranks));
      table.add(std::move(cells));
      list.push_back(json_of(row, given->machine));
    }
    if (!json.replaces_text()) {
      table.print();
      fmt::print(
          "0 to 4: percent of the modelled time on {} with so many engines at work;\n"
          "DMA: with a transfer under way. orders: runs with instructions shuffled that\n"
          "gave the same bits; threads: on the host with 2, 3, 4 and 7 beside 1 (-: the\n"
          "host's library does not promise it); ranks: with 2, 3, 4 and 6 beside 1.\n",
          given->machine);
    }
    json.write(std::move(list));
    if (!given->svg.empty()) {
      OutputFile svg("--svg", given->svg);
      svg.write(picture(rows, given->machine));
      svg.commit();
    }
    if (!given->timeline.empty()) {
      std::vector<std::pair<std::string, const Timeline*>> kernels;
      for (const Row& row : rows)
        kernels.emplace_back(row.flagship->name + ", " + row.flagship->large_shape, &row.overlap.timeline);
      OutputFile svg("--timeline", given->timeline);
      svg.write(timeline_picture(kernels, given->machine));
      svg.commit();
    }
    if (!right) fail<InternalError>("evidence: bits depend on an order; see the table");
  });
}

}  // namespace trn::tools
