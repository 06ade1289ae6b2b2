// (P|mn) from Hermite Gaussians.
//
// The shells of one atom with the same angular momentum are a block; contracted functions that share exponents are then
// made of the same primitives, and a block has each of them once. For a product of two blocks
//
//   chi_m chi_n = sum over pairs of primitives and tuv of E(pair tuv, mn) D^tuv exp(-p (r-P)^2)
//
// with coefficients, norms and solid harmonics all inside E, so that (mn|P) = E^T Q is one matrix product: Q(pair tuv,
// P) are the integrals of hermite.hpp. One-dimensional E come from E^(i+1,j)_t = E^ij_(t-1) / 2p + X_PA E^ij_t + (t+1)
// E^ij_(t+1) and its like for j.
//
// What is left out. |d^n/dx^n exp(-a x^2)| <= 1.09 (2a)^(n/2) sqrt(n!), and a < p, a < g: a pair of primitives
// contributes at most its
//   size = 2 pi^(5/2) / p^(3/2) max_mn sum_tuv |E(tuv, mn)| (2p)^((t+u+v)/2) sqrt((t+u+v)!)
// times a number of order one that depends on P alone. Pairs below kPrimitive are dropped, and products of blocks none
// of whose pairs reaches kPair.
#include <trn/mp2/integrals.hpp>

#include <algorithm>
#include <cmath>
#include <map>

#include <omp.h>

#include <trn/blas/gemm.hpp>
#include <trn/core/error.hpp>
#include <trn/mp2/linear_algebra.hpp>

#include "gaussian.hpp"
#include "hermite.hpp"

namespace trn::mp2 {

namespace {

constexpr double kPrimitive = 1e-17, kPair = 1e-13;
constexpr double kTwoPi52 = 34.98683665524972497;    // 2 pi^(5/2)
constexpr std::int64_t kRows = 256, kColumns = 256;  // of Q at a time; wider only when 16 fitting shells are

// Shells of one atom and momentum over their common exponents.
struct Block {
  int l = 0;
  std::array<double, 3> centre = {};
  std::vector<double> exponents;
  std::vector<std::vector<double>> coefficients;  // of a shell, by exponent
  std::vector<std::int64_t> firsts;               // function of a shell
};

std::vector<Block> blocks_of(const Basis& basis) {
  std::map<std::pair<std::int64_t, int>, std::vector<const Shell*>> shells;
  for (const Shell& s : basis.shells()) shells[{s.atom, s.l}].push_back(&s);
  std::vector<Block> blocks;
  for (const auto& [key, list] : shells) {
    Block b{.l = key.second, .centre = list[0]->centre};
    for (const Shell* s : list)
      b.exponents.insert(b.exponents.end(), s->contraction->exponents.begin(), s->contraction->exponents.end());
    std::ranges::sort(b.exponents, std::greater());
    b.exponents.erase(std::unique(b.exponents.begin(), b.exponents.end()), b.exponents.end());
    for (const Shell* s : list) {
      const std::vector<double> c = normalised(*s->contraction);
      std::vector<double>& spread = b.coefficients.emplace_back(b.exponents.size());
      for (std::size_t k = 0; k < c.size(); ++k) {
        spread[static_cast<std::size_t>(std::ranges::find(b.exponents, s->contraction->exponents[k]) -
                                        b.exponents.begin())] += c[k];
      }
      b.firsts.push_back(s->first);
    }
    blocks.push_back(std::move(b));
  }
  return blocks;
}

// E^ij_t along one axis, without the factor exp(-a b / p X_AB^2).
struct OneAxis {
  double e[kMostMomentum + 1][kMostMomentum + 1][2 * kMostMomentum + 1];  // t <= i + j
  OneAxis(int la, int lb, double p, double pa, double pb) {
    const auto raise = [half = 0.5 / p](const double* from, double* to, double x, int degree) {
      for (int t = 0; t <= degree + 1; ++t) {
        to[t] = (t > 0 ? from[t - 1] * half : 0) + (t <= degree ? x * from[t] : 0) +
                (t < degree ? (t + 1) * from[t + 1] : 0);
      }
    };
    e[0][0][0] = 1;
    for (int i = 0; i <= la; ++i) {
      if (i > 0) raise(e[i - 1][0], e[i][0], pa, i - 1);
      for (int j = 1; j <= lb; ++j) raise(e[i][j - 1], e[i][j], pb, i + j - 1);
    }
  }
};

// The part of E that one pair of primitives brings, before contraction: nonzero (tuv, component of a, component of b).
struct Entry {
  std::int32_t row, a, b;
  double value;
};

// Fitting primitives of one momentum that are computed together.
struct Tile {
  int l = 0;
  KetLanes ket;
  struct Place {
    std::int64_t first;  // function, counted from the first one asked for
    bool add;            // a further primitive of the same function
  };
  std::vector<Place> places;
  std::int64_t components = 0;
  [[nodiscard]] std::int64_t columns() const { return components * ket.lanes; }
};

}  // namespace

struct ThreeCentre::Impl {
  struct Group {
    std::size_t a, b;  // blocks
    std::vector<Product> products;
    std::vector<std::int32_t> rows;  // of the products among all of a times all of b
    std::vector<std::array<std::size_t, 2>> primitives;
  };
  struct Work {
    std::vector<double> q, e, sums;
    std::vector<Entry> entries;
  };

  const Basis& orbital;
  const Basis& fitting;
  std::vector<Block> blocks;
  std::vector<std::vector<Polynomial>> polynomials;  // by momentum
  std::vector<Group> groups;
  std::vector<char> negligible;                          // (m, n): in no group
  std::map<std::pair<int, int>, HermiteRecipe> recipes;  // by the momenta of product and fitting function
  BoysTable boys;

  static int most(const Basis& basis) {
    int l = 0;
    for (const Shell& s : basis.shells()) {
      require(s.l <= kMostMomentum, "mp2: basis set {} has angular momentum {}; the limit is {}", basis.name(), s.l,
              kMostMomentum);
      l = std::max(l, s.l);
    }
    return l;
  }

  Impl(const Basis& o, const Basis& f) : orbital(o), fitting(f), blocks(blocks_of(o)), boys(2 * most(o) + most(f)) {
    for (int l = 0; l <= most(o); ++l) polynomials.push_back(components(l, o.functions()));
    for (int bra = 0; bra <= 2 * most(o); ++bra) {
      for (int l = 0; l <= most(f); ++l) recipes.try_emplace({bra, l}, bra, l, f.functions());
    }
    std::vector<std::vector<Group>> found(blocks.size());
    for_units(static_cast<std::int64_t>(blocks.size()), [&](std::int64_t a) {
      Work work;
      for (std::size_t b = 0; b <= static_cast<std::size_t>(a); ++b) {
        Group g{.a = static_cast<std::size_t>(a), .b = b};
        if (select(g, work)) found[static_cast<std::size_t>(a)].push_back(std::move(g));
      }
    });
    for (auto& list : found) std::ranges::move(list, std::back_inserter(groups));
    const std::int64_t n = o.size();
    negligible.assign(static_cast<std::size_t>(n * n), 1);
    for (const Group& g : groups) {
      for (const auto [i, j] : g.products)
        negligible[static_cast<std::size_t>(i * n + j)] = negligible[static_cast<std::size_t>(j * n + i)] = 0;
    }
  }

  [[nodiscard]] std::int64_t functions(const Block& b) const {
    return static_cast<std::int64_t>(b.firsts.size() * polynomials[static_cast<std::size_t>(b.l)].size());
  }

  // Products once each: of a block with itself the lower triangle.
  void list_products(Group& g) const {
    const auto list = [&](const Block& block) {
      std::vector<std::int32_t> all;
      for (const std::int64_t first : block.firsts) {
        for (std::size_t m = 0; m < polynomials[static_cast<std::size_t>(block.l)].size(); ++m)
          all.push_back(static_cast<std::int32_t>(first + static_cast<std::int64_t>(m)));
      }
      return all;
    };
    std::int32_t row = 0;
    for (const std::int32_t m : list(blocks[g.a])) {
      for (const std::int32_t n : list(blocks[g.b])) {
        if (g.a != g.b || m >= n) {
          g.products.push_back({std::max(m, n), std::min(m, n)});
          g.rows.push_back(row);
        }
        ++row;
      }
    }
  }

  struct PrimitivePair {
    double p, factor;
    std::array<double, 3> centre;
  };
  [[nodiscard]] static PrimitivePair pair_of(const Block& a, const Block& b, std::size_t i, std::size_t j) {
    const double x = a.exponents[i], y = b.exponents[j], p = x + y;
    double r2 = 0;
    PrimitivePair pair{p, 0, {}};
    for (std::size_t k = 0; k < 3; ++k) {
      r2 += (a.centre[k] - b.centre[k]) * (a.centre[k] - b.centre[k]);
      pair.centre[k] = (x * a.centre[k] + y * b.centre[k]) / p;
    }
    pair.factor = kTwoPi52 / p * std::exp(-x * y / p * r2);
    return pair;
  }

  // Entries of a pair, and their size times the largest coefficients.
  double entries_of(const Block& a, const Block& b, std::size_t i, std::size_t j, const PrimitivePair& pair,
                    std::vector<Entry>& entries) const {
    entries.clear();
    double most_a = 0, most_b = 0;
    for (const auto& c : a.coefficients) most_a = std::max(most_a, std::abs(c[i]));
    for (const auto& c : b.coefficients) most_b = std::max(most_b, std::abs(c[j]));
    // Distances enter with at most the power l: far below the limit there is no need to look closer.
    if (most_a * most_b * pair.factor < 1e-40) return 0;
    std::array<OneAxis, 3> axes{axis(a, b, pair, 0), axis(a, b, pair, 1), axis(a, b, pair, 2)};
    const auto &of_a = polynomials[static_cast<std::size_t>(a.l)], &of_b = polynomials[static_cast<std::size_t>(b.l)];
    const int bra = a.l + b.l;
    std::array<double, hermites(2 * kMostMomentum)> sums;
    std::fill_n(sums.begin(), hermites(bra), 0.0);
    double weights[2 * kMostMomentum + 1];  // (2p)^(d/2) sqrt(d!)
    weights[0] = 1;
    for (int d = 1; d <= bra; ++d) weights[d] = weights[d - 1] * std::sqrt(2 * pair.p * d);
    double most = 0;
    for (std::size_t ma = 0; ma < of_a.size(); ++ma) {
      for (std::size_t mb = 0; mb < of_b.size(); ++mb) {
        for (const Monomial& f : of_a[ma]) {
          for (const Monomial& g : of_b[mb]) {
            const double *ex = axes[0].e[f.x][g.x], *ey = axes[1].e[f.y][g.y], *ez = axes[2].e[f.z][g.z];
            for (int t = 0; t <= f.x + g.x; ++t) {
              for (int u = 0; u <= f.y + g.y; ++u) {
                const double xy = pair.factor * f.c * g.c * ex[t] * ey[u];
                for (int v = 0; v <= f.z + g.z; ++v)
                  sums[static_cast<std::size_t>(hermite_index(t, u, v))] += xy * ez[v];
              }
            }
          }
        }
        double size = 0;
        std::int32_t row = 0;
        for (int d = 0; d <= bra; ++d) {
          for (; row < hermites(d); ++row) {
            double& sum = sums[static_cast<std::size_t>(row)];
            if (sum == 0) continue;
            entries.push_back({row, static_cast<std::int32_t>(ma), static_cast<std::int32_t>(mb), sum});
            size += std::abs(sum) * weights[d];
            sum = 0;
          }
        }
        most = std::max(most, size);
      }
    }
    return most * most_a * most_b / std::sqrt(pair.p);
  }
  [[nodiscard]] static OneAxis axis(const Block& a, const Block& b, const PrimitivePair& pair, std::size_t k) {
    return {a.l, b.l, pair.p, pair.centre[k] - a.centre[k], pair.centre[k] - b.centre[k]};
  }

  // Which pairs of primitives are worth it; false when the products are not.
  [[nodiscard]] bool select(Group& g, Work& work) const {
    const Block &a = blocks[g.a], &b = blocks[g.b];
    double most = 0;
    for (std::size_t i = 0; i < a.exponents.size(); ++i) {
      for (std::size_t j = 0; j < b.exponents.size(); ++j) {
        const double size = entries_of(a, b, i, j, pair_of(a, b, i, j), work.entries);
        if (size >= kPrimitive) g.primitives.push_back({i, j});
        most = std::max(most, size);
      }
    }
    if (most < kPair) return false;
    list_products(g);
    return true;
  }

  // The rows of E of a pair.
  void expand(const Block& a, const Block& b, std::size_t i, std::size_t j, const std::vector<Entry>& entries,
              double* e, std::int64_t rows) const {
    const std::int64_t parts_a = static_cast<std::int64_t>(polynomials[static_cast<std::size_t>(a.l)].size()),
                       parts_b = static_cast<std::int64_t>(polynomials[static_cast<std::size_t>(b.l)].size()),
                       size_b = functions(b), width = functions(a) * size_b;
    std::fill(e, e + rows * width, 0.0);
    for (std::size_t fa = 0; fa < a.firsts.size(); ++fa) {
      for (std::size_t fb = 0; fb < b.firsts.size(); ++fb) {
        const double c = a.coefficients[fa][i] * b.coefficients[fb][j];
        if (c == 0) continue;
        double* to = e + static_cast<std::int64_t>(fa) * parts_a * size_b + static_cast<std::int64_t>(fb) * parts_b;
        for (const Entry& n : entries) to[n.row * width + n.a * size_b + n.b] = c * n.value;
      }
    }
  }

  // Fitting shells [first, last) by momentum, in tiles of about kColumns.
  [[nodiscard]] std::vector<Tile> tiles_of(std::int64_t first, std::int64_t last) const {
    std::map<int, std::vector<std::int64_t>> by_momentum;
    for (std::int64_t s = first; s < last; ++s)
      by_momentum[fitting.shells()[static_cast<std::size_t>(s)].l].push_back(s);
    const std::int64_t base = fitting.shells()[static_cast<std::size_t>(first)].first;
    std::vector<Tile> tiles;
    for (const auto& [l, list] : by_momentum) {
      const std::int64_t parts = fitting.shells()[static_cast<std::size_t>(list[0])].size,
                         most_lanes = std::max(kLanes, kColumns / parts / kLanes * kLanes);
      const std::size_t begin = tiles.size();
      for (const std::int64_t s : list) {
        const Shell& shell = fitting.shells()[static_cast<std::size_t>(s)];
        const std::vector<double> c = normalised(*shell.contraction);
        for (std::size_t k = 0; k < c.size(); ++k) {
          if (tiles.size() == begin || static_cast<std::int64_t>(tiles.back().places.size()) == most_lanes)
            tiles.push_back({.l = l, .components = parts});
          Tile& t = tiles.back();
          const double g = shell.contraction->exponents[k];
          t.places.push_back({shell.first - base, k > 0});
          t.ket.x.push_back(shell.centre[0]);
          t.ket.y.push_back(shell.centre[1]);
          t.ket.z.push_back(shell.centre[2]);
          t.ket.exponent.push_back(g);
          t.ket.factor.push_back(c[k] * (l % 2 == 0 ? 1 : -1) * std::pow(2 * g, -l) / g);
        }
      }
    }
    for (Tile& t : tiles) {
      t.ket.lanes = (static_cast<std::int64_t>(t.places.size()) + kLanes - 1) / kLanes * kLanes;
      for (auto* list : {&t.ket.x, &t.ket.y, &t.ket.z, &t.ket.exponent})
        list->resize(static_cast<std::size_t>(t.ket.lanes), list->back());
      t.ket.factor.resize(static_cast<std::size_t>(t.ket.lanes), 0.0);
      for (int s = 0; s <= t.l / 2; ++s) {
        for (const double g : t.ket.exponent) t.ket.powers.push_back(std::pow(2 * g, s));
      }
    }
    return tiles;
  }

  // The products of a group with all functions of the tiles: out(product, ld).
  void compute(const Group& group, const std::vector<Tile>& tiles, Work& work, double* out, std::int64_t ld) const {
    const Block &a = blocks[group.a], &b = blocks[group.b];
    const std::int64_t width = functions(a) * functions(b), rows = hermites(a.l + b.l),
                       most_pairs = std::max<std::int64_t>(1, kRows / rows);
    std::int64_t all = 0, widest = 0;
    for (const Tile& t : tiles) {
      all += t.columns();
      widest = std::max(widest, t.columns());
    }
    work.q.resize(static_cast<std::size_t>(most_pairs * rows * widest));
    work.e.resize(static_cast<std::size_t>(most_pairs * rows * width));
    work.sums.resize(static_cast<std::size_t>(all * width));
    std::vector<PrimitivePair> pairs;
    double beta = 0;
    const auto flush = [&] {
      double* sums = work.sums.data();
      for (const Tile& tile : tiles) {
        const HermiteRecipe& recipe = recipes.at({a.l + b.l, tile.l});
        const std::int64_t columns = tile.columns(), depth = static_cast<std::int64_t>(pairs.size()) * rows;
        for (std::size_t k = 0; k < pairs.size(); ++k) {
          hermite_rows(recipe, boys, tile.ket, pairs[k].p, pairs[k].centre,
                       work.q.data() + static_cast<std::int64_t>(k) * rows * columns, columns);
        }
        const auto matrix = [](double* data, std::int64_t m, std::int64_t n) {
          return MatrixView<double>::row_major(Executor::host(), data, m, n);
        };
        blas::gemm(Executor::host(), blas::Op::T, blas::Op::N, 1.0, matrix(work.e.data(), depth, width),
                   matrix(work.q.data(), depth, columns), beta, matrix(sums, width, columns));
        sums += width * columns;
      }
      beta = 1;
      pairs.clear();
    };
    for (const auto [i, j] : group.primitives) {
      const PrimitivePair pair = pair_of(a, b, i, j);
      entries_of(a, b, i, j, pair, work.entries);
      expand(a, b, i, j, work.entries, work.e.data() + static_cast<std::int64_t>(pairs.size()) * rows * width, rows);
      pairs.push_back(pair);
      if (static_cast<std::int64_t>(pairs.size()) == most_pairs) flush();
    }
    if (!pairs.empty()) flush();
    const double* sums = work.sums.data();
    for (const Tile& tile : tiles) {
      for (std::size_t r = 0; r < group.rows.size(); ++r) {
        const double* from = sums + group.rows[r] * tile.columns();
        double* to = out + static_cast<std::int64_t>(r) * ld;
        for (std::int64_t m = 0; m < tile.components; ++m, from += tile.ket.lanes) {
          for (std::size_t lane = 0; lane < tile.places.size(); ++lane) {
            double& x = to[tile.places[lane].first + m];
            x = tile.places[lane].add ? x + from[lane] : from[lane];
          }
        }
      }
      sums += width * tile.columns();
    }
  }

  // Calls use(group, its integrals (product, P)) for all groups.
  template <class Use> void for_groups(std::int64_t first, std::int64_t last, std::int64_t count, Use use) const {
    const std::vector<Tile> tiles = tiles_of(first, last);
    struct PerThread {
      Work work;
      std::vector<double> rows;
    };
    std::vector<PerThread> threads(static_cast<std::size_t>(omp_get_max_threads()));
    for_units(static_cast<std::int64_t>(groups.size()), [&](std::int64_t k) {
      PerThread& mine = threads[static_cast<std::size_t>(omp_get_thread_num())];
      const Group& g = groups[static_cast<std::size_t>(k)];
      mine.rows.resize(g.products.size() * static_cast<std::size_t>(count));
      compute(g, tiles, mine.work, mine.rows.data(), count);
      use(g, mine.rows.data());
    });
  }
};

ThreeCentre::ThreeCentre(const Basis& orbital, const Basis& fitting)
    : impl_(std::make_unique<Impl>(orbital, fitting)) {}
ThreeCentre::~ThreeCentre() = default;

// A thread has Q, E, the sums of one group and its integrals, where a tile has at least kLanes primitives. All share
// Boys' function and the groups.
std::int64_t ThreeCentre::bytes(const Basis& orbital, const Basis& fitting, std::int64_t functions,
                                std::int64_t threads) {
  std::map<std::pair<std::int64_t, int>, std::int64_t> sizes;
  std::int64_t primitives = 0;
  for (const Shell& s : orbital.shells()) {
    sizes[{s.atom, s.l}] += s.size;
    primitives += static_cast<std::int64_t>(s.contraction->exponents.size());
  }
  std::int64_t width = 0;
  for (const auto& [key, size] : sizes) width = std::max(width, size * size);
  const int l = Impl::most(orbital), order = 2 * l + Impl::most(fitting);
  const std::int64_t rows = std::max<std::int64_t>(kRows, hermites(2 * l)), columns = 2 * kColumns, n = orbital.size();
  const auto boys = static_cast<std::int64_t>(BoysTable::kFar * BoysTable::kPerUnit) * BoysTable::kTerms * (order + 1);
  return 8 * (threads * (rows * (columns + width) + width * (2 * functions + 8 * kLanes)) + boys +
              primitives * primitives + n * n);
}

std::int64_t ThreeCentre::groups() const { return static_cast<std::int64_t>(impl_->groups.size()); }
const std::vector<ThreeCentre::Product>& ThreeCentre::products(std::int64_t group) const {
  return impl_->groups[static_cast<std::size_t>(group)].products;
}

void ThreeCentre::compute_groups(std::int64_t first, std::int64_t last, double* out) const {
  const std::int64_t naux = impl_->fitting.size();
  const std::vector<Tile> tiles = impl_->tiles_of(0, static_cast<std::int64_t>(impl_->fitting.shells().size()));
  Impl::Work work;
  for (std::int64_t k = first; k < last; ++k) {
    impl_->compute(impl_->groups[static_cast<std::size_t>(k)], tiles, work, out, naux);
    out += static_cast<std::int64_t>(products(k).size()) * naux;
  }
}

std::int64_t ThreeCentre::functions(std::int64_t first, std::int64_t last) const {
  const auto& shells = impl_->fitting.shells();
  const Shell &low = shells[static_cast<std::size_t>(first)], &high = shells[static_cast<std::size_t>(last - 1)];
  return high.first + high.size - low.first;
}

void ThreeCentre::compute(std::int64_t first, std::int64_t last, double* out) const {
  const std::int64_t n = impl_->orbital.size(), count = functions(first, last);
  std::fill(out, out + count * n * n, 0.0);
  impl_->for_groups(first, last, count, [&](const Impl::Group& g, const double* rows) {
    for (std::int64_t p = 0; p < count; ++p) {
      double* square = out + p * n * n;
      for (std::size_t r = 0; r < g.products.size(); ++r) {
        const auto [i, j] = g.products[r];
        square[i * n + j] = square[j * n + i] = rows[static_cast<std::int64_t>(r) * count + p];
      }
    }
  });
}

void ThreeCentre::compute_columns(std::int64_t first, std::int64_t last, double* out) const {
  const std::int64_t n = impl_->orbital.size(), count = functions(first, last);
  for (std::int64_t k = 0; k < n * n; ++k) {
    if (impl_->negligible[static_cast<std::size_t>(k)] != 0) std::fill_n(out + k * count, count, 0.0);
  }
  impl_->for_groups(first, last, count, [&](const Impl::Group& g, const double* rows) {
    for (const auto [i, j] : g.products) {
      std::copy_n(rows, count, out + (i * n + j) * count);
      if (i != j) std::copy_n(rows, count, out + (j * n + i) * count);
      rows += count;
    }
  });
}

}  // namespace trn::mp2
