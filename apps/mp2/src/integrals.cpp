// All integrals; the only file that includes libint2, whose headers take long to compile.
//
// Shell pairs: products of primitives too small to matter are dropped once per pair. For four-centre integrals pairs
// are dropped whole whose Schwarz factor Q_ab = sqrt max (ab|ab), times the largest factor there is, does not exceed
// the screening threshold, and of the rest trnsparse's Quartets says which to pair.
//
// J and K: a shell pair is one piece of work, dealt in turn to 16 tasks that have sums of their own; threads take whole
// tasks, and the sums are added in task order.
#include <trn/mp2/integrals.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>

#include <omp.h>

#include <libint2.hpp>

#include <trn/core/error.hpp>
#include <trn/mp2/linear_algebra.hpp>
#include <trn/sparse/screening.hpp>

namespace trn::mp2 {

namespace {

using libint2::BraKet;
using libint2::Engine;
using libint2::Operator;
// Products of primitives that are left out, by libint's estimate. The estimate is not a bound: with 1e-17 sodium's
// energy was wrong by 3e-10. So it is left to drop what is zero, and costs 5 % of the time that way.
constexpr double kPrimitive = 1e-40;  // products of four primitives
constexpr double kPair = 1e-40;       // products of two, the largest of a pair

void start() {
  static std::once_flag once;
  std::call_once(once, [] { libint2::initialize(false); });
}

std::vector<libint2::Shell> shells_of(const Basis& basis) {
  start();
  std::vector<libint2::Shell> shells;
  for (const Shell& s : basis.shells()) {
    require(s.l <= LIBINT2_MAX_AM_eri || s.l <= LIBINT2_MAX_AM_3eri,
            "mp2: basis set {} has angular momentum {}; the limit is {}", basis.name(), s.l, LIBINT2_MAX_AM_3eri);
    const Contraction& c = *s.contraction;
    shells.push_back({libint2::svector<double>(c.exponents.begin(), c.exponents.end()),
                      {{s.l, basis.functions() == Functions::Spherical,
                        libint2::svector<double>(c.coefficients.begin(), c.coefficients.end())}},
                      s.centre});
  }
  return shells;
}

std::size_t most_primitives(const std::vector<libint2::Shell>& shells) {
  std::size_t most = 1;
  for (const auto& s : shells) most = std::max(most, s.nprim());
  return most;
}

int most_momentum(const std::vector<libint2::Shell>& shells) {
  int most = 0;
  for (const auto& s : shells) most = std::max(most, s.contr[0].l);
  return most;
}

// Of an engine of four centres: the data of every quartet of primitives, libint's stack, and room for results.
std::int64_t four_centre_engine_bytes(const std::vector<libint2::Shell>& shells) {
  const auto primitives = static_cast<std::int64_t>(most_primitives(shells));
  const int l = most_momentum(shells);
  const std::int64_t functions = (l + 1) * (l + 2) / 2;
  return primitives * primitives * primitives * primitives * static_cast<std::int64_t>(sizeof(Libint_t)) +
         8 * (static_cast<std::int64_t>(libint2_need_memory_eri(l)) +
              2 * functions * functions * functions * functions);
}

std::vector<Engine> engines(const Engine& one) {
  return std::vector<Engine>(static_cast<std::size_t>(omp_get_max_threads()), one);
}
Engine& mine(std::vector<Engine>& all) { return all[static_cast<std::size_t>(omp_get_thread_num())]; }

// A symmetric matrix of one-electron or two-centre integrals.
Dense symmetric(const Basis& basis, const std::vector<libint2::Shell>& shells, const Engine& engine) {
  std::vector<Engine> all = engines(engine);
  Dense out(basis.size(), basis.size());
  const auto& places = basis.shells();
  for_units(static_cast<std::int64_t>(shells.size()), [&](std::int64_t i) {
    Engine& e = mine(all);
    const Shell& row = places[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j <= i; ++j) {
      const Shell& column = places[static_cast<std::size_t>(j)];
      e.compute(shells[static_cast<std::size_t>(i)], shells[static_cast<std::size_t>(j)]);
      const double* v = e.results()[0];
      for (std::int64_t a = 0; a < row.size; ++a) {
        for (std::int64_t b = 0; b < column.size; ++b) {
          const double x = v == nullptr ? 0 : v[a * column.size + b];
          out(row.first + a, column.first + b) = x;
          out(column.first + b, row.first + a) = x;
        }
      }
    }
  });
  return out;
}

Dense one_electron(const Basis& basis, Operator op, const Molecule* molecule) {
  const std::vector<libint2::Shell> shells = shells_of(basis);
  Engine engine(op, most_primitives(shells), most_momentum(shells), 0, std::numeric_limits<double>::epsilon());
  if (molecule != nullptr) {
    std::vector<std::pair<double, std::array<double, 3>>> charges;
    for (const Atom& atom : molecule->atoms) {
      if (!atom.ghost) charges.emplace_back(atom.number, atom.position);
    }
    engine.set_params(charges);
  }
  return symmetric(basis, shells, engine);
}

// Q_ab = sqrt max |(ab|ab)|, and the pairs (a >= b) whose product with the largest Q is above the limit, with their
// primitive data.
struct Pairs {
  enum class Schwarz : std::uint8_t { No, Yes };
  struct Pair {
    std::int32_t a, b;
    double factor;
    std::shared_ptr<libint2::ShellPair> data;
  };
  std::vector<Pair> list;

  // Without Schwarz factors, which cost four-centre integrals: pairs of which a product of primitives is left.
  Pairs(const std::vector<libint2::Shell>& shells, Schwarz schwarz, double limit) {
    if (schwarz == Schwarz::Yes)
      select(shells, limit);
    else {
      for (std::int32_t a = 0; a < static_cast<std::int32_t>(shells.size()); ++a) {
        for (std::int32_t b = 0; b <= a; ++b) list.push_back({a, b, 1, nullptr});
      }
    }
    for_units(static_cast<std::int64_t>(list.size()), [&](std::int64_t k) {
      Pair& p = list[static_cast<std::size_t>(k)];
      p.data = std::make_shared<libint2::ShellPair>(shells[static_cast<std::size_t>(p.a)],
                                                    shells[static_cast<std::size_t>(p.b)], std::log(kPrimitive));
    });
    // A pair matters when one of its products of primitives does.
    std::erase_if(list, [](const Pair& p) {
      return std::ranges::none_of(p.data->primpairs, [](const auto& q) { return q.ln_scr >= std::log(kPair); });
    });
  }

 private:
  void select(const std::vector<libint2::Shell>& shells, double limit) {
    // The engine drops products of four primitives below its precision; (ab|ab) is a square, so what must survive is
    // kPrimitive squared.
    Engine engine(Operator::coulomb, most_primitives(shells), most_momentum(shells), 0, kPrimitive * kPrimitive);
    std::vector<Engine> all = engines(engine);
    const auto count = static_cast<std::int32_t>(shells.size());
    std::vector<std::vector<Pair>> rows(shells.size());
    for_units(count, [&](std::int64_t i) {
      const auto a = static_cast<std::size_t>(i);
      for (std::size_t b = 0; b <= a; ++b) {
        Engine& e = mine(all);
        e.compute2<Operator::coulomb, BraKet::xx_xx, 0>(shells[a], shells[b], shells[a], shells[b]);
        const double* v = e.results()[0];
        const auto n = static_cast<std::int64_t>(shells[a].size() * shells[b].size());
        double most = 0;
        for (std::int64_t k = 0; v != nullptr && k < n; ++k) most = std::max(most, std::abs(v[k * n + k]));
        rows[a].push_back({static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), most, nullptr});
      }
    });
    for (const auto& row : rows) list.insert(list.end(), row.begin(), row.end());
    std::vector<double> diagonal;
    for (const Pair& p : list) diagonal.push_back(p.factor);
    const std::vector<double> bounds = sparse::schwarz_bounds(diagonal);
    const double largest = *std::ranges::max_element(bounds);
    for (std::size_t k = 0; k < list.size(); ++k) list[k].factor = bounds[k];
    std::erase_if(list, [&](const Pair& p) { return !(p.factor * largest > limit); });
  }
};

}  // namespace

Dense overlap(const Basis& basis) { return one_electron(basis, Operator::overlap, nullptr); }
Dense kinetic(const Basis& basis) { return one_electron(basis, Operator::kinetic, nullptr); }
Dense nuclear_attraction(const Basis& basis, const Molecule& molecule) {
  return one_electron(basis, Operator::nuclear, &molecule);
}

Dense coulomb_metric(const Basis& fitting) {
  const std::vector<libint2::Shell> shells = shells_of(fitting);
  const Engine engine(Operator::coulomb, most_primitives(shells), most_momentum(shells), 0, kPrimitive,
                      libint2::operator_traits<Operator::coulomb>::default_params(), BraKet::xs_xs);
  return symmetric(fitting, shells, engine);
}

Dense fitting_factor(const Basis& fitting, const std::string& remedy, const Executor& executor) {
  Dense l = cholesky(executor, coulomb_metric(fitting));
  require(l.rows == fitting.size(),
          "mp2: the Coulomb matrix of fitting set {} is not positive definite: its functions are linearly dependent in "
          "this molecule; {}",
          fitting.name(), remedy);
  return l;
}

struct FourCentre::Impl {
  static constexpr std::size_t kTasks = 16;
  const Basis& orbital;
  std::vector<libint2::Shell> shells;
  Pairs pairs;
  Engine engine;
  std::optional<sparse::Quartets> quartets;
  std::int64_t kept_quartets = 0;
  std::int64_t always = 0, to_keep = 0;  // bytes: of every call, and of the integrals besides
  bool keep = false, filled = false;
  std::array<std::int64_t, kTasks> integrals{};  // of quartets above the limit, by task
  std::array<std::vector<double>, kTasks> kept;

  Impl(const Basis& o, std::int64_t memory, double threshold)
      : orbital(o),
        shells(affordable(o, memory)),
        pairs(shells, Pairs::Schwarz::Yes, threshold),
        engine(Operator::coulomb, most_primitives(shells), most_momentum(shells), 0, kPrimitive) {
    // Longest first: a task's pairs then cost about the same, and the inner loop ends at the first pair below the
    // limit.
    std::ranges::stable_sort(pairs.list,
                             [](const Pairs::Pair& x, const Pairs::Pair& y) { return x.factor > y.factor; });
    std::vector<double> factors;
    for (const Pairs::Pair& p : pairs.list) factors.push_back(p.factor);
    quartets.emplace(factors, factors, threshold);  // sorted already: the kets of a pair are the first of the list
    count(memory);
  }

  // Sums of the tasks, the result, and engines: known before anything is allocated.
  static std::int64_t least_bytes(const Basis& basis, const std::vector<libint2::Shell>& shells) {
    return 8 * static_cast<std::int64_t>(2 * kTasks + 2) * basis.size() * basis.size() +
           (omp_get_max_threads() + 1) * four_centre_engine_bytes(shells);
  }
  static void require_memory(std::int64_t needed, std::int64_t memory, const Basis& basis) {
    require(needed <= memory,
            "mp2: --memory {:.1f} MiB is too little for exact J and K of {} functions on {} threads; give at least "
            "{:.2f} MiB or fewer threads",
            static_cast<double>(memory) / 1048576, basis.size(), omp_get_max_threads(),
            std::ceil(static_cast<double>(needed) / 10485.76) / 100);
  }
  static std::vector<libint2::Shell> affordable(const Basis& basis, std::int64_t memory) {
    std::vector<libint2::Shell> shells = shells_of(basis);
    require_memory(least_bytes(basis, shells), memory, basis);
    return shells;
  }

  // What a call needs besides: what is kept of pairs, and the integrals if the budget allows.
  void count(std::int64_t memory) {
    for (std::size_t p = 0; p < pairs.list.size(); ++p) {
      std::int64_t kets = 0;
      for (std::size_t q = 0; q < partners(p); ++q) kets += size_of(pairs.list[q]);
      kept_quartets += static_cast<std::int64_t>(partners(p));
      integrals[p % kTasks] += kets * size_of(pairs.list[p]);
    }
    for (const std::int64_t n : integrals) to_keep += 8 * n;
    // What Quartets and the list of factors take of every pair.
    always = least_bytes(orbital, shells) + 24 * static_cast<std::int64_t>(pairs.list.size());
    for (const Pairs::Pair& p : pairs.list) {
      const std::int64_t products = static_cast<std::int64_t>(p.data->primpairs.capacity());
      always += static_cast<std::int64_t>(sizeof p + sizeof *p.data) +
                products * static_cast<std::int64_t>(sizeof(libint2::ShellPair::PrimPairData));
    }
    require_memory(always, memory, orbital);
    keep = to_keep <= memory - always;
  }
  // Pairs [0, partners(p)) make a quartet with pair p, each quartet once.
  [[nodiscard]] std::size_t partners(std::size_t p) const {
    return std::min(p + 1, static_cast<std::size_t>(quartets->count(static_cast<std::int64_t>(p))));
  }
  [[nodiscard]] std::int64_t size_of(const Pairs::Pair& p) const {
    return orbital.shells()[static_cast<std::size_t>(p.a)].size * orbital.shells()[static_cast<std::size_t>(p.b)].size;
  }

  // Adds one quartet. With g = (ab|cd) times the number of index orders it stands for,
  //   J_ab += D_cd g, J_cd += D_ab g, K_ac += D_bd g, K_bd += D_ac g, K_ad += D_bc g, K_bc += D_ad g;
  // the symmetric parts of J / 2 and K / 4 are the matrices.
  void add(const Pairs::Pair& bra, const Pairs::Pair& ket, double degeneracy, const double* v, const double* density,
           double* j, double* k) const {
    const auto& places = orbital.shells();
    const Shell &sa = places[static_cast<std::size_t>(bra.a)], &sb = places[static_cast<std::size_t>(bra.b)],
                &sc = places[static_cast<std::size_t>(ket.a)], &sd = places[static_cast<std::size_t>(ket.b)];
    const std::int64_t n = orbital.size();
    for (std::int64_t a = sa.first; a < sa.first + sa.size; ++a) {
      for (std::int64_t b = sb.first; b < sb.first + sb.size; ++b) {
        const double d_ab = density[a * n + b];
        double j_ab = 0;
        for (std::int64_t c = sc.first; c < sc.first + sc.size; ++c) {
          const double d_ac = density[a * n + c], d_bc = density[b * n + c];
          double k_ac = 0, k_bc = 0;
          for (std::int64_t d = sd.first; d < sd.first + sd.size; ++d, ++v) {
            const double g = degeneracy * *v;
            j_ab += density[c * n + d] * g;
            j[c * n + d] += d_ab * g;
            k_ac += density[b * n + d] * g;
            k_bc += density[a * n + d] * g;
            k[b * n + d] += d_ac * g;
            k[a * n + d] += d_bc * g;
          }
          k[a * n + c] += k_ac;
          k[b * n + c] += k_bc;
        }
        j[a * n + b] += j_ab;
      }
    }
  }

  void task(std::size_t t, Engine& e, const Dense& density, Dense& j, Dense& k) {
    std::size_t at = 0;
    if (keep && !filled)
      kept[t].reserve(static_cast<std::size_t>(integrals[t]));  // counted, so that it never grows by copying
    for (std::size_t p = t; p < pairs.list.size(); p += kTasks) {
      const Pairs::Pair& bra = pairs.list[p];
      for (std::size_t q = 0; q < partners(p); ++q) {
        const Pairs::Pair& ket = pairs.list[q];
        const double degeneracy = (bra.a == bra.b ? 1 : 2) * (ket.a == ket.b ? 1 : 2) * (p == q ? 1 : 2);
        const auto size = static_cast<std::size_t>(size_of(bra) * size_of(ket));
        const double* v = nullptr;
        if (keep && filled) {
          v = kept[t].data() + at;
        } else {
          const auto shell = [this](std::int32_t i) -> const libint2::Shell& {
            return shells[static_cast<std::size_t>(i)];
          };
          e.compute2<Operator::coulomb, BraKet::xx_xx, 0>(shell(bra.a), shell(bra.b), shell(ket.a), shell(ket.b),
                                                          bra.data.get(), ket.data.get());
          v = e.results()[0];
          if (keep) {
            if (v == nullptr)
              kept[t].resize(kept[t].size() + size, 0.0);
            else
              kept[t].insert(kept[t].end(), v, v + size);
          }
        }
        at += size;
        if (v != nullptr) add(bra, ket, degeneracy, v, density.data(), j.data(), k.data());
      }
    }
  }
};

FourCentre::FourCentre(const Basis& orbital, std::int64_t memory_bytes, double threshold) {
  require(threshold >= 0 && std::isfinite(threshold), "mp2: the screening threshold is {}; it must be >= 0", threshold);
  impl_ = std::make_unique<Impl>(orbital, memory_bytes, threshold);
}
FourCentre::~FourCentre() = default;
bool FourCentre::kept() const { return impl_->keep; }
FourCentre::Quartets FourCentre::quartets() const {
  const auto shells = static_cast<std::int64_t>(impl_->shells.size()), pairs = shells * (shells + 1) / 2;
  return {impl_->kept_quartets, pairs * (pairs + 1) / 2};
}
std::int64_t FourCentre::bytes_to_keep() const { return impl_->always + impl_->to_keep; }

CoulombExchange FourCentre::operator()(const Dense& density) {
  const std::int64_t n = impl_->orbital.size();
  std::vector<CoulombExchange> sums(Impl::kTasks);
  std::vector<Engine> all = engines(impl_->engine);
  for_units(Impl::kTasks, [&](std::int64_t t) {
    CoulombExchange& sum = sums[static_cast<std::size_t>(t)];
    sum.coulomb = Dense(n, n);
    sum.exchange = Dense(n, n);
    impl_->task(static_cast<std::size_t>(t), mine(all), density, sum.coulomb, sum.exchange);
  });
  impl_->filled = true;
  CoulombExchange result{Dense(n, n), Dense(n, n)};
  for_units(n, [&](std::int64_t i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      double coulomb = 0, exchange = 0;
      for (const CoulombExchange& s : sums) {
        coulomb += s.coulomb(i, j) + s.coulomb(j, i);
        exchange += s.exchange(i, j) + s.exchange(j, i);
      }
      result.coulomb(i, j) = result.coulomb(j, i) = coulomb / 4;
      result.exchange(i, j) = result.exchange(j, i) = exchange / 8;
    }
  });
  return result;
}

}  // namespace trn::mp2
