// The CCSD residual as statements, and its iteration.
#include <trn/tensor/ccsd.hpp>

#include <algorithm>
#include <cmath>
#include <deque>

#include <trn/core/error.hpp>

namespace trn::tensor {

MultiDescription ccsd_residual(std::int64_t o, std::int64_t v) {
  MultiDescription d;
  d.inputs = {{"oooo", {o, o, o, o}}, {"ooov", {o, o, o, v}}, {"oovv", {o, o, v, v}}, {"ovvo", {o, v, v, o}},
              {"ovvv", {o, v, v, v}}, {"vvvv", {v, v, v, v}}, {"t1", {o, v}},         {"t2", {o, o, v, v}}};
  d.outputs = {"r1", "r2", "energy"};
  d.statements = {
      {"tau", {{1, "ijab->ijab", {"t2"}}, {1, "ia,jb->ijab", {"t1", "t1"}}, {-1, "ib,ja->ijab", {"t1", "t1"}}}},
      {"half_tau",
       {{1, "ijab->ijab", {"t2"}}, {0.5, "ia,jb->ijab", {"t1", "t1"}}, {-0.5, "ib,ja->ijab", {"t1", "t1"}}}},
      {"f_vv", {{1, "mf,mafe->ae", {"t1", "ovvv"}}, {-0.5, "mnaf,mnef->ae", {"half_tau", "oovv"}}}},
      {"f_oo", {{1, "ne,mnie->mi", {"t1", "ooov"}}, {0.5, "inef,mnef->mi", {"half_tau", "oovv"}}}},
      {"f_ov", {{1, "nf,mnef->me", {"t1", "oovv"}}}},
      // With half of tau <mn||ef>: the other quarter is that of the intermediate of four virtual indices.
      {"w_oooo",
       {{1, "mnij->mnij", {"oooo"}},
        {1, "je,mnie->mnij", {"t1", "ooov"}},
        {-1, "ie,mnje->mnij", {"t1", "ooov"}},
        {0.5, "ijef,mnef->mnij", {"tau", "oovv"}}}},
      {"w_ovvo",
       {{1, "mbej->mbej", {"ovvo"}},
        {1, "jf,mbef->mbej", {"t1", "ovvv"}},
        {1, "nb,mnje->mbej", {"t1", "ooov"}},
        {-0.5, "jnfb,mnef->mbej", {"t2", "oovv"}},
        {-1, "jf,nb,mnef->mbej", {"t1", "t1", "oovv"}}}},
      {"g_vv", {{1, "be->be", {"f_vv"}}, {-0.5, "mb,me->be", {"t1", "f_ov"}}}},
      {"g_oo", {{1, "mj->mj", {"f_oo"}}, {0.5, "je,me->mj", {"t1", "f_ov"}}}},
      {"r1",
       {{1, "ie,ae->ia", {"t1", "f_vv"}},
        {-1, "ma,mi->ia", {"t1", "f_oo"}},
        {1, "imae,me->ia", {"t2", "f_ov"}},
        {1, "nf,nafi->ia", {"t1", "ovvo"}},
        {-0.5, "imef,maef->ia", {"t2", "ovvv"}},
        {0.5, "mnae,nmie->ia", {"t2", "ooov"}}}},
      {"by_vv", {{1, "ijae,be->ijab", {"t2", "g_vv"}}}},
      {"by_oo", {{1, "imab,mj->ijab", {"t2", "g_oo"}}}},
      {"z", {{0.5, "ijef,maef->ijma", {"tau", "ovvv"}}}},
      // What is exchanged in a and b: virtual one-particle terms, <am||ef> with two singles, <mb||ij> with one.
      {"exchanged_ab",
       {{1, "ijab->ijab", {"by_vv"}}, {1, "ijma,mb->ijab", {"z", "t1"}}, {-1, "ma,ijmb->ijab", {"t1", "ooov"}}}},
      {"exchanged_ij", {{-1, "ijab->ijab", {"by_oo"}}, {-1, "ie,jeab->ijab", {"t1", "ovvv"}}}},
      {"ring", {{1, "imae,mbej->ijab", {"t2", "w_ovvo"}}, {-1, "ie,ma,mbej->ijab", {"t1", "t1", "ovvo"}}}},
      {"r2",
       {{1, "ijab->ijab", {"oovv"}},
        {0.5, "mnab,mnij->ijab", {"tau", "w_oooo"}},
        {0.5, "ijef,abef->ijab", {"tau", "vvvv"}},
        {1, "ijab->ijab", {"exchanged_ab"}},
        {-1, "ijba->ijab", {"exchanged_ab"}},
        {1, "ijab->ijab", {"exchanged_ij"}},
        {-1, "jiab->ijab", {"exchanged_ij"}},
        {1, "ijab->ijab", {"ring"}},
        {-1, "jiab->ijab", {"ring"}},
        {-1, "ijba->ijab", {"ring"}},
        {1, "jiba->ijab", {"ring"}}}},
      {"energy", {{0.25, "ijab,ijab->", {"oovv", "t2"}}, {0.5, "ijab,ia,jb->", {"oovv", "t1", "t1"}}}}};
  return d;
}

namespace {

// <pq||rs> for spin orbitals of the kinds in `what`: 'o' counts from 0, 'v' from the first virtual one. Spin orbital
// 2 p + s is spatial orbital p with spin s.
Array<double> antisymmetric(const View<const double>& eri, std::int64_t occupied, const char* what) {
  const std::int64_t n = eri.shape()[0];
  Shape shape;
  std::int64_t first[4];
  for (int i = 0; i < 4; ++i) {
    const bool o = what[i] == 'o';
    shape.push_back(2 * (o ? occupied : n - occupied));
    first[i] = o ? 0 : 2 * occupied;
  }
  Array<double> result(Executor::host(), shape);
  const Strides& s = eri.strides();
  // <pq|rs> = (pr|qs) where spins agree.
  const auto plain = [&](std::int64_t p, std::int64_t q, std::int64_t r, std::int64_t t) {
    if (p % 2 != r % 2 || q % 2 != t % 2) return 0.0;
    return eri.data()[p / 2 * s[0] + r / 2 * s[1] + q / 2 * s[2] + t / 2 * s[3]];
  };
  double* to = result.data();
  for (std::int64_t p = first[0]; p < first[0] + shape[0]; ++p) {
    for (std::int64_t q = first[1]; q < first[1] + shape[1]; ++q) {
      for (std::int64_t r = first[2]; r < first[2] + shape[2]; ++r) {
        for (std::int64_t t = first[3]; t < first[3] + shape[3]; ++t) *to++ = plain(p, q, r, t) - plain(p, q, t, r);
      }
    }
  }
  return result;
}

// Pulay's extrapolation: the combination of kept vectors, coefficients adding up to 1, whose error is least.
class Extrapolation {
 public:
  explicit Extrapolation(int kept) : kept_(static_cast<std::size_t>(std::max(1, kept))) {}
  void improve(std::vector<double>& x, std::vector<double> error) {
    xs_.push_back(x), errors_.push_back(std::move(error));
    if (xs_.size() > kept_) xs_.pop_front(), errors_.pop_front();
    const std::size_t n = xs_.size();
    if (n < 2) return;
    // [B 1; 1 0] [c; l] = [0; 1], by elimination with pivoting, B scaled by its largest element.
    std::vector<std::vector<double>> m(n + 1, std::vector<double>(n + 2, 0.0));
    double largest = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < x.size(); ++k) m[i][j] += errors_[i][k] * errors_[j][k];
      }
      largest = std::max(largest, m[i][i]);
      m[i][n] = m[n][i] = 1;
    }
    if (!(largest > 0)) return;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) m[i][j] /= largest;
    }
    m[n][n + 1] = 1;
    for (std::size_t c = 0; c <= n; ++c) {
      std::size_t pivot = c;
      for (std::size_t r = c + 1; r <= n; ++r) {
        if (std::abs(m[r][c]) > std::abs(m[pivot][c])) pivot = r;
      }
      std::swap(m[c], m[pivot]);
      if (std::abs(m[c][c]) < 1e-14) return;  // dependent: the plain step
      for (std::size_t r = 0; r <= n; ++r) {
        if (r == c) continue;
        const double by = m[r][c] / m[c][c];
        for (std::size_t k = c; k <= n + 1; ++k) m[r][k] -= by * m[c][k];
      }
    }
    std::fill(x.begin(), x.end(), 0.0);
    for (std::size_t i = 0; i < n; ++i) {
      const double c = m[i][n + 1] / m[i][i];
      for (std::size_t k = 0; k < x.size(); ++k) x[k] += c * xs_[i][k];
    }
  }

 private:
  std::size_t kept_;
  std::deque<std::vector<double>> xs_, errors_;
};

}  // namespace

Ccsd ccsd(const Executor& executor, const View<const double>& eri, std::span<const double> energies,
          std::int64_t occupied, const CcsdOptions& options) {
  const auto n = static_cast<std::int64_t>(energies.size());
  if (executor.family() != Family::Host)
    fail<NotImplemented>("tensor.ccsd: no float64 residual on '{}'; use the host executor", executor.name());
  require(eri.executor() == Executor::host() && eri.shape() == Shape(4, n),
          "tensor.ccsd: the integrals have shape {} on '{}'; {} orbitals need {} x 4 on the host",
          trn::to_string(eri.shape()), eri.executor().name(), n, n);
  require(occupied >= 1 && occupied < n, "tensor.ccsd: {} of {} orbitals are occupied; at least one of each kind",
          occupied, n);
  require(std::all_of(energies.begin(), energies.end(), [](double x) { return std::isfinite(x); }),
          "tensor.ccsd: an orbital energy is not finite");
  require(std::is_sorted(energies.begin(), energies.end()),
          "tensor.ccsd: the orbital energies are not ascending; order the orbitals by them");
  const double highest = energies[static_cast<std::size_t>(occupied - 1)],
               lowest = energies[static_cast<std::size_t>(occupied)];
  require(highest < lowest,
          "tensor.ccsd: the highest occupied and the lowest virtual orbital both have energy {}; without a gap the "
          "amplitudes have no denominators",
          highest);
  require(options.iterations >= 1 && options.amplitudes > 0, "tensor.ccsd: {} iterations to {}; both must be positive",
          options.iterations, options.amplitudes);
  const std::int64_t o = 2 * occupied, v = 2 * (n - occupied);
  const MultiPlan plan(executor, ccsd_residual(o, v));
  std::map<std::string, Array<double>> tensors;
  for (const char* what : {"oooo", "ooov", "oovv", "ovvo", "ovvv", "vvvv"})
    tensors.emplace(what, antisymmetric(eri, occupied, what).to(executor));
  for (const char* what : {"r1", "r2", "energy"}) tensors.emplace(what, Array<double>(executor, plan.shape(what)));
  const auto e = [&](std::int64_t p) { return energies[static_cast<std::size_t>(p / 2)]; };
  std::vector<double> gap, t;  // singles, then doubles
  for (std::int64_t i = 0; i < o; ++i) {
    for (std::int64_t a = 0; a < v; ++a) gap.push_back(e(i) - e(o + a));
  }
  for (std::int64_t i = 0; i < o; ++i) {
    for (std::int64_t j = 0; j < o; ++j) {
      for (std::int64_t a = 0; a < v; ++a) {
        for (std::int64_t b = 0; b < v; ++b) gap.push_back(e(i) + e(j) - e(o + a) - e(o + b));
      }
    }
  }
  t.assign(gap.size(), 0.0);
  const auto singles = static_cast<std::ptrdiff_t>(o * v);
  Extrapolation diis(options.kept);
  Ccsd result;
  result.flops = plan.flops(), result.steps = plan.steps(), result.shared = plan.shared();
  for (result.iterations = 1; result.iterations <= options.iterations; ++result.iterations) {
    tensors.insert_or_assign("t1", Array<double>::from_host(executor, {o, v}, {t.begin(), t.begin() + singles}));
    tensors.insert_or_assign("t2", Array<double>::from_host(executor, {o, o, v, v}, {t.begin() + singles, t.end()}));
    std::map<std::string, TypedView> views;
    for (auto& [name, array] : tensors) views.emplace(name, array.view());
    plan.execute(views);
    const double energy = tensors.at("energy").to_host().front();
    std::vector<double> next = tensors.at("r1").to_host(), doubles = tensors.at("r2").to_host();
    next.insert(next.end(), doubles.begin(), doubles.end());
    std::vector<double> step(next.size());
    double largest = 0;
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] /= gap[i];
      step[i] = next[i] - t[i];
      largest = std::max(largest, std::abs(step[i]));
    }
    const double change = energy - result.energy;
    result.energy = energy;
    if (options.progress) options.progress({result.iterations, energy, change, largest});
    if (!std::isfinite(largest)) break;
    if (result.iterations > 1 && largest <= options.amplitudes && std::abs(change) <= options.amplitudes / 10) {
      result.converged = true;
      return result;
    }
    t = std::move(next);
    diis.improve(t, std::move(step));
  }
  result.iterations = std::min(result.iterations, options.iterations);
  return result;
}

}  // namespace trn::tensor
